#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include <ATen/core/Tensor.h>

/// What kernels ask of a tensor before they read its memory.
namespace quintet::bridge {

/// Layout of a tensor on the host. Extents of -1 may have any value.
struct MemoryLayout {
  std::string name;
  at::ScalarType type;
  std::span<const std::int64_t> extents;
};

template <class T>
constexpr at::ScalarType scalar_type() {
  using Value = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Value, float>)
    return at::ScalarType::Float;
  else if constexpr (std::is_same_v<Value, double>)
    return at::ScalarType::Double;
  else if constexpr (std::is_same_v<Value, std::int32_t>)
    return at::ScalarType::Int;
  else if constexpr (std::is_same_v<Value, std::int64_t>)
    return at::ScalarType::Long;
  else
    static_assert(sizeof(T) == 0, "Tensors hold float, double, int32 or int64.");
}

/// Check that a tensor is row-major memory of the host, of the expected type and extents. Throws
/// InternalError, which names both sides.
void check(const at::Tensor& tensor, const MemoryLayout& expected);

}  // namespace quintet::bridge
