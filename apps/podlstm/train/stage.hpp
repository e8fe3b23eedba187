#pragma once

#include "apps/application/training/device_arrays.hpp"
#include "apps/application/training/stage_in_force.hpp"
#include "apps/podlstm/setup/forecast_input.hpp"
#include "surrogates/sequence/forecast/training_set.hpp"

namespace quintet::podlstm {

/// Arrays that ranks which train a network together divide, for the planner and the check of memory: one
/// unit.
[[nodiscard]] planning::Division division_of(const TrainOptions& options, const sequence::Graph& graph);

/// Memory that a rank needs beside the arrays that stages divide, roughly: windows, the kernels' copies of
/// the weights and what they keep of a block of windows, the best weights, a checkpoint on its way (bytes).
[[nodiscard]] double memory_besides(const TrainOptions& options, const sequence::TrainingSet& set,
                                    const sequence::Graph& graph);

/// The arrays of a network on each of those that train it, by the section in force.
[[nodiscard]] PlannedArrays planned_arrays(const Comm& comm, const TrainOptions& options,
                                           const ParallelOptions& parallel, const sequence::TrainingSet& set);

/// Section `parallel` as it is in force. Collective. Throws ResourceError where the networks do not fit.
[[nodiscard]] ParallelInForce parallel_in_force(const Comm& comm, const TrainOptions& options,
                                                const DeviceSession& device,
                                                const sequence::TrainingSet& set);

}  // namespace quintet::podlstm
