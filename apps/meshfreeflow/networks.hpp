#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::meshfreeflow {

/// LibTorch, where this program was built with it.
[[nodiscard]] std::vector<Subsystem> network_subsystems();
/// The commands that need it.
void add_network_commands(Application& application);

}  // namespace quintet::meshfreeflow
