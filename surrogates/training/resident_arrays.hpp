#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "surrogates/training/flat_layout.hpp"
#include "surrogates/training/offload_options.hpp"
#include "surrogates/training/optimiser.hpp"
#include "surrogates/training/parallel_options.hpp"
#include "surrogates/training/precision_options.hpp"
#include "surrogates/training/stores/parameter_store.hpp"

namespace quintet {

/// Option that keeps the arrays of a training on a device in the host's memory ("tile"); empty: none.
/// @param has_parts FlatLayout::has_parts()
[[nodiscard]] std::string kept_on_host(const OptimiserOptions& optimiser, const OffloadOptions& offload,
                                       const PrecisionOptions& precision, bool has_parts);

/// A training's arrays before they are there.
struct PlannedArrays {
  std::vector<UnitSize> units;  ///< FlatLayout::unit_sizes()
  std::size_t width = 0;        ///< bytes of a number
  OptimiserOptions optimiser{};
  int n_ranks = 1;  ///< that have them together
  ParallelOptions parallel{};
  OffloadOptions offload{};
  PrecisionOptions precision{};

  [[nodiscard]] std::string kept_on_host() const;
};
/// Memory that stores on a device take on each rank.
struct ResidentNeeds {
  HeldBytes device;
  HeldBytes host;  ///< for messages that MPI does not read from the device's memory; offloaded states
  std::size_t staging = 0;  ///< of the host's memory, on the way to a file
};
[[nodiscard]] ResidentNeeds resident_needs(const PlannedArrays& arrays, bool sends_directly);

/// Whether states are not on the device.
[[nodiscard]] bool offloads_states(const OptimiserOptions& optimiser, const OffloadOptions& offload);
/// Numbers that pass through the host at once where states are offloaded, of `n`.
[[nodiscard]] std::size_t numbers_on_their_way(std::size_t n, std::size_t width);

}  // namespace quintet
