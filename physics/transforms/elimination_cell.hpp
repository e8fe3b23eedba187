#pragma once

#include <cmath>

#include <Kokkos_Core.hpp>

/// The formulas of tridiagonal elimination in one row of a column, for rows of a core and for a thread of a
/// device. Rows are counted as they are eliminated; of a row `from` is the element next to the row before,
/// `to` the one next to the row after.
///
///     from_k x_{k-1} + d_k x_k + to_k x_{k+1} = q_k
///     pivot_k = d_k - from_k to_{k-1}/pivot_{k-1},  y_k = (q_k - from_k y_{k-1})/pivot_k
///     x_k = y_k - (to_k/pivot_k) x_{k+1} - spike_k x_below
///
/// The spike is the influence of the last unknown of the share below; the first unknown of a share is the sum
/// of weight_k y_k. Between shares are left, of the first and last unknown of each, f and l,
///
///     f + f_of_below l_below + f_of_above f_above = F,   l + l_of_below l_below + l_of_above f_above = L.
///
/// Source: Wang 1981, ACM TOMS 7, 170.
namespace quintet::elimination {

constexpr double vanishing = 1e-12;  ///< a pivot, beside the diagonal element: round-off

/// 1/pivot; 0 of an empty row, and where the pivot vanishes: the unknown is set to 0.
KOKKOS_INLINE_FUNCTION double inverse_of(double pivot, double diagonal) {
  return ::fabs(pivot) > vanishing * ::fabs(diagonal) && diagonal != 0 ? 1 / pivot : 0.0;
}
/// y_k. @param before y_{k-1}
KOKKOS_INLINE_FUNCTION double eliminated(double q, double from, double before, double inverse) {
  return (q - from * before) * inverse;
}
/// x_k without the spike. @param carried to_k/pivot_k @param after x_{k+1}
KOKKOS_INLINE_FUNCTION double substituted(double y, double carried, double after) {
  return y - carried * after;
}
/// spike_k. @param before spike_{k-1}; -1 before the first row
KOKKOS_INLINE_FUNCTION double next_spike(double from, double before, double inverse) {
  return -from * before * inverse;
}
/// weight_k. @param carried to_{k-1}/pivot_{k-1} @param before weight_{k-1}; weight_0 = 1
KOKKOS_INLINE_FUNCTION double next_weight(double carried, double before) { return -carried * before; }

/// Eliminate the shares below from the two equations of a share; returns 1/(1 - f_of_below l_of_f).
///
/// @param l_of_f l_of_above of the share below, of whose influence of below there is none left
/// @param f_of_above divided by that pivot @param l_of_above then without the shares below
KOKKOS_INLINE_FUNCTION double join_below(double l_of_f, double f_of_below, double l_of_below,
                                         double& f_of_above, double& l_of_above) {
  const double inverse = inverse_of(1 - f_of_below * l_of_f, 1);
  f_of_above *= inverse;
  l_of_above += l_of_below * l_of_f * f_of_above;
  return inverse;
}
/// The same of their right-hand sides f and l. @param l_below that of the share below, eliminated
KOKKOS_INLINE_FUNCTION void join_sides(double l_below, double l_of_f, double f_of_below, double l_of_below,
                                       double inverse, double& f, double& l) {
  f = eliminated(f, f_of_below, l_below, inverse);
  l -= l_of_below * substituted(l_below, l_of_f, f);
}

}  // namespace quintet::elimination
