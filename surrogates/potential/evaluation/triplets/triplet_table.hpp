#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

/// Intervals of theta = R_j . R_k whose width grows with |theta|: products of near neighbours are large and
/// rare, networks vary on the scale of theta = 0.
///
/// With v = |theta|/unit + 1, an octave of v (2^e to 2^(e+1)) is cut into `parts` equal intervals. Those of
/// negative theta follow those of positive.
struct TripletLayout {
  static constexpr double unit = 2;
  int order = 16;     ///< coefficients of x^k an interval, x from -1 to 1 as theta grows
  int part_bits = 0;  ///< parts = 2^part_bits
  int n_octaves = 1;
  double error = 0;  ///< largest |G - polynomial| found, relative to the largest |G| not further out

  [[nodiscard]] int parts() const { return 1 << part_bits; }
  [[nodiscard]] int one_sign() const { return n_octaves << part_bits; }
  [[nodiscard]] int n_intervals() const { return 2 * one_sign(); }
  /// The |theta| at which the last octave ends.
  [[nodiscard]] double end() const { return unit * ((std::uint64_t{1} << n_octaves) - 1); }
  /// Left end and width of an interval, in theta.
  [[nodiscard]] double width(int interval) const;
  [[nodiscard]] double left(int interval) const;
};

/// Where theta lies: its interval (beyond the last octave: none, -1) and the place x in it.
template <class Real>
struct TripletPlace {
  int interval;
  Real x;

  TripletPlace(Real theta, int part_bits, int one_sign) {
    using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
    constexpr int digits = sizeof(Real) == 8 ? 52 : 23;
    constexpr Bits one = std::bit_cast<Bits>(Real(1)), fraction = (Bits{1} << digits) - 1;
    // The exponent of v and the first bits after it tell the interval, the other bits the place.
    const Bits bits = std::bit_cast<Bits>(std::abs(theta) * Real(1 / TripletLayout::unit) + Real(1));
    const Bits index = (bits - one) >> (digits - part_bits);
    const Real place = 2 * std::bit_cast<Real>(((bits << part_bits) & fraction) | one) - 3;
    const bool is_negative = theta < 0;
    interval =
        index < static_cast<Bits>(one_sign) ? static_cast<int>(index) + (is_negative ? one_sign : 0) : -1;
    x = is_negative ? -place : place;
  }
};

/// Bound |theta| = |R_j . R_k| of neighbours at `closest` angstrom or further, and of empty slots: with R =
/// (s d/r - mean)/deviation, |R| <= w(closest) r/(r + p)^2 / deviation + |mean/deviation|, whose second
/// factor is largest at r = p, or at the closest distance beyond.
[[nodiscard]] double bound_of_theta(const DescriptorModel& model, double closest);

/// The coarsest layout on which polynomials stand for all networks of a descriptor se_e3 within `tolerance`
/// of the largest |G|; error > tolerance in the result if none does. It covers neighbours from `closest`
/// (angstrom) on.
/// @param pack the order is a multiple of it
[[nodiscard]] TripletLayout choose_triplet_layout(const DescriptorModel& model, int pack, double tolerance,
                                                  double closest);

/// Coefficients [n_intervals, order, n_channels] of a network on a layout.
[[nodiscard]] std::vector<double> triplet_coefficients(const Network& network, const TripletLayout& layout);

}  // namespace quintet::potential
