#pragma once

#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

/// Velocity moments as exact weak integrals: the DG coefficients of int g(v) f dv.
enum class Moment {
  m0,        ///< 1; one component
  m1,        ///< v_i; vdim components
  m2,        ///< v . v; one
  m3,        ///< (v . v) v_i; vdim
  m2_tensor  ///< v_i v_j, i <= j, row by row; vdim (vdim + 1)/2
};
[[nodiscard]] int n_components(Moment moment, int vdim);

/// out [n_conf, >= first + n_components, n_conf_modes]: components first ... of `out` are overwritten with
/// the sum over this rank's velocity cells; the caller sums over velocity_comm. No 1/2 and no mass. Modes of
/// f that do not contribute are not read.
void moments(const Exec& exec, const PhaseBasis& basis, const Distribution& f, Moment moment,
             const ConfField& out, int first = 0);

/// int f dz, int f^2 dz and the least cell mean over this rank's cells.
struct PhaseIntegrals {
  double particles = 0, l2 = 0, least_mean = 0, greatest_mean = 0;
  int least_conf = 0, least_row = 0, least_last = 0;  ///< where the least mean is
};
[[nodiscard]] PhaseIntegrals phase_integrals(const Exec& exec, const PhaseBasis& basis,
                                             const Distribution& f);

/// The weak product c with int w_i (c - a b) dx = 0: c_i = sum_jk C_ijk a_j b_k, component by component.
void weak_multiply(const Exec& exec, const Basis& conf, const ConfField& a, int component_a,
                   const ConfField& b, int component_b, const ConfField& c, int component_c);
/// The weak quotient c with b c = a weakly (a dense solve a cell).
void weak_divide(const Exec& exec, const Basis& conf, const ConfField& a, int component_a, const ConfField& b,
                 int component_b, const ConfField& c, int component_c);

}  // namespace quintet::kinetics
