#pragma once

#include <vector>

#include "apps/application/cli/application.hpp"

/// Options of a plain command, described, checked and explained as those of a YAML file are.
namespace quintet {

/// A flag for each key of the description: output_bytes becomes --output-bytes VALUE. Sections and lists have
/// none.
[[nodiscard]] std::vector<Application::Flag> flags_of(const Describe& describe);

/// Fill the described options from the values of flags_of(describe), which stand at `first` and behind it.
/// Errors: InputError, all mistakes at once, each naming its flag.
void parse_flags(const Application::Arguments& arguments, std::size_t first, const Describe& describe);

}  // namespace quintet
