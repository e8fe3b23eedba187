#include "apps/application/cli/warm.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "io/log/error.hpp"
#include "io/runtime/kept_values.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet {
namespace {

constexpr std::size_t room_for_values = std::size_t{1} << 26;

/// All or nothing; false if the other end is gone.
bool send_all(int socket, const void* bytes, std::size_t size) {
  for (const char* from = static_cast<const char*>(bytes); size > 0;) {
    const auto sent = ::send(socket, from, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    from += sent;
    size -= sent;
  }
  return true;
}

bool receive_all(int socket, void* bytes, std::size_t size) {
  for (char* to = static_cast<char*>(bytes); size > 0;) {
    const auto got = ::recv(socket, to, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= got;
  }
  return true;
}

/// An order as it is sent: bytes behind, number of variables, then folder, log, variables and words, each
/// ended by a zero.
struct OrderHead {
  std::uint64_t bytes = 0, n_variables = 0;
};

std::optional<WarmOrder> receive_order(int socket) {
  OrderHead head;
  if (!receive_all(socket, &head, sizeof head)) return std::nullopt;
  std::string text(head.bytes, '\0');
  if (!receive_all(socket, text.data(), text.size())) return std::nullopt;
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size(); begin += parts.back().size() + 1)
    parts.emplace_back(text.c_str() + begin);
  WarmOrder order;
  order.folder = parts.at(0);
  order.log = parts.at(1);
  const auto variables = parts.begin() + 2, words = variables + static_cast<std::ptrdiff_t>(head.n_variables);
  order.variables.assign(variables, words);
  order.words.assign(words, parts.end());
  return order;
}

/// Whether this process has one thread, once a library that begins others while it is loaded and ends them
/// where a process forks (OpenBLAS) has done so.
bool has_one_thread() {
  namespace fs = std::filesystem;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  constexpr int patience_ms = 100;  // a thread that was joined is listed a little longer
  for (int wait_ms = 0;; ++wait_ms) {
    if (std::distance(fs::directory_iterator("/proc/self/task"), {}) == 1) return true;
    if (wait_ms == patience_ms) return false;
    usleep(1000);
  }
}

/// The server's own signals; those of runs are as they were before.
class Signals {
 public:
  Signals() {
    sigset_t own;
    sigemptyset(&own);
    // What is meant for the runs they get themselves: a job's end is told to all processes.
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGUSR1}) sigaddset(&own, signal);
    sigprocmask(SIG_BLOCK, &own, &before_);
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    file_ = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
    if (file_ < 0) throw ResourceError(fmt::format("no signals of processes: {}", std::strerror(errno)));
  }
  [[nodiscard]] int file() const { return file_; }
  void forget() const {
    signalfd_siginfo note{};
    while (::read(file_, &note, sizeof note) > 0) {
    }
  }
  void put_back() const {
    ::close(file_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_{};
  int file_ = -1;
};

/// In the forked process: become the run, and say so before anything in its folder is touched by it.
void become(const WarmOrder& order, pid_t parent, const Signals& signals) {
  if (getppid() != parent) _exit(127);
  signals.put_back();
  const WarmNews begun{getpid(), WarmNews::begun};
  if (!send_all(STDIN_FILENO, &begun, sizeof begun)) _exit(127);
  const int nothing = ::open("/dev/null", O_RDONLY),
            out = ::open(order.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (nothing < 0 || out < 0 || chdir(order.folder.c_str()) != 0) _exit(127);
  dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  for (const int file : {nothing, out})
    if (file > STDERR_FILENO) ::close(file);
  for (const auto& variable : order.variables) {
    const auto equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
  }
  count_time_from_here();
}

/// A process forked beforehand, which waits for its order: no run waits for a fork, the dearest part of its
/// start, and the next fork is made beside the run.
class Spare {
 public:
  /// Fork a process if none waits. Returns the order in the new process, once it has come; nothing in this
  /// one.
  [[nodiscard]] std::optional<WarmOrder> make() {
    int ends[2];
    if (process_ != 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
    const pid_t child = fork();
    ::close(ends[child == 0 ? 0 : 1]);
    if (child < 0) {
      ::close(ends[0]);
    } else if (child > 0) {
      process_ = child;
      socket_ = ends[0];
      setpgid(child, child);
    } else {
      setpgid(0, 0);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      auto order = receive_order(ends[1]);
      ::close(ends[1]);
      if (!order) _exit(0);
      return order;
    }
    return std::nullopt;
  }

  /// Give an order to the waiting process; false if it does not take it, or none waits.
  [[nodiscard]] bool give(const WarmOrder& order) {
    if (process_ == 0) return false;
    const bool given = send_order(socket_, order);
    forget();
    return given;
  }

  /// Whether a process that has ended was the spare, which nobody has asked for.
  [[nodiscard]] bool was(pid_t process) {
    if (process != process_) return false;
    forget();
    return true;
  }

 private:
  void forget() {
    ::close(socket_);
    process_ = 0;
  }

  pid_t process_ = 0;
  int socket_ = -1;
};

}  // namespace

bool send_order(int socket, const WarmOrder& order) {
  std::string text = order.folder + '\0' + order.log + '\0';
  for (const auto* list : {&order.variables, &order.words})
    for (const auto& word : *list) text += word + '\0';
  const OrderHead head{text.size(), order.variables.size()};
  return send_all(socket, &head, sizeof head) && send_all(socket, text.data(), text.size());
}

std::optional<WarmNews> next_news(int socket, int patience_ms) {
  pollfd watched{socket, POLLIN, 0};
  int found = 0;
  while ((found = ::poll(&watched, 1, patience_ms)) < 0 && errno == EINTR) {
  }
  if (found == 0) return std::nullopt;
  WarmNews news;
  if (!receive_all(socket, &news, sizeof news)) throw ResourceError("a warm program has ended");
  return news;
}

std::vector<std::string> words_of_warm_run() {
  struct stat input {};
  if (fstat(STDIN_FILENO, &input) != 0 || !S_ISSOCK(input.st_mode))
    throw UsageError("warm: quintet campaign starts this, with a socket to send it runs");
  if (!has_one_thread())
    throw UsageError("warm: a library has begun threads, which no forked process would have");
  keep_values(room_for_values);
  const Signals signals;
  const pid_t own = getpid();
  const auto tell = [](const WarmNews& news) {
    if (!send_all(STDIN_FILENO, &news, sizeof news)) _exit(0);
  };
  tell({});
  for (Spare spare;;) {
    if (const auto order = spare.make()) {
      become(*order, own, signals);
      return order->words;
    }
    pollfd watched[] = {{STDIN_FILENO, POLLIN, 0}, {signals.file(), POLLIN, 0}};
    if (::poll(watched, std::size(watched), -1) < 0 && errno != EINTR) _exit(0);
    if (watched[1].revents != 0) {
      signals.forget();
      int status = 0;
      for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
        if (!spare.was(ended)) tell({ended, status});
      kill(getppid(), SIGCHLD);  // who waits for its own children and for us alike
    }
    if (watched[0].revents == 0) continue;
    const auto order = receive_order(STDIN_FILENO);
    if (!order) _exit(0);
    if (!spare.give(*order)) tell({0, WarmNews::refused});
  }
}

}  // namespace quintet
