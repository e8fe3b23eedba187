#include "apps/dpmd/label/label_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/job_variables.hpp"
#include "io/runtime/library_threads.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

namespace {

std::atomic<bool> stop_seen = false;
int watches = 0;  ///< one within another: the outermost installs the handlers
constexpr std::array watched{SIGTERM, SIGINT, SIGUSR1};
std::array<struct sigaction, watched.size()> former;

extern "C" void remember_stop(int) { stop_seen = true; }

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// This process's environment for a program in its folder.
std::vector<std::string> program_environment(const std::string& folder, const std::string& mark) {
  std::vector<std::string> variables{mark};
  const std::string marked = fmt::format("{}=", ProcessFamily::variable);
  for (char** at = environ; *at; ++at)
    if (!is_of_launcher(*at) && !is_of_runtime(*at) && !std::string_view(*at).starts_with(marked))
      variables.emplace_back(*at);
  // One process needs no MPI daemon: it takes seconds. Without one, all programs of a user share a session
  // directory, and one that ends removes what another is about to use: each gets its own.
  variables.emplace_back("OMPI_MCA_ess_singleton_isolated=1");
  variables.push_back("OMPI_MCA_orte_tmpdir_base=" + fs::absolute(folder).string());
  return variables;
}

pid_t spawn_shell(const std::string& command, const std::string& folder, const std::string& output,
                  const std::string& mark) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  // Signals that our runs ignore must end other programs, as they expect.
  sigset_t ignored_here;
  sigemptyset(&ignored_here);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&ignored_here, signal);
  posix_spawnattr_setsigdefault(&attributes, &ignored_here);
  // A session of its own, so that a program is stopped with its children.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &none);
  std::vector<std::string> words{"sh", "-c", "cd \"$1\" || exit 126\n" + command, "sh", folder};
  auto environment = program_environment(folder, mark);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, "/bin/sh", &files, &attributes, pointers(words).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw ResourceError(fmt::format("cannot start '{}': {}", command, std::strerror(error)));
  return pid;
}

}  // namespace

bool ProcessEnd::was_killed() const {
  constexpr std::array from_outside{SIGKILL, SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGUSR1,
                                    SIGUSR2, SIGXCPU, SIGXFSZ, SIGPIPE, SIGALRM, SIGBUS};
  return died() && std::find(from_outside.begin(), from_outside.end(), code - 128) != from_outside.end();
}

std::string ProcessEnd::text() const {
  if (stopped) return "stopped";
  if (timed_out) return "time limit";
  return code > 128 ? fmt::format("signal {}", code - 128) : fmt::format("exit code {}", code);
}

RunningProgram::RunningProgram(const std::string& command, const std::string& folder,
                               const std::string& output)
    : RunningProgram(command, folder, output, ProcessFamily::new_mark()) {}

RunningProgram::RunningProgram(const std::string& command, const std::string& folder,
                               const std::string& output, const std::string& mark)
    : pid_(spawn_shell(command, folder, output, mark)), family_(pid_, mark) {}

RunningProgram::~RunningProgram() { stop(); }

std::optional<ProcessEnd> RunningProgram::ended() {
  if (end_) return end_;
  siginfo_t info{};
  // Not reaped before its children have ended: until then its number is that of their session.
  const int failed = waitid(P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT);
  if (failed == 0 && info.si_pid == pid_)
    end_ = ProcessEnd{info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status, false, false};
  else if (failed != 0 && errno != EINTR)
    end_ = ProcessEnd{};  // somebody else has asked for it
  return end_;
}

std::optional<ProcessEnd> RunningProgram::ended_within(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto give_up = Clock::now() + std::chrono::duration<double>(seconds);
  while (!ended() && Clock::now() < give_up) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return end_;
}

void RunningProgram::stop() {
  constexpr double patience_s = 2;
  if (is_reaped_) return;
  if (!ended()) end_ = ProcessEnd{128 + SIGTERM, false, true};
  if (!family_.end(patience_s)) log::warning("A process of a program that was to end does not: {}", pid_);
  waitpid(pid_, nullptr, WNOHANG);
  is_reaped_ = true;
}

ProcessEnd run_program(const std::string& command, const std::string& folder, const std::string& output,
                       std::optional<double> limit_s, const std::atomic<bool>& stop) {
  using Clock = std::chrono::steady_clock;
  RunningProgram program(command, folder, output);
  const auto start = Clock::now();
  auto nap = std::chrono::milliseconds(2);
  for (;;) {
    if (const auto end = program.ended()) return *end;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const bool late = limit_s && seconds > *limit_s;
    if (late || stop) {
      program.stop();
      return {128 + SIGTERM, late, !late};
    }
    std::this_thread::sleep_for(nap);
    nap = std::min(2 * nap, std::chrono::milliseconds(100));
  }
}

void require_program(const std::string& command, const std::string& what_to_do) {
  std::istringstream words(command);
  std::string program;
  while (words >> program && program.find('=') != std::string::npos) {
  }
  QUINTET_CHECK(!program.empty(), "the command is empty; {}", what_to_do);
  if (program.find_first_of("'\"$`(;|&<>{") != std::string::npos) return;  // the shell's to understand
  if (program.find('/') != std::string::npos) {
    QUINTET_CHECK(::access(program.c_str(), X_OK) == 0, "program '{}' is not there or cannot be run; {}",
                  program, what_to_do);
    return;
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return;
  throw InputError(fmt::format("program '{}' is not found in PATH; {}", program, what_to_do));
}

StopWatch::StopWatch() {
  if (watches++ > 0) return;
  stop_seen = false;
  struct sigaction action {};
  action.sa_handler = remember_stop;
  action.sa_flags = SA_RESETHAND;  // a second one kills as usual
  for (std::size_t i = 0; i < watched.size(); ++i) sigaction(watched[i], &action, &former[i]);
}

StopWatch::~StopWatch() {
  if (--watches > 0) return;
  for (std::size_t i = 0; i < watched.size(); ++i) sigaction(watched[i], &former[i], nullptr);
}

const std::atomic<bool>& StopWatch::seen() { return stop_seen; }

namespace {

/// The text of the box in which CP2K says why it ends, in a line; beside it, in ten columns, stands a man.
std::string text_of_box(std::string line, std::istream& file) {
  constexpr std::size_t width_of_man = 10;
  std::string text = "    [ABORT]";
  do {
    line.erase(0, width_of_man);
    std::replace(line.begin(), line.end(), '*', ' ');
    std::istringstream words(line);
    for (std::string word; words >> word;) text += " " + word;
  } while (std::getline(file, line) && line.size() > width_of_man &&
           line.find_first_not_of(" *") != std::string::npos);
  return text;
}

bool is_of_dashes(const std::string& line) { return line.find_first_not_of('-') == std::string::npos; }

}  // namespace

// What Open MPI says of MPI_Abort stands between two lines of dashes, and is no word of the program's.
std::string last_lines(const std::string& path, int n) {
  std::ifstream file(path);
  std::deque<std::string> lines;
  bool is_launchers = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    is_launchers = is_launchers || line.starts_with("MPI_ABORT was invoked on rank");
    if (is_launchers || is_of_dashes(line)) {
      is_launchers = is_launchers && !is_of_dashes(line);
      continue;
    }
    const bool says_why = line.starts_with(" * [ABORT]");
    lines.push_back(says_why ? text_of_box(std::move(line), file) : "    " + line);
    if (std::ssize(lines) > n) lines.pop_front();
  }
  std::string text;
  for (const auto& line : lines) text += "\n" + line;
  return text;
}

}  // namespace quintet::dpmd
