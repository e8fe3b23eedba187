#pragma once

#include <cstdint>
#include <string>

#include "apps/application/training/stage_in_force.hpp"
#include "apps/meshfreeflow/train/train_options.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "surrogates/flow/model/flow_model.hpp"
#include "surrogates/networks/description.hpp"
#include "surrogates/planning/stages.hpp"

namespace quintet::meshfreeflow {

/// Strategy `auto` by what the networks and a rank's crops need. Collective. Throws what stage_in_force()
/// throws.
[[nodiscard]] ParallelInForce parallel_in_force(const Comm& comm, const TrainOptions& options,
                                                const DeviceSession& device,
                                                const flow::FlowModelHeader& header);

/// A training's arrays by the section in force.
[[nodiscard]] PlannedArrays planned_arrays(const Comm& comm, const TrainOptions& options,
                                           const ParallelOptions& parallel,
                                           const flow::FlowModelHeader& header);

/// Arrays that the ranks divide, for the planner.
[[nodiscard]] planning::Division division_of(const TrainOptions& options,
                                             const flow::FlowModelHeader& header);

/// Section `tile` in words: the largest unit with it and without, and whether anything is gained; "" where no
/// layer is in tiles. @param parallel in force
[[nodiscard]] std::string tiles_in_words(const Comm& comm, const TrainOptions& options,
                                         const ParallelOptions& parallel,
                                         const flow::FlowModelHeader& header);

/// Points of a crop at most that spectra of rows ask for.
[[nodiscard]] std::int64_t points_of_rows(const TrainOptions& options);

/// Memory that crops leave for the backward pass, roughly, before a step was measured (bytes): at most the
/// budget of section `memory`.
[[nodiscard]] double activation_bytes(const networks::ChainDescription& chain, const TrainOptions& options,
                                      int n_crops, bool computes_here);
/// What LibTorch and its convolutions take for themselves in a first step, with HDF5 and the report (bytes):
/// measured, docs/measured.md.
inline constexpr double library_bytes = 19e6;
/// Memory that a rank needs beside the arrays that are divided (bytes): activations, the best model and one
/// that is being written.
[[nodiscard]] double memory_besides(const networks::ChainDescription& chain, double activations);

}  // namespace quintet::meshfreeflow
