#pragma once

#include <string>

#include "physics/particles/atoms/configuration.hpp"

namespace quintet::dpmd {

/// True if the file is a checkpoint of `dpmd run`.
[[nodiscard]] bool is_checkpoint(const std::string& path);
/// All atoms of a checkpoint, unwrapped, with velocities; reads on this rank alone. Throws InputError.
[[nodiscard]] Configuration read_checkpoint(const std::string& path);

}  // namespace quintet::dpmd
