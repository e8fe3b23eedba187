#pragma once

#include <string>
#include <vector>

namespace quintet {

/// Files and folders that a pattern of the shell (*, ?, [abc]) stands for, sorted by name; what exists, or
/// holds none of these characters, stands for itself. Throws InputError where nothing matches.
[[nodiscard]] std::vector<std::string> matching_files(const std::string& pattern);

}  // namespace quintet
