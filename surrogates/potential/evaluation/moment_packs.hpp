#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "physics/kernels/pack_lanes.hpp"

/// How moments M_ka = sum_j x_j^k R_ja lie in packs.
namespace quintet::potential {

/// Lanes of a pack of moments: the four columns of R for one or more successive powers.
template <class Real>
constexpr int moment_lanes = std::max(4, pack_width<Real>);
template <class Real>
using MomentPack = Pack<Real, moment_lanes<Real>>;

/// Lane 4 g + a of the result is value(g, a): constants.
template <class Real, class Value>
constexpr MomentPack<Real> moment_constants(Value&& value) {
  return [&]<int... l>(std::integer_sequence<int, l...>) {
    return MomentPack<Real>{static_cast<Real>(value(l / 4, l % 4))...};
  }
  (std::make_integer_sequence<int, moment_lanes<Real>>());
}

/// A neighbour's four columns of R in each power's four lanes; a whole pack is read, as rows have room for it
/// (four numbers alone would take the way through memory).
template <class Real>
MomentPack<Real> columns_of(const Real* row) {
  constexpr int lanes = moment_lanes<Real>;
  const auto all = load<Real, lanes>(row);
  return [&]<int... l>(std::integer_sequence<int, l...>) {
    return __builtin_shufflevector(all, all, (l % 4)...);
  }
  (std::make_integer_sequence<int, lanes>());
}

/// The lanes of g - 1 where those of g are; those of g = 0 are of no use.
template <class Real>
MomentPack<Real> powers_before(MomentPack<Real> value) {
  constexpr int lanes = moment_lanes<Real>;
  return [&]<int... l>(std::integer_sequence<int, l...>) {
    return __builtin_shufflevector(value, value, (l < 4 ? l : l - 4)...);
  }
  (std::make_integer_sequence<int, lanes>());
}

/// Powers of x, x^g in the four lanes of g, and the one that follows them.
template <class Real>
struct MomentPowers {
  static constexpr int lanes = moment_lanes<Real>, powers = lanes / 4;
  static_assert(powers == 1 || powers == 2 || powers == 4, "lanes are 4, 8 or 16");
  explicit MomentPowers(Real x) {
    const Real x2 = x * x;
    next = powers == 1 ? x : powers == 2 ? x2 : x2 * x * x;
    const auto odd = moment_constants<Real>([](int g, int) { return g % 2; });
    const auto high = moment_constants<Real>([](int g, int) { return g / 2; });
    const auto one = broadcast<Real, lanes>(1), zero = MomentPack<Real>{};
    weight = odd > zero ? broadcast<Real, lanes>(x) : one;
    if constexpr (powers == 4) weight = high > zero ? weight * x2 : weight;
  }
  /// Derivatives by x.
  [[nodiscard]] MomentPack<Real> weight_slope() const {
    return powers_before<Real>(weight) * moment_constants<Real>([](int g, int) { return g; });
  }
  [[nodiscard]] Real next_slope() const { return powers * weight[lanes - 1]; }

  MomentPack<Real> weight;
  Real next;  ///< x^powers
};

/// Lane 4 n + a of the result is the sum over g of lanes 4 g + a of values[n], one for each power (work
/// space).
template <class Real>
MomentPack<Real> sums_of_powers(MomentPack<Real>* values) {
  constexpr int lanes = moment_lanes<Real>;
  if constexpr (lanes >= 8) add_lanes<4, Real, lanes>(values, lanes / 8);
  if constexpr (lanes >= 16) add_lanes<8, Real, lanes>(values, lanes / 16);
  return values[0];
}

/// Each four lanes added up, the sum in all of them.
template <class Real>
MomentPack<Real> sums_of_columns(MomentPack<Real> value) {
  constexpr int lanes = moment_lanes<Real>;
  return [&]<int... l>(std::integer_sequence<int, l...>) {
    value += __builtin_shufflevector(value, value, (l ^ 1)...);
    return value + __builtin_shufflevector(value, value, (l ^ 2)...);
  }
  (std::make_integer_sequence<int, lanes>());
}

/// body(n), with n a constant where it is small: then loops over packs of moments are unrolled.
template <class Body>
void with_packs(int n, Body&& body) {
  if (n == 2) return body(std::integral_constant<int, 2>());
  if (n == 4) return body(std::integral_constant<int, 4>());
  if (n == 6) return body(std::integral_constant<int, 6>());
  if (n == 8) return body(std::integral_constant<int, 8>());
  body(n);
}

}  // namespace quintet::potential
