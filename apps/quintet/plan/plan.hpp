#pragma once

#include "apps/application/cli/application.hpp"

/// The command `quintet plan`.
namespace quintet::commands {

/// quintet plan FILE --machine M --ranks 1,8,64: what the run would take in each decomposition.
void plan(const Application::Arguments& arguments);
[[nodiscard]] std::vector<Application::Flag> plan_flags();

}  // namespace quintet::commands
