#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

namespace quintet::potential {

/// The |theta| that ends the first octave of TripletLayout.
inline constexpr double triplet_unit = 2;

/// Where theta lies: its interval (beyond the last octave: none, -1) and the place x in it.
template <class Real>
struct TripletPlace {
  int interval;
  Real x;

  KOKKOS_INLINE_FUNCTION TripletPlace(Real theta, int part_bits, int one_sign) {
    using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
    constexpr int digits = sizeof(Real) == 8 ? 52 : 23;
    constexpr Bits one = std::bit_cast<Bits>(Real(1)), fraction = (Bits{1} << digits) - 1;
    // The exponent of v and the first bits after it tell the interval, the other bits the place.
    const Bits bits = std::bit_cast<Bits>(std::abs(theta) * Real(1 / triplet_unit) + Real(1));
    const Bits index = (bits - one) >> (digits - part_bits);
    const Real place = 2 * std::bit_cast<Real>(((bits << part_bits) & fraction) | one) - 3;
    const bool is_negative = theta < 0;
    interval =
        index < static_cast<Bits>(one_sign) ? static_cast<int>(index) + (is_negative ? one_sign : 0) : -1;
    x = is_negative ? -place : place;
  }
};

}  // namespace quintet::potential
