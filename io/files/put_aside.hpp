#pragma once

#include <string>

namespace quintet {

/// Rename a file that cannot be read, so that nothing takes it for a good one and nothing writes over it:
/// "run.h5" becomes "run.damaged.h5", or "run.damaged.2.h5" where that name is taken. Returns the new path.
/// Throws std::filesystem::filesystem_error.
std::string put_aside(const std::string& path);

}  // namespace quintet
