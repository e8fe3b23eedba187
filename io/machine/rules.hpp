#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/machine/machine.hpp"

namespace quintet {

/// Least memory of a node that a job may ask for (bytes): Slurm takes 0 MB for all of a node.
inline constexpr double least_job_memory = 1e6;

/// A job in numbers.
struct JobShape {
  std::string account{};
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  std::int64_t threads = 1;        ///< cores of a rank
  std::int64_t gpus_per_node = 0;  ///< that its ranks use, one each or several ranks one
  std::optional<double> memory{};  ///< (B) of a node, where it is known
  double walltime = 3600;          ///< (s)
  double margin = 0;               ///< (s) of it that are kept for the end of the program
  std::int64_t array_tasks = 0;    ///< 0: no array
  std::int64_t chain = 1;          ///< jobs that are queued one after another
  bool reserved = false;           ///< on the nodes of a reservation

  [[nodiscard]] std::int64_t ranks() const { return nodes * ranks_per_node; }
  [[nodiscard]] double node_hours() const { return nodes * walltime / 3600; }
};

/// A limit that a job would break.
struct BrokenRule {
  std::string rule;     ///< the key of the machine's file: "queues.rt_HG.nodes_max"
  std::string message;  ///< what was asked for and what is allowed, with the rule's name
};

/// Every limit of the machine and of this queue that the job would break; what is unknown is not checked.
[[nodiscard]] std::vector<BrokenRule> broken_rules(const Machine& machine, const MachineQueue& queue,
                                                   const JobShape& job);
/// The queue of this name or, for "", the first one that takes the job that `shape` makes for it. Throws
/// InputError with each broken rule, one a line, if the queue (or no queue) takes it.
[[nodiscard]] const MachineQueue& queue_for(const Machine& machine, const std::string& name,
                                            const std::function<JobShape(const MachineQueue&)>& shape);
/// Sentence on what the job pays for without using it; absent if it uses all.
[[nodiscard]] std::optional<std::string> idle_remark(const Machine& machine, const MachineQueue& queue,
                                                     const JobShape& job);
/// Points that the job costs if it takes its whole walltime; absent if the price is unknown.
[[nodiscard]] std::optional<double> points(const MachineQueue& queue, const JobShape& job);
/// "1:30:00"; seconds are rounded down.
[[nodiscard]] std::string hours_text(double seconds);

}  // namespace quintet
