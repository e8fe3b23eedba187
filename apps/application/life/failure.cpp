#include "apps/application/life/failure.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "io/log/log.hpp"
#include "io/log/out_of_memory.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet {
namespace {

using namespace std::chrono_literals;

/// Calls `action` from a thread of its own unless it dies before the time is up.
class Watchdog {
 public:
  template <class Action>
  Watchdog(std::chrono::milliseconds patience, Action action)
      : thread_([this, patience, action] {
          std::unique_lock lock(mutex_);
          if (!called_off_.wait_for(lock, patience, [this] { return done_; })) action();
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    called_off_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable called_off_;
  bool done_ = false;
  std::thread thread_;  // last: it uses the others
};

/// Lower ranks lose patience earlier, so that one message is printed where several ranks failed.
std::chrono::milliseconds patience(int rank) { return 1500ms + 100ms * std::min(rank, 30); }

void say_alone(const Comm& comm, const Failure& failure, const std::string& log_file) {
  log::configure({.speaks = true, .quiet = false, .file = log_file});
  log::error("on rank {} of {}: {}", comm.rank(), comm.size(), failure.message);
  log::flush();
}

/// " (rank 2)": where numbers or a resource failed, if another rank than 0 found it. What a user got wrong is
/// wrong on any.
std::string place(const Error& error) {
  const int rank = rank_of(error).value_or(0);
  const bool anywhere = error.code() == ExitCode::usage || error.code() == ExitCode::input;
  return rank == 0 || anywhere ? "" : fmt::format(" (rank {})", rank);
}

}  // namespace

Failure failure_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const InternalError& error) {
    return {ExitCode::internal, fmt::format("{}{}\nThis is a bug of ours, please report it with the input.",
                                            error.what(), place(error))};
  } catch (const Error& error) {
    return {error.code(), error.what() + place(error)};
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string second = error.path2().empty() ? "" : fmt::format(", {}", error.path2().string());
    return {ExitCode::resource, fmt::format("{}{}: cannot be read, made, written or removed: {}",
                                            error.path1().string(), second, error.code().message())};
  } catch (const std::exception& error) {
    if (is_out_of_memory(error))
      return {ExitCode::resource,
              "Out of memory. Use more nodes or fewer ranks per node, or a smaller system; --validate "
              "says beforehand what a run needs."};
    return {ExitCode::internal,
            fmt::format("Unexpected error: {}\nThis is a bug of ours, please report it with the input.",
                        error.what())};
  } catch (...) {
    return {ExitCode::internal, "Unknown error. This is a bug of ours, please report it with the input."};
  }
}

int launcher_rank() {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  return 0;
}

Failure agree_on_failure(const Comm& failure_comm, const Failure& mine, const std::string& log_file,
                         const LastWord* last_word) {
  if (failure_comm.size() == 1) return mine;
  const Watchdog watchdog(patience(failure_comm.rank()), [&] {
    say_alone(failure_comm, mine, log_file);
    if (last_word != nullptr)
      last_word->leave_alone(mine.code, fmt::format("on rank {}: {}", failure_comm.rank(), mine.message));
    failure_comm.abort(mine.code);
  });
  Failure agreed;
  agreed.code = failure_comm.all_gather(mine.code).front();  // returns only when all ranks are here
  agreed.message = failure_comm.broadcast(mine.message);
  return agreed;
}

}  // namespace quintet
