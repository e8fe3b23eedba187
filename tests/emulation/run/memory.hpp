#pragma once

#include <cstddef>
#include <cstdint>

/// Memory of the emulated GPU. A device address cannot be read by the host, as
/// on a GPU: the addresses lie in a range without access; what is stored there
/// lies `alias` bytes further. Pinned memory is the host's.
namespace quintet::emulation {

struct Allocation {
  std::uint64_t begin = 0, end = 0;
  std::ptrdiff_t alias = 0;
};

[[nodiscard]] void *allocate(std::size_t bytes);         ///< on the device; null if there is none left
[[nodiscard]] void *allocate_pinned(std::size_t bytes);  ///< read by both
bool release(void *address);
/// Grows with each release: what was known of addresses before may be wrong.
[[nodiscard]] std::uint64_t generation();
/// The allocation that an address lies in, or nullptr.
[[nodiscard]] const Allocation *find(std::uint64_t address);
[[nodiscard]] bool on_device(const void *address);
/// Where the bytes of an address lie for the emulator.
[[nodiscard]] void *bytes_of(const void *address);
[[nodiscard]] std::size_t memory_total();
[[nodiscard]] std::size_t memory_free();

/// The range of device addresses.
inline constexpr std::uint64_t device_begin = 0x500000000000,
                               device_end = device_begin + (std::uint64_t{1} << 38);
inline constexpr std::ptrdiff_t device_alias = 0x010000000000;

}  // namespace quintet::emulation
