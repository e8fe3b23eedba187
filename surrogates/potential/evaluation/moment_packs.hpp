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

/// Where a neighbour lies: x of its interval, and the interval.
template <class Real>
struct MomentPlace {
  Real x;
  int interval;
};

/// Rows of neighbours.
struct RowRange {
  int begin, end;
};

/// Polynomials of a layout as moments see them.
template <class Real>
struct MomentShape {
  int order;
  Real dx_ds;
  Real scale;  ///< of all that comes out
};

/// From dM_pka = dE/dM_pka what each neighbour of some rows gets,
///
///     values_a = sum_k x^k dM_pka,   through_s = sum_a R_ja d/ds sum_k x^k dM_pka  (column 0, else 0),
///
/// as many neighbours at a time as a pack has of a row's four columns.
/// @param place of a row @param take take(first row, rows there, values, through_s), lanes 4 i + a of row i
template <class Real, class Place, class Take>
void slopes_of_rows(RowRange range, const Real* moments, const MomentShape<Real>& shape, const Real* rows,
                    Place&& place, Take&& take) {
  constexpr int lanes = moment_lanes<Real>, powers = lanes / 4;
  const auto along_s =
      moment_constants<Real>([](int, int a) { return a == 0; }) * (shape.dx_ds * shape.scale);
  with_packs(4 * shape.order / lanes, [&, size = 4 * shape.order](auto n_packs) {
    for (int begin = range.begin; begin < range.end; begin += powers) {
      MomentPack<Real> values[powers], slopes[powers];
#pragma GCC unroll 4
      for (int i = 0; i < powers; ++i) {
        const int r = std::min(begin + i, range.end - 1);
        const auto [x, interval] = place(r);
        const MomentPowers<Real> power(x);
        const Real* m = moments + std::int64_t{interval} * size;
        MomentPack<Real> value = load<Real, lanes>(m + (n_packs - 1) * lanes), slope{};
#pragma GCC unroll 8
        for (int k = n_packs - 2; k >= 0; --k) {
          slope = slope * power.next + value;
          value = value * power.next + load<Real, lanes>(m + k * lanes);
        }
        // d/dx of x^g y^i with y = x^powers: g x^(g-1) y^i + x^g (powers x^(powers-1)) i y^(i-1).
        const MomentPack<Real> weight = power.weight;
        const MomentPack<Real> weight_slope = power.weight_slope(),
                               weight_outer = weight * power.next_slope();
        slopes[i] =
            (value * weight_slope + slope * weight_outer) * columns_of<Real>(rows + 4 * std::int64_t{r});
        values[i] = value * weight;
      }
      take(begin, range.end - begin, MomentPack<Real>(sums_of_powers<Real>(values) * shape.scale),
           MomentPack<Real>(sums_of_columns<Real>(sums_of_powers<Real>(slopes)) * along_s));
    }
  });
}

}  // namespace quintet::potential
