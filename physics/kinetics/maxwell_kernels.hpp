#pragma once

#include "physics/kinetics/conf_modes.hpp"
#include "physics/kinetics/maxwell.hpp"

/// The formulas of Maxwell's DG scheme at one face and in one cell. All eight components are worked on side
/// by side: the state lies as [cell, mode, component].
namespace quintet::kinetics {

/// The coupling matrices A_d of U_t + sum_d A_d U_(x_d) = S. Each row has one entry: along d, with (d, e, f)
/// cyclic, the components couple in four pairs, each of which is a wave of its own in both ways:
///
///     (E_e, B_f), (-E_f, B_e): speed c      (E_d, phi): speed chi_e c      (psi, B_d): speed chi_m c
///
/// sign(A_d), which has the eigenvectors of A_d and eigenvalues +-1, couples the same pairs, whatever chi is.
struct MaxwellCoupling {
  int partner[3][n_field];         ///< the column of the one entry of row q
  double coefficient[3][n_field];  ///< A_d
  double sign[3][n_field];         ///< sign(A_d)

  MaxwellCoupling(double c, double chi_e, double chi_m) {
    for (int d = 0; d < 3; ++d) {
      const int e = (d + 1) % 3, f = (d + 2) % 3;
      set(d, field_ex + e, field_bx + f, c * c, 1, c);
      set(d, field_ex + f, field_bx + e, -c * c, -1, c);
      set(d, field_ex + d, field_phi, chi_e * c * c, chi_e, c);
      set(d, field_psi, field_bx + d, chi_m * c * c, chi_m, c);
    }
  }

 private:
  /// a_t + forward b_x = 0, b_t + back a_x = 0.
  void set(int d, int a, int b, double forward, double back, double c) {
    const double direction = back < 0 ? -1 : 1;
    partner[d][a] = b;
    partner[d][b] = a;
    coefficient[d][a] = forward;
    coefficient[d][b] = back;
    sign[d][a] = direction * c;
    sign[d][b] = direction / c;
  }
};

/// out [8] = the state at the upper (side 1) or lower (0) face of a cell `u` [n_modes, 8]: face mode m.
KOKKOS_INLINE_FUNCTION void field_trace(const ConfModes& modes, int d, int side, int m,
                                        const double* KOKKOS_RESTRICT u, double* KOKKOS_RESTRICT out) {
  for (int q = 0; q < n_field; ++q) out[q] = 0;
  for (int k = 0; k < modes.length[d][m]; ++k) {
    const double value = side == 1 ? modes.end[k] : modes.start(k);
    const double* KOKKOS_RESTRICT line = u + n_field * modes.line[d][m][k];
    for (int q = 0; q < n_field; ++q) out[q] += value * line[q];
  }
}

/// state [8] = what both cells see at a face: {U} (central), or the Riemann solution {U} - sign(A_d) [U]/2
/// (upwind), {U} = (lower + upper)/2, [U] = upper - lower.
KOKKOS_INLINE_FUNCTION void face_state(const MaxwellCoupling& coupling, int d, bool upwind,
                                       const double* KOKKOS_RESTRICT lower,
                                       const double* KOKKOS_RESTRICT upper, double* KOKKOS_RESTRICT state) {
  for (int q = 0; q < n_field; ++q) state[q] = 0.5 * (lower[q] + upper[q]);
  if (!upwind) return;
  double jump[n_field];
  for (int q = 0; q < n_field; ++q) jump[q] = 0.5 * (upper[q] - lower[q]);
  for (int q = 0; q < n_field; ++q) state[q] -= coupling.sign[d][q] * jump[coupling.partner[d][q]];
}

/// derivative [8] = minus the weak derivative along d of all components, mode i, on [-1, 1]:
///
///     int phi_k' U dxi - phi_k(1) U*_upper + phi_k(-1) U*_lower
///
/// `u` [n_modes, 8], `lower` and `upper` [n_face, 8].
KOKKOS_INLINE_FUNCTION void weak_derivative(const ConfModes& modes, int d, int i,
                                            const double* KOKKOS_RESTRICT u,
                                            const double* KOKKOS_RESTRICT lower,
                                            const double* KOKKOS_RESTRICT upper,
                                            double* KOKKOS_RESTRICT derivative) {
  const int k = modes.degree[d][i], m = modes.face[d][i];
  const double at_lower = modes.start(k), at_upper = modes.end[k];
  for (int q = 0; q < n_field; ++q)
    derivative[q] = at_lower * lower[n_field * m + q] - at_upper * upper[n_field * m + q];
  for (int b = 0; b < (k + 1) / 2; ++b) {
    const double slope = modes.slope[k][b];
    const double* KOKKOS_RESTRICT below = u + n_field * modes.below[d][i][b];
    for (int q = 0; q < n_field; ++q) derivative[q] += slope * below[q];
  }
}

}  // namespace quintet::kinetics
