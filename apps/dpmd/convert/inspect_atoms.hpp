#pragma once

#include <string>

#include "physics/particles/files/read_configuration.hpp"

namespace quintet::dpmd {

/// True for what read_configurations() reads and no model or YAML file is: by name, else by content.
[[nodiscard]] bool holds_atoms(const std::string& path);
/// Describe a file of atoms as it was understood, in lines: format, frames, atoms by type, cell, labels and
/// velocities, what the reader assumed and did not use. Throws InputError as read_configurations() does.
[[nodiscard]] std::string describe_atoms(const std::string& path, const ReadOptions& options);

}  // namespace quintet::dpmd
