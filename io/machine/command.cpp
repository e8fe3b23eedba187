#include "io/machine/command.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_bytes = std::size_t{1} << 26;

/// Two ends of a pipe, closed when it dies.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw ResourceError(fmt::format("No pipe can be made: {}", std::strerror(errno)));
  }
  ~Pipe() { close_reading(), close_writing(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] int reading() const { return ends_[0]; }
  [[nodiscard]] int writing() const { return ends_[1]; }
  void close_reading() { close_end(ends_[0]); }
  void close_writing() { close_end(ends_[1]); }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

/// In the child: become the program, in a process group of its own; tell `failure` if that fails.
[[noreturn]] void become(std::vector<char*>& words, std::vector<char*>& environment, const Pipe& out,
                         const Pipe& errors, const Pipe& failure) {
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(out.writing(), STDOUT_FILENO);
  dup2(errors.writing(), STDERR_FILENO);
  execvpe(words[0], words.data(), environment.data());
  const int reason = errno;
  [[maybe_unused]] const auto told = write(failure.writing(), &reason, sizeof reason);
  _exit(127);
}

/// This process' environment without what is hidden, as execvpe() wants it.
std::vector<char*> environment_without(const std::function<bool(std::string_view)>& hidden) {
  std::vector<char*> kept;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!hidden || !hidden(text.substr(0, text.find('=')))) kept.push_back(*variable);
  }
  kept.push_back(nullptr);
  return kept;
}

/// Read both pipes to their ends; false if that takes longer than until `end`.
bool collect_output(Pipe& out, Pipe& errors, CommandResult& result, Clock::time_point end) {
  std::array<pollfd, 2> watched{pollfd{out.reading(), POLLIN, 0}, pollfd{errors.reading(), POLLIN, 0}};
  const std::array<std::string*, 2> texts{&result.out, &result.errors};
  std::array<char, 65536> buffer{};
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    if (poll(watched.data(), watched.size(), std::min<std::int64_t>(left, 1000)) < 0 && errno != EINTR)
      return false;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].fd < 0 || watched[i].revents == 0) continue;
      const auto n = read(watched[i].fd, buffer.data(), buffer.size());
      if (n <= 0)
        watched[i].fd = -1;
      else if (texts[i]->size() < most_bytes)
        texts[i]->append(buffer.data(), n);
    }
  }
  return true;
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

CommandResult run_command(const std::vector<std::string>& words, double limit_s,
                          const std::function<bool(std::string_view)>& hidden) {
  std::vector<std::string> copies = words;
  std::vector<char*> pointers;
  for (auto& word : copies) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::vector<char*> environment = environment_without(hidden);
  Pipe out, errors, failure;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  const pid_t child = fork();
  if (child < 0) throw ResourceError(fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
  if (child == 0) become(pointers, environment, out, errors, failure);
  setpgid(child, child);  // here too: whoever comes first
  out.close_writing(), errors.close_writing(), failure.close_writing();

  CommandResult result;
  result.timed_out = !collect_output(out, errors, result, end);
  int status = 0;
  // It may have closed its output and live on.
  while (!result.timed_out && waitpid(child, &status, WNOHANG) == 0) {
    result.timed_out = Clock::now() >= end;
    usleep(1000);
  }
  if (result.timed_out) {
    kill(-child, SIGKILL);
    waitpid(child, &status, 0);
  }
  int reason = 0;
  if (read(failure.reading(), &reason, sizeof reason) == sizeof reason)
    throw InputError(fmt::format("{} cannot be started: {}", words[0], std::strerror(reason)));
  result.code = code_of(status);
  return result;
}

std::string last_line(const std::string& text) {
  std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  const auto begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace quintet
