#pragma once

#include <optional>

namespace quintet {

/// Time that the cores of this machine have spent since it was started (seconds, all cores and users
/// together).
struct CoreUse {
  double used = 0;    ///< by programs and the kernel
  double stolen = 0;  ///< given to another virtual machine while one of this one's programs could have run
};
/// Read the use of the cores from /proc/stat, to 0.01 s; nothing where that file does not exist.
[[nodiscard]] std::optional<CoreUse> core_use();

}  // namespace quintet
