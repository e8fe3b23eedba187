#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/setup/forecast_input.hpp"

namespace quintet::podlstm {

/// The device of a training. Not on the cpu, LibTorch computes the networks there, and options.forecast says
/// so. Collective. Throws ResourceError where the device that is asked for is not there, InputError for
/// products in bf16, which our kernels alone have.
[[nodiscard]] DeviceSession open_device(Context& context, TrainOptions& options);

}  // namespace quintet::podlstm
