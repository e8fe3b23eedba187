#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

namespace quintet::commands {

/// quintet verify DIR [--repair]: whether what a run wrote is whole, a line a file. Throws InputError (exit
/// code 2) where something is damaged.
///
/// With --repair tables and frames are cut to what the newest whole checkpoint counts, or to what is whole
/// where that is less, and damaged checkpoints are put aside; of each file that is changed a copy stays,
/// `NAME.before_repair`. Refused where a living run owns the directory.
[[nodiscard]] std::vector<Application::Flag> verify_flags();
void verify(const Application::Arguments& arguments);

}  // namespace quintet::commands
