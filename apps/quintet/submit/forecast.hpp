#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/machine/rules.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet {

/// How often a run saves itself.
struct Checkpoints {
  std::optional<double> interval{};  ///< (steps); absent: it never does
  std::optional<double> every{};     ///< (s) of wall time
};

/// Checkpoints of a run, as its staged input says, which `--print-config` has printed.
[[nodiscard]] Checkpoints checkpoints_of(const std::string& staged);

/// Forecast of a run's jobs by its plan: the memory they need, whether its ranks can share it at all, how
/// long it takes. Made of the cost models of all its points (of a sweep; else one), each with a row for every
/// number of ranks that is asked for here.
class Forecast {
 public:
  explicit Forecast(std::vector<planning::CostModel> models) : models_(std::move(models)) {}

  /// Why so many ranks cannot share the run, or "".
  [[nodiscard]] std::string impossible(std::int64_t ranks) const;
  /// (B) of a rank, of the point that needs most; absent: not known.
  [[nodiscard]] std::optional<double> memory_of_rank(std::int64_t ranks) const;
  /// (B) to ask for on a node of this queue: a quarter more than planned, at most what a node has, and what
  /// is planned where that is more.
  [[nodiscard]] std::optional<double> memory_of_node(const MachineQueue& queue, const JobShape& job) const;
  /// One line on what makes a job fit whose nodes have too little memory.
  [[nodiscard]] std::string what_helps(const Machine& machine, const MachineQueue& queue,
                                       const JobShape& job) const;
  /// A sentence where the jobs end long before the run does, or "". It is a remark: plans are estimates.
  /// @param slower a core of the machine than one here; absent: unknown
  [[nodiscard]] std::string too_short(const Machine& machine, const JobShape& job,
                                      std::optional<double> slower) const;
  /// A sentence where a job ends before its first checkpoint is due, with the interval that would do, or "":
  /// killed, it would begin anew. A remark, too.
  [[nodiscard]] std::string no_checkpoint(const Machine& machine, const JobShape& job,
                                          std::optional<double> slower, const Checkpoints& checkpoints) const;

 private:
  /// (s) of the longest step of all points, at least that; absent: not known.
  struct StepTime {
    double seconds = 0, steps = 0;  ///< of one step; of all
    bool is_bound = false;          ///< it may take longer
  };
  [[nodiscard]] std::optional<StepTime> slowest(const Machine& machine, const JobShape& job,
                                                std::optional<double> slower) const;
  /// The decomposition that the run itself takes on so many ranks: the first; null: not known.
  [[nodiscard]] static const planning::StepCost* row(const planning::CostModel& model, std::int64_t ranks);

  std::vector<planning::CostModel> models_;
};

/// Numbers of ranks to ask an application for: of a job, and of those that may need less of a node.
[[nodiscard]] std::set<std::int64_t> ranks_of_interest(const MachineQueue& queue, const JobShape& job);

}  // namespace quintet
