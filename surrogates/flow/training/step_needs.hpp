#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "surrogates/flow/model/flow_model.hpp"
#include "surrogates/networks/description.hpp"
#include "surrogates/training/flat_layout.hpp"
#include "surrogates/training/parallel_options.hpp"

namespace quintet::flow {

/// Needs of a step on the rank that has most crops, for plans: tests/unit/flow/training compares.
struct StepNeeds {
  int crops = 0;
  double sums = 0, bytes_summed = 0;  ///< reductions, and what is handed in; without gradients
};

/// A model's networks before a trainer holds them: their blocks, and the parameters of each unit that ranks
/// sum and gather at once (FlatLayout).
struct NetworkNeeds {
  networks::ChainDescription chain;
  std::vector<UnitSize> units;
  std::string largest_unit;  ///< name of its first block
};
/// @param tiles layers that compute in tiles. Throws InputError as Unet does.
[[nodiscard]] NetworkNeeds network_needs(const FlowModelHeader& header, const ParallelOptions& parallel,
                                         const LayerTiles& tiles = {});

/// Needs of a step on a batch of so many crops. Ranks sum numbers of crops (all, at each wall) and losses
/// (fields, equations, walls). On several ranks each normalisation of f features also sums 1 + 2 f numbers
/// forward and 2 f backward. @param has_spectra whether spectra count: a sum for each field
[[nodiscard]] StepNeeds step_needs(const FlowModelHeader& header, int batch, int n_ranks,
                                   bool has_spectra = false);

}  // namespace quintet::flow
