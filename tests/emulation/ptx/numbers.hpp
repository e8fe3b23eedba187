#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

/// Numbers in the 64 bits of a register: those of fewer bits in the lowest
/// ones.
namespace quintet::emulation {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class T>
[[nodiscard]] inline T get(u64 v) {
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(v);
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<u32>(v));
  else
    return static_cast<T>(v);
}
/// The bits above are 0.
template <class T>
[[nodiscard]] inline u64 put(T v) {
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<u64>(v);
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<u32>(v);
  else
    return static_cast<u64>(static_cast<std::make_unsigned_t<T>>(v));
}

}  // namespace quintet::emulation
