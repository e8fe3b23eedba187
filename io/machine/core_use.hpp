#pragma once

#include <optional>

namespace quintet {

/// What the cores of this machine have done since it was started (seconds, all cores together), whoever had
/// them do it.
struct CoreUse {
  double used = 0;    ///< by programs and the kernel
  double stolen = 0;  ///< given to another virtual machine while one of this one's programs could have run
};
/// As /proc/stat has it, to 0.01 s; nothing where there is none.
[[nodiscard]] std::optional<CoreUse> core_use();

}  // namespace quintet
