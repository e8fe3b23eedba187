#pragma once

#include "surrogates/potential/device/device_model.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"

namespace quintet::potential {

/// Whether the options ask for float32 networks.
[[nodiscard]] bool is_single(const Model& model, const DeepPotentialOptions& options);

/// The tables of a model for a device engine. Throws InputError where such an engine cannot evaluate it: the
/// networks or a file's own table asked for, or embedding networks that polynomials do not reach.
[[nodiscard]] DeviceModel device_model(const Model& model, const DeepPotentialOptions& options);

/// Memory that an engine takes on its device (bytes), about: what it holds for the atoms and their
/// neighbours, and the temporaries of a chunk.
/// @param listed neighbours within cutoff + skin of an atom
[[nodiscard]] double device_bytes(const DeviceModel& model, bool single, double n_local, double n_all,
                                  double listed);

}  // namespace quintet::potential
