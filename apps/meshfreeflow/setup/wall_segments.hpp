#pragma once

#include <vector>

#include "apps/meshfreeflow/setup/simulate_options.hpp"
#include "physics/convection/operators.hpp"

namespace quintet::meshfreeflow {

/// Whether a wall is left alone by the heating, of the pair that insulates.
[[nodiscard]] bool insulates(const SimulateOptions& options, WallName wall);
/// Whether walls are, or may be, other than +-1/2 and insulating: by segments, or a policy.
[[nodiscard]] bool sets_walls(const SimulateOptions& options);
/// Whether heat through walls is set: b has no bounds then that the walls tell.
[[nodiscard]] bool sets_heat(const SimulateOptions& options);

/// What section `walls.segments` asks of all cells along each wall [cells]; empty: nothing.
struct SegmentedWalls {
  std::vector<double> warm, cold, first_heat, last_heat;
  [[nodiscard]] convection::WallProfiles profiles() const { return {warm, cold, first_heat, last_heat}; }
};
/// A cell has the mean over its width, so that the heat of a segment is the same on any cells; where segments
/// overlap they add.
[[nodiscard]] SegmentedWalls segmented_walls(const SimulateOptions& options, const convection::Grid& grid);

}  // namespace quintet::meshfreeflow
