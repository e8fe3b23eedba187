#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/control/control_options.hpp"

namespace quintet::meshfreeflow {

/// Learn to control convection by its floor (or read a policy that did), and judge it on flows that it has
/// not met, beside no control and proportional control.
void control(Context& context, const ControlOptions& options);

}  // namespace quintet::meshfreeflow
