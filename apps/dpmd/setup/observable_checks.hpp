#pragma once

#include <optional>
#include <string>

#include "apps/dpmd/setup/run_options.hpp"

namespace quintet::dpmd {

/// Why the rest of the input does not give what an observable needs; nothing if it does.
[[nodiscard]] std::optional<std::string> problem_of_observables(const RunOptions& options);

}  // namespace quintet::dpmd
