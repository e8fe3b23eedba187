#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>

#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"
#include "tests/support/stretched_cells.hpp"

/// Electrons and heavier ions as cases of whole systems have them.
namespace quintet::kinetics {

/// An index.
inline std::size_t place_of(int i) { return i; }

/// Five cells along each x in [0, 2 pi], periodic, and nv along each v in five thermal speeds about 0.
/// @param stretch of velocity cells (map_velocity()); 0: they are equal
inline Species species_of(int cdim, int vdim, double charge, double mass, int nv, double stretch) {
  Species species;
  species.name = charge < 0 ? "electron" : "ion";
  species.charge = charge;
  species.mass = mass;
  auto& grid = species.grid;
  grid.cdim = cdim;
  grid.vdim = vdim;
  for (int d = 0; d < cdim + vdim; ++d) {
    const bool x = d < cdim;
    grid.lower[place_of(d)] = x ? 0 : -5 / std::sqrt(mass);
    grid.upper[place_of(d)] = x ? 2 * std::numbers::pi : 5 / std::sqrt(mass);
    grid.cells[place_of(d)] = x ? 5 : nv;
    grid.periodic[place_of(d)] = x;
    if (!x && stretch != 0) map_velocity(grid, d - cdim, stretch);
  }
  return species;
}

/// Drifting Maxwellians whose densities are waves, stronger for electrons, the first species.
inline void fill(VlasovSystem& system, const PhaseBasis& basis, int cdim, int vdim) {
  for (int i = 0; i < 2; ++i) {
    const double mass = system.species()[place_of(i)].mass;
    project_phase(
        basis,
        [&](std::span<const double> z) {
          double f = 1 + (i == 0 ? 0.2 : 0.1) * std::cos(z[0]);
          if (cdim == 2) f += 0.1 * std::sin(z[1]);
          for (int d = 0; d < vdim; ++d) {
            const double v = z[place_of(cdim + d)] - 0.1 * d;
            f *= std::exp(-0.5 * mass * v * v) / std::sqrt(2 * std::numbers::pi / mass);
          }
          return f;
        },
        system.f(i), "f");
  }
}

}  // namespace quintet::kinetics
