#pragma once

#include <cmath>

#include <Kokkos_Core.hpp>

namespace quintet::device {

/// Fixed-point number in which forces are summed: whole numbers of 2^-44 eV/angstrom, so that the order of
/// the sum does not matter. Range 5e5 eV/angstrom.
using Fixed = unsigned long long;
inline constexpr double fixed_per_unit = 17592186044416.0;

KOKKOS_INLINE_FUNCTION long long to_fixed(double value) {
#ifdef __CUDA_ARCH__
  return __double2ll_rn(value * fixed_per_unit);
#else
  return static_cast<long long>(std::nearbyint(value * fixed_per_unit));
#endif
}
KOKKOS_INLINE_FUNCTION double from_fixed(Fixed value) {
  return (static_cast<long long>(value)) / fixed_per_unit;
}

}  // namespace quintet::device
