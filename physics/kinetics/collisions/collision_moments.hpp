#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "physics/kinetics/collisions/collision_tables.hpp"
#include "physics/kinetics/collisions/lenard_bernstein.hpp"
#include "physics/kinetics/moments/moment_sweep.hpp"
#include "physics/kinetics/space/conf_products.hpp"

namespace quintet::kinetics {

/// Momentum and energy that a species gains from the others, a mass: [n_conf, vdim + 1, n_conf_modes],
/// component d: dM1_d/dt, vdim: (dM2/dt)/2.
using MomentGain = ConfField;

/// The moments of one species from which its collision operator takes u and vth^2.
class CollisionMoments {
 public:
  /// Components that are summed: M0, M1 and M2. With `for_drag`, for which solve() is called, also the terms
  /// at the ends of velocity space.
  [[nodiscard]] static std::vector<FunctionalSum> components(const PhaseBasis& basis, bool for_drag);
  /// `sums`: of these components. Star moments need equal cells.
  CollisionMoments(const PhaseBasis& basis, const PhaseBlock& block, bool for_drag,
                   std::unique_ptr<MomentSums> sums);

  /// Where they stand among the components for drag.
  [[nodiscard]] static DragPlaces places(const PhaseBasis& basis);

  /// Sum up over velocity space. Collective over `velocity_comm`. `read_here`: as density() and the like say
  /// them; else only where f is.
  void compute(const Exec& exec, const Comm& velocity_comm, const Distribution& f, bool read_here = true);

  /// B and D of `coefficients`, given A (component 0) and the gain (empty data: none), such that the discrete
  /// operator changes the moments by just this gain: with W(a) the matrix of the weak product with a,
  ///
  ///     W(M0) B_d          - W(F_d) D = W(A) M1_d + gain_d
  ///     sum_d W(P_d) B_d   + W(G) D   = W(A) E + gain_vdim
  ///
  /// F_d = int [f] dv' at the ends of v_d; where v^2 is in the basis P_d = M1_d, E = M2 and G = vdim M0 -
  /// sum_d int [v_d f] dv'; else the star moments of velocity_weights.hpp. Without collisions of its own (A =
  /// 0) all stays 0. Hakim et al. (2020), equations 2.12 and 3.30. Throws NumericalError for M0 or D not
  /// positive.
  void solve(const Exec& exec, const PhaseBlock& block, const ConfProducts& products, const MomentGain& gain,
             const std::string& species, const DragDiffusion& coefficients) const;

  /// To be called before density() and the like where the last compute() left them where f is.
  void fetch() const { sweep_->fetch(sums_); }
  /// Throws solve()'s error for a configuration cell that a solve() elsewhere refused.
  [[noreturn]] void refuse(const PhaseBlock& block, const ConfProducts& products, const std::string& species,
                           const DragDiffusion& coefficients, int conf) const;

  [[nodiscard]] const double* density(int conf) const { return &sums_(conf, 0, 0); }
  /// Numbers of one configuration cell, from density() on.
  [[nodiscard]] std::ptrdiff_t size_of_cell() const { return sums_.extent(1) * sums_.extent(2); }
  [[nodiscard]] const double* momentum(int conf, int d) const { return &sums_(conf, 1 + d, 0); }
  [[nodiscard]] const double* energy(int conf) const { return &sums_(conf, 1 + vdim_, 0); }  ///< M2

 private:
  [[nodiscard]] bool solve_cell(int conf, const ConfProducts& products, const MomentGain& gain,
                                const DragDiffusion& coefficients) const;

  int vdim_;
  DragPlaces places_;
  std::unique_ptr<MomentSums> sweep_;
  ConfField sums_;
};

/// "configuration cell (3, 0) at x = (0.4, 0.1)", for messages.
[[nodiscard]] std::string describe_place(const PhaseBlock& block, int conf);

}  // namespace quintet::kinetics
