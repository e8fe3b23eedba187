#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <Kokkos_Core.hpp>

#include "io/log/error.hpp"
#include "io/log/line_counts.hpp"
#include "surrogates/search/workers.hpp"

namespace quintet::search {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t line = 64;  ///< parts of the shared memory begin at cache lines
constexpr std::size_t rounded(std::size_t bytes) { return (bytes + line - 1) / line * line; }

/// Header that a worker writes for its task, in shared memory; task and result follow.
struct Header {
  std::uint64_t task_bytes, result_bytes;
  int end;
  double seconds, cpu_seconds;
  char message[480];
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Memory that this process and those forked from it share.
class SharedRegion {
 public:
  explicit SharedRegion(std::size_t bytes) : bytes_(bytes) {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED)
      throw ResourceError(
          fmt::format("no {} bytes of memory to share with workers: {}", bytes, std::strerror(errno)));
    begin_ = static_cast<std::byte*>(address);
  }
  ~SharedRegion() { munmap(begin_, bytes_); }
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;
  [[nodiscard]] std::byte* begin() const { return begin_; }

 private:
  std::byte* begin_;
  std::size_t bytes_;
};

/// "killed by signal 9 (Killed)".
std::string end_text(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("the worker was killed by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  return fmt::format("the worker ended with exit code {}", WEXITSTATUS(status));
}

class ProcessWorkers final : public LocalWorkers {
 public:
  ProcessWorkers(const Options& options, const Work& work)
      : options_(options),
        work_(work),
        area_(rounded(sizeof(Header)) + rounded(options.task_bytes) + rounded(options.result_bytes)),
        shared_(area_ * options.workers),
        workers_(options.workers) {
    try {
      for (int w = 0; w < options.workers; ++w) spawn(w);
    } catch (...) {
      end_all();
      throw;
    }
  }
  ~ProcessWorkers() override { end_all(); }

  [[nodiscard]] int size() const override { return options_.workers; }

  void start(int worker, std::span<const std::byte> task) override {
    auto& own = workers_.at(worker);
    if (own.busy) throw InternalError(fmt::format("a task for worker {}, which has one", worker));
    if (task.size() > options_.task_bytes)
      throw InternalError(
          fmt::format("a task of {} bytes; {} were asked for", task.size(), options_.task_bytes));
    header(worker).task_bytes = task.size();
    std::copy(task.begin(), task.end(), task_of(worker));
    own.busy = true;
    own.begin = Clock::now();
    // A worker that died while it had nothing to do: nobody reads, which wait() will find.
    const char go = 1;
    [[maybe_unused]] const auto sent = ::send(own.socket, &go, 1, MSG_NOSIGNAL);
  }

  [[nodiscard]] std::vector<Ended> wait(double timeout_s) override {
    std::vector<Ended> all;
    std::vector<pollfd> sockets;
    std::vector<int> who;
    for (int w = 0; w < size(); ++w)
      if (at(w).busy) {
        sockets.push_back({at(w).socket, POLLIN, 0});
        who.push_back(w);
        if (options_.time_limit_s > 0)
          timeout_s = std::clamp(options_.time_limit_s - seconds_since(at(w).begin), 0.0, timeout_s);
      }
    const timespec patience{static_cast<time_t>(timeout_s),
                            static_cast<long>(1e9 * (timeout_s - (static_cast<time_t>(timeout_s))))};
    // A signal ends the wait early; whoever asks looks for the reason.
    if (::ppoll(sockets.data(), sockets.size(), &patience, nullptr) > 0)
      for (std::size_t i = 0; i < who.size(); ++i)
        if (sockets[i].revents != 0) all.push_back(finish(who[i]));
    for (int w = 0; w < size() && options_.time_limit_s > 0; ++w)
      if (at(w).busy && seconds_since(at(w).begin) > options_.time_limit_s) all.push_back(give_up(w));
    return all;
  }

 private:
  struct Worker {
    pid_t pid = -1;
    int socket = -1;
    bool busy = false;
    Clock::time_point begin{};
  };

  Worker& at(int worker) { return workers_[worker]; }
  std::byte* area(int worker) { return shared_.begin() + area_ * worker; }
  Header& header(int worker) { return *reinterpret_cast<Header*>(area(worker)); }
  std::byte* task_of(int worker) { return area(worker) + rounded(sizeof(Header)); }
  std::byte* result_of(int worker) { return task_of(worker) + rounded(options_.task_bytes); }

  void spawn(int worker) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw ResourceError(fmt::format("no socket for a worker: {}", std::strerror(errno)));
    std::fflush(nullptr);  // what is buffered must not be written twice
    const pid_t parent = getpid(), pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      for (const auto& other : workers_)
        if (other.socket >= 0) ::close(other.socket);
      live(worker, ends[1], parent);
    }
    ::close(ends[1]);
    if (pid < 0) {
      const int reason = errno;
      ::close(ends[0]);
      throw ResourceError(fmt::format("no process for a worker: {}", std::strerror(reason)));
    }
    at(worker) = {pid, ends[0], false, {}};
  }

