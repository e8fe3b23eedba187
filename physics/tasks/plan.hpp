#pragma once

#include <vector>

#include "physics/tasks/graph.hpp"

/// Plan of a step: which rank computes which tasks, and which outputs travel where. Made before the run,
/// without MPI.
namespace quintet::tasks {

/// The points shared out over the ranks in blocks: rank r of n has points r W / n ... (r + 1) W / n - 1.
struct Parts {
  int width = 1, n_ranks = 1;
  [[nodiscard]] int first(int rank) const;
  [[nodiscard]] int count(int rank) const { return first(rank + 1) - first(rank); }
  [[nodiscard]] int owner(int point) const;
};

/// How outputs travel to another rank.
enum class Messages {
  by_rank,  ///< one message to each rank a step, with each output that it needs once
  by_edge   ///< one message for each edge of the graph, as the reference implementation has it
};

/// One step on one rank. Points are numbered from the rank's first one.
struct StepPlan {
  /// Slots first ... first + count - 1 of the inbox or the outbox, from or to another rank.
  struct Message {
    int partner, first, count;
    friend bool operator==(const Message&, const Message&) = default;
  };

  std::vector<int> tasks;        ///< points with a task; those that need other ranks come last
  int n_interior = 0;            ///< tasks before those
  std::vector<int> first_input;  ///< [tasks + 1] where the inputs of a task begin
  std::vector<int> inputs;       ///< where they lie: own point p as p, slot s of the inbox as -1 - s
  std::vector<Message> receives;
  std::vector<Message> sends;  ///< what this rank gives to others for this step: outputs of the step before
  std::vector<int> outbox;     ///< the point whose output goes into each slot
  int n_inbox = 0;
};

/// The plan of `step` on `rank`. Receives follow from what the rank's points need, sends from who needs them.
[[nodiscard]] StepPlan plan_step(const Graph& graph, int step, const Parts& parts, int rank,
                                 Messages messages);

}  // namespace quintet::tasks
