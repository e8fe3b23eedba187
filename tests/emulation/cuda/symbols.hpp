#pragma once

#include <cstdint>

namespace quintet::emulation {
/// Where a variable of the device lies, by the host's variable that stands for
/// it; 0 if none was registered.
[[nodiscard]] std::uint64_t address_of(const void *symbol);
}  // namespace quintet::emulation
