#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quintet::campaign {

/// How many processes of this process's control group the kernel has killed for memory, of the whole machine
/// where the group does not say; nothing where nobody counts. `proc` and `sys` are the folders of these
/// names.
[[nodiscard]] std::optional<std::int64_t> memory_kills(const std::string& proc = "/proc",
                                                       const std::string& sys = "/sys");

/// Tells which ends by SIGKILL were for lack of memory: each raises memory_kills() by one. Each kill is
/// reported once.
class MemoryKills {
 public:
  MemoryKills() : told_(memory_kills()) {}
  /// Whether one more was killed since; where nobody counts, `unknown`.
  [[nodiscard]] bool has_one_more(bool unknown);

 private:
  std::optional<std::int64_t> told_;
};

}  // namespace quintet::campaign
