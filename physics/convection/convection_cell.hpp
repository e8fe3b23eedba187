#pragma once

#include <cmath>

#include <Kokkos_Core.hpp>

/// The formulas of operators.hpp in one control volume, for rows of a core and for a thread of a device.
///
/// q(j, i) of a field is its value j rows above and i cells to the right of the one at hand. u stands on left
/// faces, w on bottom faces, b and p at centres.
namespace quintet::convection {

/// Push on u: a control volume between the centres i - 1 and i.
///
///     u_t = -((u u)_right - (u u)_left)/gap - ((u w)_above - (u w)_below)/(gap height)
///
/// @param width, before of cells i and i - 1
template <class U, class W>
KOKKOS_INLINE_FUNCTION double convection_of_u(const U& u, const W& w, double before, double width,
                                              double inverse_gap, double inverse_height) {
  const double left = u(0, -1) + u(0, 0), right = u(0, 0) + u(0, 1);
  const double below = (w(0, -1) * before + w(0, 0) * width) * (u(-1, 0) + u(0, 0));
  const double above = (w(1, -1) * before + w(1, 0) * width) * (u(0, 0) + u(1, 0));
  return -0.25 * inverse_gap * ((right * right - left * left) + (above - below) * inverse_height);
}

/// Push on w, with buoyancy: a control volume between the centres j - 1 and j.
///
/// @param under, over heights of rows j - 1 and j
template <class U, class W, class B>
KOKKOS_INLINE_FUNCTION double convection_of_w(const U& u, const W& w, const B& b, double under, double over,
                                              double inverse_width, double inverse_gap) {
  const double left = (u(-1, 0) * under + u(0, 0) * over) * (w(0, -1) + w(0, 0));
  const double right = (u(-1, 1) * under + u(0, 1) * over) * (w(0, 0) + w(0, 1));
  const double below = w(-1, 0) + w(0, 0), above = w(0, 0) + w(1, 0);
  return 0.5 * (b(-1, 0) + b(0, 0)) -
         0.25 * inverse_gap * ((right - left) * inverse_width + (above * above - below * below));
}

/// Push on b: a cell.
template <class U, class W, class B>
KOKKOS_INLINE_FUNCTION double convection_of_b(const U& u, const W& w, const B& b, double inverse_width,
                                              double inverse_height) {
  const double left = u(0, 0) * (b(0, -1) + b(0, 0)), right = u(0, 1) * (b(0, 0) + b(0, 1));
  const double below = w(0, 0) * (b(-1, 0) + b(0, 0)), above = w(1, 0) * (b(0, 0) + b(1, 0));
  return -0.5 * ((right - left) * inverse_width + (above - below) * inverse_height);
}

/// u_x + w_z of a cell.
template <class U, class W>
KOKKOS_INLINE_FUNCTION double divergence_of(const U& u, const W& w, double inverse_width,
                                            double inverse_height) {
  return (u(0, 1) - u(0, 0)) * inverse_width + (w(1, 0) - w(0, 0)) * inverse_height;
}

/// |u|/dx + |w|/dz of a cell, each the greater of its two faces. NaN if the left or the bottom one is.
template <class U, class W>
KOKKOS_INLINE_FUNCTION double courant_rate_of(const U& u, const W& w, double inverse_width,
                                              double inverse_height) {
  const double left = ::fabs(u(0, 0)), right = ::fabs(u(0, 1)), below = ::fabs(w(0, 0)),
               above = ::fabs(w(1, 0));
  return (left < right ? right : left) * inverse_width + (below < above ? above : below) * inverse_height;
}

}  // namespace quintet::convection
