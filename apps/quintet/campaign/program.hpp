#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quintet::campaign {

/// Start a program in a folder, its output appended to FOLDER/log.txt, as the head of a process group; it is
/// killed when the calling thread ends, however that does. Returns its process. Throws ResourceError.
[[nodiscard]] std::int64_t start_program(const std::string& executable, const std::vector<std::string>& words,
                                         const std::string& folder);

/// When a process of this machine began (boot and clock ticks); "" if there is none.
[[nodiscard]] std::string start_of(std::int64_t process);

/// Of this machine since it came up.
[[nodiscard]] std::string boot();

[[nodiscard]] std::string host_name();

}  // namespace quintet::campaign
