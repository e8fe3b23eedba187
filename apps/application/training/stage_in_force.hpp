#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "surrogates/planning/stages.hpp"
#include "surrogates/training/offload_options.hpp"
#include "surrogates/training/optimiser.hpp"
#include "surrogates/training/parallel_options.hpp"

namespace quintet {

/// Section `parallel` as it is in force.
struct ParallelInForce {
  ParallelOptions options;
  std::string reason;  ///< why this stage, where the planner chose it
};

/// What ranks divide of a training whose units have so many parameters, for the planner.
[[nodiscard]] planning::Division division_of(const ParallelOptions& parallel, const OffloadOptions& offload,
                                             std::vector<UnitSize> units, std::size_t bytes_per_number,
                                             int n_states);

/// What `auto` and the check of memory go by.
struct StageNeeds {
  planning::Division division;
  double besides = 0;  ///< what a rank needs beside the arrays that are divided (bytes)
  std::string less;    ///< what the user may choose less of where nothing fits: "fewer crops a batch"
};

/// Strategy `auto`: the least stage of planning::stages() that fits a rank's share of its node's free memory,
/// the same for all ranks; others as they are. Before any array is there. Collective. Throws ResourceError
/// where it does not fit, with bytes and what would help.
[[nodiscard]] ParallelInForce stage_in_force(const Comm& comm, const ParallelOptions& parallel,
                                             const std::function<StageNeeds()>& needs);

}  // namespace quintet
