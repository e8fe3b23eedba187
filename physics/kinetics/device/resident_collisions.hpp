#pragma once

#include <memory>
#include <vector>

#include "physics/kinetics/collisions/collision_engines.hpp"
#include "physics/kinetics/collisions/collisions.hpp"
#include "physics/kinetics/device/collisions_device.hpp"
#include "physics/kinetics/device/resident_operator.hpp"

namespace quintet::kinetics {

/// Engines for an f that is resident with `operators`, one of each species, which must live as long. Moments,
/// rates and what f is multiplied with stay there, too.
[[nodiscard]] std::unique_ptr<CollisionEngines> resident_collision_engines(
    const Decomposition& decomposition, const PhaseBasis& basis, const std::vector<Species>& species,
    const std::vector<ResidentOperator*>& operators, const DeviceVlasovFactory& factory);

/// Bytes of the device's memory that these take for the collisions of species s, before they are made.
[[nodiscard]] double resident_collision_bytes(const PhaseBasis& basis, const PhaseBlock& block, int s,
                                              const CollisionOptions& options,
                                              const DeviceVlasovFactory& factory);

}  // namespace quintet::kinetics
