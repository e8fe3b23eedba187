#include "apps/quintet/campaign/program.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include "io/log/error.hpp"

namespace quintet::campaign {

std::int64_t start_program(const std::string& executable, const std::vector<std::string>& words,
                           const std::string& folder) {
  const std::string log = folder + "/log.txt";
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  for (auto& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t parent = getpid(), child = fork();
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
    const int nothing = open("/dev/null", O_RDONLY),
              out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (nothing < 0 || out < 0 || chdir(folder.c_str()) != 0) _exit(127);
    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execv(executable.c_str(), pointers.data());
    _exit(127);
  }
  setpgid(child, child);  // here too: whoever comes first
  return child;
}

std::string start_of(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const auto name_end = all.rfind(')');  // a name may have blanks and brackets
  if (name_end == std::string::npos) return "";
  std::istringstream fields(all.substr(name_end + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) {
    fields >> field;
    if (i == 3 && field == "Z") return "";  // ended, and waited for by nobody
  }
  return boot() + " " + field;
}

std::string boot() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace quintet::campaign
