#pragma once

#include <cstdint>

#include "physics/particles/dynamics/dynamics.hpp"

namespace quintet {

/// Maxwell-Boltzmann velocities: normal numbers of (seed, atom id) times sqrt(kT / m), scaled to
/// `temperature` exactly.
///
/// Any number of ranks draws the same (to round-off). temperature (K). `remove_momentum` brings the centre of
/// mass to rest, unless atoms are frozen. Collective.
void draw_velocities(const Exec& exec, const Comm& comm, Atoms& atoms, double temperature, std::uint64_t seed,
                     bool remove_momentum = true, const FrozenAtoms& frozen = {});
/// Bring the centre of mass to rest. Collective.
void remove_momentum(const Exec& exec, const Comm& comm, Atoms& atoms);

}  // namespace quintet
