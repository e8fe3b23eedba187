#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "physics/kinetics/basis/gauss_rule.hpp"
#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics {

/// A function of position x [cdim] (or of phase space z = (x, v)); must be callable from one thread at a
/// time.
using PointFunction = std::function<double(std::span<const double>)>;

/// L2 projection of a function of x on component `component` of `out`, by n_nodes Gauss points a direction
/// (0: order + 1, as Gkeyll; a hybrid basis 3 in v). Exact for functions in the basis. Throws InputError
/// naming `what` and the place where the function is not finite.
void project_conf(const PhaseBlock& block, const Basis& conf, const PointFunction& function,
                  const ConfField& out, int component, const std::string& what, int n_nodes = 0);
/// L2 projection of a function of (x, v).
void project_phase(const PhaseBasis& basis, const PointFunction& function, const Distribution& out,
                   const std::string& what, int n_nodes = 0);

/// int f dz over every `stride`-th configuration cell of this rank, by the Gauss points that project_phase()
/// takes with n_nodes: so many particles a projection has.
[[nodiscard]] double projected_particles(const PhaseBasis& basis, const PointFunction& function,
                                         const PhaseBlock& block, const std::string& what, int n_nodes,
                                         int stride);

/// A drifting (bi-)Maxwellian n(x)/(2 pi)^(vdim/2) prod_d [1/vth_d exp(-(v_d - u_d)^2/(2 vth_d^2))].
struct MaxwellianProfile {
  PointFunction density;
  std::array<PointFunction, 3> drift;          ///< empty: 0
  std::array<PointFunction, 3> thermal_speed;  ///< sqrt(T_d/m), one a velocity direction
};
/// Add the Maxwellian to `out` by Gauss projection, with more nodes in v where velocity cells are wide for
/// the thermal speed. With `exact_moments` it is then corrected: the weak moments M0, M1 and M2 of each
/// direction equal the projections of n, n u_d and n (u_d^2 + vth_d^2) to round-off. Warns of a correction
/// above 20 % of the greatest cell mean, and of a velocity box that holds less than 99 %. Collective over
/// comm(). Throws InputError with the place, the same on all ranks, if the density is negative or not finite,
/// the thermal speed not positive, the box holds less than half of the Maxwellian, or cells are too wide to
/// have its moments.
void add_maxwellian(const Decomposition& decomposition, const PhaseBasis& basis,
                    const MaxwellianProfile& profile, bool exact_moments, const Distribution& out,
                    const std::string& what, int n_nodes = 0);

}  // namespace quintet::kinetics
