#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace quintet::planning {

/// Something to run on slots of one pool, once others are done.
struct Task {
  double seconds = 1;                ///< predicted
  std::size_t pool = 0;              ///< whose slots it takes
  std::int64_t slots = 1;            ///< that it takes
  double memory = 0;                 ///< (B) that it takes of all pools' memory
  std::vector<std::size_t> after{};  ///< tasks before it in the list, which must be done
};

/// Pools of slots that tasks run on.
struct Pools {
  std::vector<std::int64_t> slots;                          ///< of each pool
  double memory = std::numeric_limits<double>::infinity();  ///< (B) of all together
};

/// Johnson's order of a pipeline of two stages with one machine each: those with a < b by rising a, then the
/// others by falling b. No order takes less time. Johnson (1954), Nav. Res. Logist. Q. 1, 61.
/// @param first, second [n] (s) of each item in the first and the second stage
[[nodiscard]] std::vector<std::size_t> johnson_order(std::span<const double> first,
                                                     std::span<const double> second);

/// Lower bound of the time that all tasks take (s): the longest way, and for each pool
/// least way before it + sum of seconds x slots / slots of the pool + least way after it,
/// which for a pipeline of two stages is max(sum a/m1 + min b, sum b/m2 + min a, max(a + b)).
[[nodiscard]] double least_makespan(const std::vector<Task>& tasks, const Pools& pools);

/// Rank of each task (0 begins first), to be had by Dispatcher: the longest way first, or with items of two
/// stages in Johnson's order, whichever a simulated clock finds faster.
[[nodiscard]] std::vector<std::size_t> best_ranks(const std::vector<Task>& tasks, const Pools& pools);
/// The longest way from each task on first.
[[nodiscard]] std::vector<std::size_t> longest_way_ranks(const std::vector<Task>& tasks);
/// Rank as longest_way_ranks() does, but put pairs of tasks into Johnson's order: tasks of one pool, each
/// with a single successor, in another pool, that waits for it alone.
[[nodiscard]] std::vector<std::size_t> johnson_ranks(const std::vector<Task>& tasks, const Pools& pools);

/// Chooses the task that begins next: of those that wait for nothing the one of least rank, as soon as its
/// slots and its memory are free. A task that finds too little keeps its place: none of its pool overtakes
/// it, for many narrow ones would keep a wide one waiting. Tasks are given by their place in the list.
class Dispatcher {
 public:
  Dispatcher(std::vector<Task> tasks, Pools pools, const std::vector<std::size_t>& ranks);

  /// The next one to begin now, which takes its slots; none: nothing waits, or all that waits needs more.
  [[nodiscard]] std::optional<std::size_t> next();
  /// Numbers of the slots that a task has.
  [[nodiscard]] const std::vector<std::size_t>& slots_of(std::size_t task) const { return held_[task]; }
  void release(std::size_t task);   ///< its slots are free again
  void retry(std::size_t task);     ///< it waits to begin again
  void done(std::size_t task);      ///< what waits for it may begin
  void withdraw(std::size_t task);  ///< it does not begin any more
  /// Set what a task, which has no slots now, takes from now on, at most all there is.
  void ask(std::size_t task, std::int64_t slots, double memory);

 private:
  std::vector<Task> tasks_;
  Pools pools_;
  std::vector<std::size_t> ranks_;
  std::vector<std::size_t> open_;                                     ///< tasks that each waits for
  std::vector<std::vector<std::size_t>> next_;                        ///< tasks that wait for each
  std::vector<std::vector<std::size_t>> held_;                        ///< slots that each has
  std::vector<std::set<std::pair<std::size_t, std::size_t>>> ready_;  ///< of each pool: (rank, task)
  std::vector<std::vector<bool>> is_free_;                            ///< slots of each pool
  std::vector<std::int64_t> n_free_;
  double free_memory_;
};

/// How long all takes (s) where each task takes exactly what was predicted.
[[nodiscard]] double simulated_makespan(const std::vector<Task>& tasks, const Pools& pools,
                                        const std::vector<std::size_t>& ranks);

}  // namespace quintet::planning
