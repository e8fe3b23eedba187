#pragma once

#include <array>
#include <span>
#include <vector>

#include "surrogates/flow/evaluation/rectilinear_grid.hpp"

namespace quintet::flow {

/// Indices of the fields of a series that make up a flow; -1: absent.
struct FlowFields {
  std::array<int, 2> velocity = {-1, -1};  ///< component along each axis of space
  int scalar = -1;                         ///< what is carried: buoyancy, temperature
};

/// Numbers of the flow, in the units of its fields.
struct FlowConstants {
  double viscosity = 0;    ///< nu; R of convection in free-fall units
  double diffusivity = 0;  ///< of the scalar; P of convection in free-fall units
};

/// A frame of a flow in numbers. NaN where it is not defined: no scalar, no periodic axis, walls not heated.
///
/// Means <> are over the whole area between the walls, by quadrature on the grid as it is; u_a is the
/// component along axis a.
struct FlowSample {
  double kinetic_energy = 0;      ///< E = <u_a u_a>/2
  double strain_dissipation = 0;  ///< 2 nu <S_ab S_ab>, S the symmetric part of grad u
  double dissipation = 0;         ///< eps_u = nu <|grad u|^2>: the same where div u = 0 and walls do not slip
  double energy_over_wavenumber =
      0;                          ///< sum over k > 0 of E(k)/k along the periodic axis, mean over the other
  double rms_divergence = 0;      ///< sqrt(<(d_a u_a)^2>)
  double scalar_dissipation = 0;  ///< eps_b = P <|grad b|^2>
  double nusselt_volume =
      0;  ///< 1 + <u_h b> L/(P D): heated along axis h, L its length, D = b_lower - b_upper
  double nusselt_lower = 0;        ///< -<d_h b> L/D at the lower end of h
  double nusselt_upper = 0;        ///< the same at the upper end
  double velocity_wall_error = 0;  ///< rms over walls with known velocity of (component - its value there)
  double scalar_wall_error = 0;    ///< the same for the scalar
};

/// Compute the statistics of a frame.
///
/// @param fields one span [n_0, n_1] a field of the series
/// @param walls [field][axis] what is known at the ends of the axes
/// Throws InputError if a component of the velocity is missing or is not a field.
[[nodiscard]] FlowSample flow_sample(const RectilinearGrid& grid,
                                     const std::vector<std::span<const double>>& fields,
                                     const std::vector<FieldWalls>& walls, const FlowFields& roles,
                                     const FlowConstants& constants);

/// div u of a frame, [n_0, n_1], by finite differences. Arguments as those of flow_sample().
[[nodiscard]] std::vector<double> divergence(const RectilinearGrid& grid,
                                             const std::vector<std::span<const double>>& fields,
                                             const std::vector<FieldWalls>& walls, const FlowFields& roles);

/// Constants of isotropic turbulence in the nine statistics:
///   u_rms^2 = a E,  lambda^2 = b nu u_rms^2/eps,  L = c/u_rms^2 sum E(k)/k.
struct TurbulenceConstants {
  double energy, taylor, integral;
};
/// Constants in three dimensions, as in the paper (Jiang et al. 2020, appendix).
inline constexpr TurbulenceConstants space_turbulence = {2.0 / 3, 15, 1.5707963267948966};
/// Constants in two dimensions: <u_i u_j> isotropic in the plane gives eps = 8 nu u_rms^2/lambda^2, and
/// int J_1(k r)/(k r) dr = 1/k gives L = 2/u_rms^2 int E(k)/k dk.
inline constexpr TurbulenceConstants plane_turbulence = {1, 8, 2};

/// One of the paper's nine statistics of a frame.
struct TurbulenceStatistic {
  const char* key;   ///< "taylor_length"
  const char* sign;  ///< "lambda"
  const char* text;  ///< "Taylor's length sqrt(15 nu/eps) u_rms"
  double (*value)(const FlowSample& sample, double viscosity, const TurbulenceConstants& constants);
};
[[nodiscard]] const std::array<TurbulenceStatistic, 9>& turbulence_statistics();

/// Further statistics of a frame, one row a member of FlowSample.
struct BalanceStatistic {
  const char* key;
  const char* text;
  double FlowSample::*value;
};
[[nodiscard]] const std::vector<BalanceStatistic>& balance_statistics();

}  // namespace quintet::flow
