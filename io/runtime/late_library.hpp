#pragma once

#include <filesystem>

namespace quintet {

/// A function of a library that is loaded where it is needed: what few runs use must not slow down the start
/// of all. The library, which is then kept, lies in lib/quintet or lib beside the folder of the program, or
/// at `built`, where the build made it. Errors: ResourceError.
[[nodiscard]] void* late_function(const std::filesystem::path& built, const char* name);

}  // namespace quintet
