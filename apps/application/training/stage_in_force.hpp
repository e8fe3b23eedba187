#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "io/device/device.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "surrogates/planning/stages.hpp"
#include "surrogates/training/offload_options.hpp"
#include "surrogates/training/optimiser.hpp"
#include "surrogates/training/parallel_options.hpp"
#include "surrogates/training/resident_arrays.hpp"

namespace quintet {

/// Section `parallel` as it is in force.
struct ParallelInForce {
  ParallelOptions options;
  std::string reason;  ///< why this stage, where the planner chose it
};

/// Arrays that ranks divide in a training whose units have so many parameters, for the planner.
[[nodiscard]] planning::Division division_of(const ParallelOptions& parallel, const OffloadOptions& offload,
                                             std::vector<UnitSize> units, std::size_t bytes_per_number,
                                             int n_states);

/// Needs of a training in the memory of its device.
struct DeviceNeeds {
  DeviceSession session;
  PlannedArrays arrays;
  double besides = 0;  ///< what a rank needs there beside the arrays (bytes)
};

/// Needs by which `auto` and the check of memory decide.
struct StageNeeds {
  planning::Division division;
  double besides = 0;  ///< what a rank needs of the host's memory beside the arrays that are divided (bytes)
  std::string less;    ///< what the user may choose less of where nothing fits: "fewer crops a batch"
  std::optional<DeviceNeeds> there{};
  /// Whether the arrays are on the device.
  [[nodiscard]] bool are_there() const {
    return there && !there->session.is_cpu() && there->arrays.kept_on_host().empty();
  }
};

/// Bytes of both memories.
struct RankMemory {
  double host = std::numeric_limits<double>::infinity(), device = std::numeric_limits<double>::infinity();
};

/// Strategy `auto`: the least stage of planning::stages() that fits a rank's share of the free memory where
/// the arrays are to lie (of its node, of its GPU), the same for all ranks; others as they are. Before any
/// array is there. Collective. Throws ResourceError where it does not fit, with bytes and what would help.
/// @param may_take a rank's share, for tests; else what is free now
[[nodiscard]] ParallelInForce stage_in_force(const Comm& comm, const ParallelOptions& parallel,
                                             const std::function<StageNeeds()>& needs,
                                             const std::optional<RankMemory>& may_take = {});

}  // namespace quintet
