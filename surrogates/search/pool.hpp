#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "surrogates/search/workers.hpp"

namespace quintet::search {

struct PoolOptions {
  WorkerKind kind = WorkerKind::processes;
  int workers_per_rank = 1;                      ///< processes on each rank; in place a rank is one worker
  std::size_t task_bytes = 0, result_bytes = 0;  ///< the most that a task and a result may have
  double time_limit_s = 0;                       ///< of a task; 0: none
};

/// Result of a task.
struct Ready {
  std::int64_t id = 0;
  int worker = 0;
  TaskEnd end = TaskEnd::done;
  std::span<const std::byte> result;  ///< in a slot of the pool's; valid until the next receive()
  std::string message;                ///< unless it is done
  double start_s = 0, end_s = 0;      ///< on the clock of Pool::now()
  double busy_s = 0, cpu_s = 0;       ///< wall and CPU time that it took its worker
};

/// Asks and is told, without ever waiting for the slowest: send() gives a task to whoever is free, receive(m)
/// gives the first m that are ready, in the order in which they became so. Results lie in slots made
/// beforehand.
///
/// Rank 0 sends and receives; the other ranks serve() until rank 0 calls release(), so that all ranks may do
/// something together in between, while processes go on working. One worker takes one task at a time. Workers
/// are numbered over the ranks.
///
/// A worker process that dies or takes too long costs its task alone. A rank that dies ends the job, for MPI
/// knows no other way. The design (a queue of actions, a queue of results in blocks, first m ready) is
/// EnvPool's: Weng et al. 2022, NeurIPS Datasets and Benchmarks.
class Pool {
 public:
  /// Collective. Throws InputError, ResourceError as the kind's make().
  Pool(const Comm& comm, const PoolOptions& options, const Work& work);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] int n_workers() const;
  /// Seconds since the pool was made.
  [[nodiscard]] double now() const;

  // Rank 0:
  /// Workers without a task, less the tasks that wait for one.
  [[nodiscard]] int n_free() const;
  /// Tasks sent of which receive() has not told.
  [[nodiscard]] int n_outstanding() const;
  /// Give a task to the next worker that is free. Tasks that wait do so in the order of sending.
  void send(std::int64_t id, std::span<const std::byte> task);
  /// The first m that are ready. Fewer only if `give_up` (asked about twenty times a second) says so or a
  /// rank has said that the run must stop. Throws InternalError if fewer tasks than m are outstanding, or a
  /// rank has failed.
  [[nodiscard]] std::span<const Ready> receive(int m, const std::function<bool()>& give_up = {});
  /// Let the other ranks return from serve().
  void release();

  // The others:
  /// Work for rank 0 until it releases this rank. `give_up` is asked about twenty times a second; when it
  /// first says so rank 0 is told.
  void serve(const std::function<bool()>& give_up = {});

  /// Wall time that workers were busy: of tasks that have ended, and of those that have not so far (s). Rank
  /// 0.
  [[nodiscard]] double busy_seconds() const;
  /// Letters that this rank has sent to other ranks, and their bytes.
  [[nodiscard]] Comm::Counter traffic() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet::search
