#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::commands {

[[nodiscard]] std::vector<Application::Flag> campaign_flags();
/// quintet campaign [status] FILE [--output DIR] [--dry-run] [--verify] [--repair] [--share]
/// [--machine M [--pilot]]
void campaign(const Application::Arguments& arguments);
/// quintet reference: a Markdown page of all keys of its file.
void campaign_reference(const Application::Arguments& arguments);

}  // namespace quintet::commands
