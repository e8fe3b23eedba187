#pragma once

#include "physics/kernels/pack.hpp"
#include "physics/kinetics/fields/maxwell.hpp"
#include "physics/kinetics/space/conf_modes.hpp"

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

/// The components are worked on in packs as wide as the machine's vectors.
using FieldPack = Pack<double>;
inline constexpr int field_lanes = pack_width<double>;
static_assert(n_field % field_lanes == 0, "the eight components fill whole packs");

/// to[q n] = from[q]. Written out: as a loop it becomes a scatter instruction, several times as slow.
KOKKOS_INLINE_FUNCTION void store_components(const double* from, int n, double* to) {
  static_assert(n_field == 8);
  to[0] = from[0];
  to[n] = from[1];
  to[2 * n] = from[2];
  to[3 * n] = from[3];
  to[4 * n] = from[4];
  to[5 * n] = from[5];
  to[6 * n] = from[6];
  to[7 * n] = from[7];
}

/// out [8] = the state at the upper (side 1) or lower (0) face of a cell `u` [n_modes, 8]: face mode m.
KOKKOS_INLINE_FUNCTION void field_trace(const ConfModes& modes, int d, int side, int m, const double* u,
                                        double* out) {
  for (int q = 0; q < n_field; q += field_lanes) {
    FieldPack sum{};
    for (int k = 0; k < modes.length[d][m]; ++k)
      sum +=
          (side == 1 ? modes.end[k] : modes.start(k)) * load<double>(u + n_field * modes.line[d][m][k] + q);
    store<double>(out + q, sum);
  }
}

/// Pairs of fields that take the Riemann solution at a face.
enum class FaceFlux {
  central,  ///< none
  light,    ///< light waves, not what cleans
  upwind    ///< all
};

/// state [8] = what both cells see at a face: {U} (central), or the Riemann solution {U} - sign(A_d) [U]/2
/// (upwind), {U} = (lower + upper)/2, [U] = upper - lower.
KOKKOS_INLINE_FUNCTION void face_state(const MaxwellCoupling& coupling, int d, FaceFlux flux,
                                       const double* lower, const double* upper, double* state) {
  double jump[n_field];
  for (int q = 0; q < n_field; q += field_lanes) {
    const FieldPack below = load<double>(lower + q), above = load<double>(upper + q);
    store<double>(state + q, 0.5 * (below + above));
    store<double>(jump + q, 0.5 * (above - below));
  }
  if (flux == FaceFlux::central) return;
  for (int q = 0; q < n_field; ++q) {
    const int partner = coupling.partner[d][q];
    const bool cleans = q >= field_phi || partner >= field_phi;
    if (flux == FaceFlux::upwind || !cleans) state[q] -= coupling.sign[d][q] * jump[partner];
  }
}

/// derivative [8] = minus the weak derivative along d of all components, mode i, on [-1, 1]:
///
///     int phi_k' U dxi - phi_k(1) U*_upper + phi_k(-1) U*_lower
///
/// `u` [n_modes, 8], `lower` and `upper` [n_face, 8].
KOKKOS_INLINE_FUNCTION void weak_derivative(const ConfModes& modes, int d, int i, const double* u,
                                            const double* lower, const double* upper, double* derivative) {
  const int k = modes.degree[d][i], m = n_field * modes.face[d][i];
  for (int q = 0; q < n_field; q += field_lanes) {
    FieldPack sum = modes.start(k) * load<double>(lower + m + q) - modes.end[k] * load<double>(upper + m + q);
    for (int b = 0; b < (k + 1) / 2; ++b)
      sum += modes.slope[k][b] * load<double>(u + n_field * modes.below[d][i][b] + q);
    store<double>(derivative + q, sum);
  }
}

}  // namespace quintet::kinetics
