#pragma once

#include <string>
#include <vector>

#include "apps/application/cli/application.hpp"

/// Options of a plain command, described, checked and explained as those of a YAML file are.
namespace quintet {

/// Make a flag for each key of the description: output_bytes becomes --output-bytes VALUE, unless `words`
/// says otherwise. Sections have none; a list is repeatable.
[[nodiscard]] std::vector<Application::Flag> flags_of(const Describe& describe,
                                                      const std::vector<Application::Word>& words = {});

/// Fill the described options from the values of flags_of(describe, words), which stand at `first` and behind
/// it. Errors: InputError, all mistakes at once, each naming its flag.
void parse_flags(const Application::Arguments& arguments, std::size_t first, const Describe& describe,
                 const std::vector<Application::Word>& words = {});

/// Write the flags as a table of the reference page.
[[nodiscard]] std::string flag_reference(const std::string& title, const std::string& about,
                                         const std::vector<Application::Flag>& flags);

}  // namespace quintet
