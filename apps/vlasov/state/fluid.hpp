#pragma once

#include "apps/vlasov/setup/setup.hpp"

namespace quintet::vlasov {

/// Moments of a species and what is made of them by weak products, each [n_conf, components, n_modes].
struct Fluid {
  kinetics::ConfField m0, m1, m2, m3;  ///< int f, int v_i f, int v.v f, int v.v v_i f dv
  kinetics::ConfField velocity;        ///< u: n u = M1 weakly
  kinetics::ConfField temperature;     ///< T = m (M2 - u.M1)/(vdim n), the mean of those below
  kinetics::ConfField temperatures;    ///< T_i = P_ii/n of each velocity direction
  kinetics::ConfField pressure;        ///< P_ij = m int (v_i - u_i)(v_j - u_j) f dv, i <= j, row by row
  kinetics::ConfField heat_flux;       ///< q_i = m/2 int |v - u|^2 (v_i - u_i) f dv
};

/// Collective.
[[nodiscard]] Fluid fluid_of(const Exec& exec, const Setup& setup, kinetics::VlasovSystem& system, int s);

}  // namespace quintet::vlasov
