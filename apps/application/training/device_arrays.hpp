#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "io/device/device_fwd.hpp"
#include "surrogates/training/flat_parameters.hpp"
#include "surrogates/training/resident_arrays.hpp"

namespace quintet {

/// Where the arrays of a training are to be on its device: ask for their memory there, and for what passes
/// through the host's. Collective over all ranks of the run. Throws ResourceError.
void require_device_arrays(const Comm& comm, const DeviceSession& device, const PlannedArrays& arrays);

/// Say in the log and summary.json where the arrays of a training on a device are.
void announce_residence(Context& context, const FlatAccount& account);

}  // namespace quintet