  /// The life of a worker: tasks, until nobody is there to give one.
  [[noreturn]] void live(int worker, int socket, pid_t parent) {
    // The parent decides what a signal to the whole group means, and takes its workers with it when it dies.
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) std::signal(signal, SIG_IGN);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    char go = 0;
    for (;;) {
      const auto got = ::read(socket, &go, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got != 1) ::_exit(0);
      work(worker);
      write_line_counts();  // it is killed when the search ends
      if (::send(socket, &go, 1, MSG_NOSIGNAL) != 1) ::_exit(0);
    }
  }

  void work(int worker) {
    auto& note = header(worker);
    const auto begin = Clock::now();
    const double cpu = cpu_seconds();
    const auto say = [&](const char* what) {
      note.end = static_cast<int>(TaskEnd::threw);
      std::snprintf(note.message, sizeof note.message, "%s", what);
    };
    try {
      note.result_bytes =
          work_({task_of(worker), note.task_bytes}, {result_of(worker), options_.result_bytes});
      note.end = static_cast<int>(TaskEnd::done);
    } catch (const std::exception& error) {
      say(error.what());
    } catch (...) {
      say("an exception of an unknown kind");
    }
    note.seconds = seconds_since(begin);
    note.cpu_seconds = cpu_seconds() - cpu;
  }

  /// The task of a worker whose socket has something to say: a byte, or that its other end is gone.
  Ended finish(int worker) {
    auto& own = at(worker);
    char done = 0;
    const double seconds = seconds_since(own.begin);
    if (::recv(own.socket, &done, 1, 0) == 1) {
      const auto& note = header(worker);
      own.busy = false;
      Ended ended{worker, static_cast<TaskEnd>(note.end), {}, "", note.seconds, note.cpu_seconds};
      if (ended.end == TaskEnd::done)
        ended.result = {result_of(worker), std::min<std::size_t>(note.result_bytes, options_.result_bytes)};
      else
        ended.message.assign(note.message, strnlen(note.message, sizeof note.message));
      return ended;
    }
    int status = 0;
    ::kill(own.pid, SIGKILL);  // its socket is closed: whatever it still does, nobody hears of it
    while (::waitpid(own.pid, &status, 0) < 0 && errno == EINTR) {
    }
    ::close(own.socket);
    own = {};
    spawn(worker);
    return {worker, TaskEnd::died, {}, end_text(status), seconds, 0};
  }

  Ended give_up(int worker) {
    const double seconds = seconds_since(at(worker).begin);
    end(at(worker));
    spawn(worker);
    return {worker, TaskEnd::late, {}, fmt::format("took more than {:.6g} s", options_.time_limit_s), seconds,
            0};
  }

  static void end(Worker& worker) {
    if (worker.pid > 0) {
      ::kill(worker.pid, SIGKILL);
      while (::waitpid(worker.pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    if (worker.socket >= 0) ::close(worker.socket);
    worker = {};
  }
  void end_all() {
    for (auto& worker : workers_) end(worker);
  }

  Options options_;
  Work work_;
  std::size_t area_;
  SharedRegion shared_;
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<LocalWorkers> make_process_workers(const LocalWorkers::Options& options, const Work& work) {
  QUINTET_CHECK((std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>),
                "workers that are processes cannot use a GPU; choose workers in place");
  if (Kokkos::is_initialized())
    QUINTET_CHECK(
        Kokkos::DefaultHostExecutionSpace().concurrency() == 1,
        "workers that are processes have one thread each, but this run has {}; give --threads 1 and say how "
        "many workers there are",
        Kokkos::DefaultHostExecutionSpace().concurrency());
  QUINTET_CHECK(options.workers >= 1 && options.workers <= 4096, "{} workers; expected 1 to 4096",
                options.workers);
  return std::make_unique<ProcessWorkers>(options, work);
}

}  // namespace quintet::search
