#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::commands {

[[nodiscard]] std::vector<Application::Flag> registry_flags();
/// quintet registry add|list|verify|remove FILE.h5 [MODEL...]
void registry(const Application::Arguments& arguments);

}  // namespace quintet::commands
