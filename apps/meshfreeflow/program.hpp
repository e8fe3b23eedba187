#pragma once

#include <functional>

#include "apps/application/cli/application.hpp"

namespace quintet::meshfreeflow {

/// Whether the command needs no networks: those of flows, and --version.
[[nodiscard]] bool is_about_flows(int argc, char** argv);

/// Runs the application whose commands are those of flows and those that `add` adds; returns the exit code.
int run_program(int argc, char** argv, const std::function<void(Application&)>& add);

}  // namespace quintet::meshfreeflow
