#pragma once

#include "surrogates/potential/device/device_model.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"

namespace quintet::potential {

/// Whether the options ask for float32 networks.
[[nodiscard]] bool is_single(const Model& model, const DeepPotentialOptions& options);

/// The tables of a model for a device engine. Throws InputError where such an engine cannot evaluate it: the
/// networks or a file's own table asked for, or embedding networks that polynomials do not reach.
[[nodiscard]] DeviceModel device_model(const Model& model, const DeepPotentialOptions& options);

}  // namespace quintet::potential
