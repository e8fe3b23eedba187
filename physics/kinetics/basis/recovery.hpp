#pragma once

#include "physics/kinetics/basis/legendre.hpp"

namespace quintet::kinetics {

/// Recovery at the face between two cells: the polynomial r of degree 2n - 1 that has the same n Legendre
/// coefficients as f in either cell (van Leer & Nomura, AIAA 2005-5108).
///
/// With xi in units of half a cell: r = sum_k value[k] (l_k + (-1)^k r_k) and
/// dr/dxi = sum_k slope[k] (l_k - (-1)^k r_k) at the face, l_k and r_k the coefficients left and right of it.
struct Recovery {
  double value[max_degree + 1]{}, slope[max_degree + 1]{};
};

namespace detail {

/// (xi + shift)^n.
[[nodiscard]] constexpr Polynomial shifted_power(int n, int shift) {
  Polynomial base, power;
  base.c[0] = shift;
  base.c[1] = 1;
  power.c[0] = 1;
  for (int i = 0; i < n; ++i) power = power * base;
  return power;
}

}  // namespace detail

/// Weights of the recovery from n coefficients a cell, 1 <= n <= 4.
[[nodiscard]] constexpr Recovery recovery(int n) {
  // Unknowns: coefficients of the powers of zeta (0 at the face); by symmetry the even ones follow from
  // l_k + (-1)^k r_k and the odd ones from the difference, each with an n x n system, and so the rows of the
  // left cell alone decide: sum_j a_j int phi_k(xi) (xi - 1)^j dxi = s_k / 2.
  Recovery result;
  for (int parity = 0; parity < 2; ++parity) {
    double m[4][4]{}, inverse[4][4]{};
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j < n; ++j)
        m[k][j] = (detail::legendre_polynomial(k) * detail::shifted_power(2 * j + parity, -1)).integral() *
                  detail::normalisation(k);
      inverse[k][k] = 1;
    }
    for (int c = 0; c < n; ++c) {
      int pivot = c;
      for (int r = c + 1; r < n; ++r)
        if (m[r][c] * m[r][c] > m[pivot][c] * m[pivot][c]) pivot = r;
      for (int j = 0; j < n; ++j) {
        const double a = m[c][j], b = inverse[c][j];
        m[c][j] = m[pivot][j], inverse[c][j] = inverse[pivot][j];
        m[pivot][j] = a, inverse[pivot][j] = b;
      }
      const double scale = 1 / m[c][c];
      for (int j = 0; j < n; ++j) m[c][j] *= scale, inverse[c][j] *= scale;
      for (int r = 0; r < n; ++r) {
        if (r == c) continue;
        const double factor = m[r][c];
        for (int j = 0; j < n; ++j) m[r][j] -= factor * m[c][j], inverse[r][j] -= factor * inverse[c][j];
      }
    }
    // The first unknown is the value (parity 0) or the slope (parity 1) at the face.
    for (int k = 0; k < n; ++k) (parity == 0 ? result.value : result.slope)[k] = 0.5 * inverse[0][k];
  }
  return result;
}

/// Weights of the recovery between cells of any half widths (the cell below the face, the one above):
/// r = sum_k value[0][k] l_k + value[1][k] r_k and dr/dv = sum_k slope[0][k] l_k + slope[1][k] r_k
/// (1/velocity).
struct FaceRecovery {
  double value[2][max_degree + 1]{}, slope[2][max_degree + 1]{};
};
[[nodiscard]] FaceRecovery recovery(int n, double lower_half, double upper_half);

/// recovery(n), n = 1 ... 4.
inline constexpr Recovery recoveries[] = {{}, recovery(1), recovery(2), recovery(3), recovery(4)};

}  // namespace quintet::kinetics
