#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::commands {

[[nodiscard]] std::vector<Application::Flag> campaign_flags();
/// quintet campaign FILE [--output DIR] [--dry-run] [--verify]
void campaign(const Application::Arguments& arguments);

}  // namespace quintet::commands
