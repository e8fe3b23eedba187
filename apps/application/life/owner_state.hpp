#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quintet {

/// State that the newest owner of a folder (RunOwner) has written.
struct OwnerState {
  std::string host{}, since{};
  std::int64_t process = 0;
  bool is_alive = false;
  double silent_s = 0;  ///< since its last sign of life, by the file system's clock
};

/// The newest owner that a folder names, alive or not; nothing if nobody ever had it or it is not there.
[[nodiscard]] std::optional<OwnerState> owner_state(const std::string& folder);

}  // namespace quintet
