#include "apps/campaign/workers/program.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "io/config/scalar.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/job_variables.hpp"
#include "io/runtime/library_threads.hpp"
#include "io/runtime/runtime.hpp"

extern char** environ;

namespace quintet::campaign {
namespace {

constexpr const char* process_file = "/.campaign_process";
constexpr const char* item_variable = "QUINTET_CAMPAIGN_ITEM=";  // with the item's folder, for its programs

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// This process's environment with these variables in it, without what a launcher or Runtime told it.
std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry, name = text.substr(0, text.find('=') + 1);
    bool is_left_out = is_of_launcher(text) || is_of_runtime(text);
    for (const auto& variable : variables) is_left_out = is_left_out || variable.starts_with(name);
    if (!is_left_out) all.push_back(text);
  }
  return all;
}

/// Whether a process or one before it was started for the item of this folder, as its environment says.
bool is_of_item(std::int64_t process, const std::string& folder) {
  std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
  for (std::string variable; std::getline(file, variable, '\0');)
    if (variable == variable_of_item(folder)) return true;
  return false;
}

/// Processes that were started for the item of a folder, in groups of their own or not. The item's own, where
/// a warm program has forked it, shows that one's environment: it is known by its number.
std::vector<std::int64_t> left_of(const std::string& folder) {
  std::vector<std::int64_t> left;
  if (const auto item = program_in(folder); item && item->is_alive) left.push_back(item->process);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto process = to_integer(entry.path().filename().string());
    if (process && is_of_item(*process, folder) && !start_of(*process).empty()) left.push_back(*process);
  }
  return left;
}

}  // namespace

std::string variable_of_item(const std::string& folder) { return item_variable + folder; }

std::int64_t start_program(const std::string& executable, const std::vector<std::string>& words,
                           const std::string& folder, const std::vector<std::string>& variables, int input) {
  const std::string log = folder + "/log.txt";
  std::vector<std::string> copies = words, all = variables;
  all.push_back(variable_of_item(folder));
  auto environment = environment_with(all);
  const auto pointers = pointers_to(copies), environment_pointers = pointers_to(environment);
  // As fork(), without a copy of this process's tables: it waits until the child has become the program.
  const pid_t parent = getpid(), child = vfork();
  if (child < 0)
    throw ResourceError(fmt::format("{} cannot be started: {}", executable, std::strerror(errno)));
  if (child == 0) {
    // Only calls that are safe between fork and exec.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int ignored : {SIGPIPE, SIGXFSZ}) signal(ignored, SIG_DFL);  // by our runs, not by others
    const int nothing = open("/dev/null", O_RDONLY),
              out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (nothing < 0 || out < 0 || chdir(folder.c_str()) != 0) _exit(127);
    dup2(input < 0 ? nothing : input, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execve(executable.c_str(), pointers.data(), environment_pointers.data());
    _exit(127);
  }
  setpgid(child, child);  // here too: whoever comes first
  return child;
}

std::string note_of(const std::string& folder) { return folder + process_file; }

void note_program(const std::string& folder, std::int64_t process) {
  const std::string text =
      fmt::format("{} {}\n{} {}\n", process, start_of(process), host_name(), std::time(nullptr));
  // One write: nobody reads half of it, and what a machine that went down loses of it is of no use.
  const std::string path = note_of(folder);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const bool written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) close(file);
  if (!written) throw ResourceError(fmt::format("'{}' cannot be written: {}", path, std::strerror(error)));
}

std::optional<RunningProgram> program_in(const std::string& folder) {
  std::ifstream file(folder + process_file);
  std::string number, tick;
  RunningProgram program;
  if (!(file >> number >> program.boot >> tick >> program.host >> program.since)) return std::nullopt;
  program.process = to_integer(number).value_or(0);
  // The same number may be another process by now: its start tells.
  program.is_alive = program.process > 1 && start_of(program.process) == program.boot + " " + tick;
  return program;
}

void end_program_in(const std::string& folder) {
  constexpr int patience_ms = 10000;
  const auto program = program_in(folder);
  if (!program || program->boot != boot()) return;
  for (int wait_ms = 0;; ++wait_ms) {
    const auto left = left_of(folder);
    if (left.empty()) return;
    if (wait_ms == 0)
      log::info("Ending {}, which a campaign that was killed has left",
                counted(left.size(), "process", "processes"));
    for (const std::int64_t process : left) kill(process, SIGKILL);
    if (wait_ms > patience_ms) throw ResourceError(fmt::format("process {} does not end", left.front()));
    usleep(1000);
  }
}

std::string start_of(std::int64_t process) {
  const auto ticks = process_start(process).value_or("");
  return ticks.empty() ? "" : boot() + " " + ticks;
}

const std::string& boot() {
  static const std::string id = [] {
    std::string text;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
    return text;
  }();
  return id;
}

const std::string& host_name() {
  static const std::string host = [] {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string("unknown");
  }();
  return host;
}

}  // namespace quintet::campaign
