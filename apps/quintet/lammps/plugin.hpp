#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::commands {

[[nodiscard]] std::vector<Application::Flag> lammps_plugin_flags();
/// `quintet lammps-plugin --lammps LMP`: compile `pair_style quintet` for a LAMMPS, check it there, and say
/// how to load it.
void lammps_plugin(const Application::Arguments& arguments);

}  // namespace quintet::commands
