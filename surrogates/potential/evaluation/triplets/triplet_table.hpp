#pragma once

#include <cstdint>
#include <vector>

#include "surrogates/potential/evaluation/triplets/triplet_place.hpp"
#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

/// Intervals of theta = R_j . R_k whose width grows with |theta|: products of near neighbours are large and
/// rare, networks vary on the scale of theta = 0.
///
/// With v = |theta|/unit + 1, an octave of v (2^e to 2^(e+1)) is cut into `parts` equal intervals. Those of
/// negative theta follow those of positive.
struct TripletLayout {
  static constexpr double unit = triplet_unit;
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
