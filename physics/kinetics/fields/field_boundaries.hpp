#pragma once

#include <array>
#include <string_view>

#include "physics/kinetics/fields/maxwell.hpp"
#include "physics/kinetics/fields/poisson.hpp"

namespace quintet::kinetics {

struct FieldBoundaryRow {
  FieldBoundary value;
  std::string_view name;  ///< in YAML
  PoissonOptions::Wall
      at_start;  ///< what the potential meets there whose field Maxwell's equations start from
};
inline constexpr std::array<FieldBoundaryRow, 4> field_boundaries{
    {{FieldBoundary::periodic, "periodic", PoissonOptions::Wall::periodic},
     {FieldBoundary::conductor, "conductor", PoissonOptions::Wall::dirichlet},
     {FieldBoundary::open, "open", PoissonOptions::Wall::neumann},
     {FieldBoundary::fixed, "fixed", PoissonOptions::Wall::neumann}}};

struct PotentialWallRow {
  PoissonOptions::Wall value;
  std::string_view name;  ///< in YAML
};
inline constexpr std::array<PotentialWallRow, 3> potential_walls{
    {{PoissonOptions::Wall::periodic, "periodic"},
     {PoissonOptions::Wall::dirichlet, "dirichlet"},
     {PoissonOptions::Wall::neumann, "neumann"}}};

}  // namespace quintet::kinetics
