#pragma once

#include <cstddef>

#include "apps/application/life/context.hpp"
#include "io/device/device.hpp"
#include "surrogates/training/flat_parameters.hpp"

namespace quintet {

/// A training's arrays before they are there.
struct PlannedArrays {
  std::size_t n_parameters = 0, width = 0;  ///< numbers, and bytes of one
  OptimiserOptions optimiser;
  int n_ranks = 1;  ///< that have them together
  ParallelOptions parallel{};
  OffloadOptions offload{};
  PrecisionOptions precision{};
  bool has_parts = false;
};

/// Where the arrays of a training are to be on its device: ask for their memory there, and for what passes
/// through the host's. Collective over all ranks of the run. Throws ResourceError.
void require_device_arrays(const Comm& comm, const DeviceSession& device, const PlannedArrays& arrays);

/// Of a training on a device, say where its arrays are, into the log and summary.json.
void announce_residence(Context& context, const FlatAccount& account);

}  // namespace quintet
