#pragma once

#include "apps/application/training/stage_in_force.hpp"

namespace quintet {

/// Memory that a rank takes at a stage of a training with its arrays on a device, on device and host; on the
/// host alone where the cores are the device.
[[nodiscard]] RankMemory bytes_on_device(const StageNeeds& of, int stage);

/// stage_in_force() of a training whose arrays are on a device. Collective.
/// @param may_take the same on all ranks
[[nodiscard]] ParallelInForce stage_on_device(const Comm& comm, const ParallelOptions& parallel,
                                              const StageNeeds& of, const RankMemory& may_take);

}  // namespace quintet
