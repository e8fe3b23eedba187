#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "io/config/tree.hpp"
#include "surrogates/planning/links.hpp"
#include "surrogates/planning/stages.hpp"
#include "surrogates/planning/strategy.hpp"

namespace quintet::planning {

/// Cost of a step on p ranks in one decomposition, for the rank that has most of it.
struct StepCost {
  int ranks = 1;
  std::string decomposition{};  ///< in words: "2 x 2 x 1 bricks"
  double work = 0;              ///< units of work (CostModel::unit)
  double memory = 0;            ///< (bytes)
  int team = 0;                 ///< of a training, ranks that train a network together (Division)
  double updates = 1;           ///< of its weights in a step
  double divided = 0;           ///< of it, arrays that stages of a training divide (bytes)
  RankBytes held{};             ///< they, by what they are for; stage_row() tells both
  Traffic halo{};               ///< sent to single ranks
  Traffic sums{};               ///< calls that reduce over all ranks, and what is handed in
  double files = 0;             ///< what writing together adds to a step (s)
  std::string impossible{};     ///< the reason why, or "": then nothing else but `ranks` is given
};

/// Cost model of a simulation, from its application: a hidden command prints it and `quintet plan` reads it.
///
/// Counts come from the formulas that the application itself obeys (tests compare them with what it sends and
/// allocates), times from steps of this input, or a smaller one, that were taken on one rank to make this.
struct CostModel {
  std::string what;  ///< "1x1v, 64 x 64 cells"
  std::string unit;  ///< of work: "cell"
  double work = 0;   ///< of a step, all ranks
  std::optional<double> steps{};
  /// Time of a step on one rank that has nothing to wait for: floor + work * per_unit.
  struct Rate {
    double floor = 0, per_unit = 0;  ///< (s)
    double spread = 0;               ///< largest over median time of a step, less 1
    std::string timed{};             ///< what was timed, in words
  } rate{};
  /// Engine that computed those steps. Seconds of a GPU say nothing of another machine's.
  struct Engine {
    std::string name = "cpu";
    bool is_gpu = false;
  } engine{};
  /// Time of a step while `ranks` ranks ran at once on one node, each on its own cores: they share caches and
  /// memory. Absent: not timed.
  struct Crowd {
    int ranks = 1;
    Rate rate{};
  };
  std::optional<Crowd> crowd{};
  double output = 0;      ///< files of the whole run, without checkpoints (bytes)
  double checkpoint = 0;  ///< one (bytes)
  std::vector<StepCost> rows{};
  /// Network and one batch of a training, for the table of strategies. `rows` say what the trainer itself
  /// does.
  std::optional<Job> training{};
  /// Arrays that a trainer's ranks can divide; `rows` are of data-parallel ranks that share nothing, see
  /// stage_row().
  std::optional<Division> division{};
};

/// Convert to JSON, and back. Throws InputError for a tree that is not a cost model.
[[nodiscard]] Tree to_tree(const CostModel& model);
[[nodiscard]] CostModel cost_model_of(const Tree& tree);

/// A line through two timings, where the larger one does more work: none of its parts is negative.
[[nodiscard]] CostModel::Rate rate_of(double work_1, double seconds_1, double work_2, double seconds_2);

/// A data-parallel row as it is at a stage, with so many ranks of a holder: what it holds, where the division
/// has the states, and sends; impossible where that is beyond a budget.
[[nodiscard]] StepCost stage_row(const CostModel& model, const StepCost& row, const StageRow& stage,
                                 int per_holder);
/// Memory that a rank of a row needs beside the arrays that stages divide (bytes).
[[nodiscard]] double memory_besides(const CostModel& model, const StepCost& row);

/// A row of a plan.
struct StepPlan {
  double compute = 0, halo = 0, sums = 0;  ///< (s) a step
  double efficiency = 0;                   ///< t_1/(p t_p), with t_1 of all the work on one rank
  [[nodiscard]] double seconds() const { return compute + halo + sums; }
};
/// Plan of a step of a row on a machine: floor + work * per_unit + files, messages on the slowest link among
/// p ranks, a tree of ceil(log2 p) messages for each sum.
/// @param slower how many times slower a core of that machine is than the one that was timed
/// @param neighbours ranks on a node: with more than one the rate goes over to that of the crowd, in
///        proportion up to its number
[[nodiscard]] StepPlan plan_step(const CostModel& model, const StepCost& row, const Links& links,
                                 double slower, double neighbours = 1);

}  // namespace quintet::planning
