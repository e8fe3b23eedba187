#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quintet::search {

/// Work on a task: reads its bytes, fills those of the result and returns their number.
///
/// An exception ends the task, not the worker. Interrupted, thrown in place, leaves the task undone.
using Work = std::function<std::size_t(std::span<const std::byte> task, std::span<std::byte> result)>;

/// How a task ended.
enum class TaskEnd : int { done, threw, died, late };

/// Kind of the workers on the rank that asks.
enum class WorkerKind { processes, in_place };

/// The workers of one rank. Each has one task at a time.
class LocalWorkers {
 public:
  struct Options {
    int workers = 1;
    std::size_t task_bytes = 0, result_bytes = 0;  ///< the most that a task and a result may have
    double time_limit_s = 0;                       ///< of a task; 0: none
  };
  struct Ended {
    int worker = 0;
    TaskEnd end = TaskEnd::done;
    std::span<const std::byte> result;    ///< valid until this worker is started again
    std::string message;                  ///< unless it is done
    double seconds = 0, cpu_seconds = 0;  ///< that the task took
  };

  virtual ~LocalWorkers() = default;
  [[nodiscard]] virtual int size() const = 0;
  /// Give a task to a worker that has none.
  virtual void start(int worker, std::span<const std::byte> task) = 0;
  /// The tasks that have ended; waits for the first of them, at most `timeout_s`.
  [[nodiscard]] virtual std::vector<Ended> wait(double timeout_s) = 0;
};

/// A row of the table of worker kinds.
struct WorkerKindRow {
  WorkerKind value;
  const char *name, *doc;
  std::unique_ptr<LocalWorkers> (*make)(const LocalWorkers::Options& options, const Work& work);
};

/// Processes forked from this one, with results in shared memory. They end when this process ends, however it
/// does. One that is killed, crashes or takes too long is replaced, and its task has ended as died or late.
///
/// Children have what memory held when they were forked and may use all that needs no threads of the
/// parent's: refused where Kokkos runs on a GPU or on more than one thread. They must not speak MPI. Throws
/// InputError (see above), ResourceError where no process can be made.
[[nodiscard]] std::unique_ptr<LocalWorkers> make_process_workers(const LocalWorkers::Options& options,
                                                                 const Work& work);
/// This process itself: wait() does the work. A crash ends the run, and a task is never late.
[[nodiscard]] std::unique_ptr<LocalWorkers> make_worker_in_place(const LocalWorkers::Options& options,
                                                                 const Work& work);

inline constexpr WorkerKindRow worker_kinds[] = {
    {WorkerKind::processes, "processes", "forked processes: one that is killed or hangs is replaced",
     make_process_workers},
    {WorkerKind::in_place, "in_place", "the ranks themselves (more than one: rank 0 only proposes)",
     make_worker_in_place},
};

}  // namespace quintet::search
