#pragma once

#include "physics/convection/device/device_flows.hpp"
#include "physics/convection/grid.hpp"
#include "physics/convection/problem.hpp"

namespace quintet::convection {

/// What a device needs to move flows of this problem on this grid, whose rows are all here.
/// @param transforms along x, of equal cells; else products with modes
[[nodiscard]] DeviceFlowSetup device_flow_setup(const Problem& problem, const Grid& grid, int n_members,
                                                bool transforms);

}  // namespace quintet::convection
