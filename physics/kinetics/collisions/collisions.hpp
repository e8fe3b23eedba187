#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/space/distribution.hpp"
#include "physics/kinetics/space/species.hpp"

namespace quintet::kinetics {

struct CollisionOptions {
  enum class Operator { lenard_bernstein, bgk };
  Operator kind = Operator::lenard_bernstein;
  /// false (Lenard-Bernstein alone): u = 0 and a fixed vth^2, M2/(vdim M0) of the whole domain when add() is
  /// first called; keeps density only. For tests against theory.
  bool conserving = true;
  /// How species share out energy: as Maxwell molecules do, or by nearing one Maxwellian of the pair, which
  /// is positive always (see SpeciesExchange).
  enum class Exchange { molecules, mixture };
  Exchange exchange = Exchange::molecules;
  /// Frequency of each species with itself (0: none), and nu_sr of species s with r, [s][r]; nu_sr and nu_rs
  /// are both zero or both positive.
  std::vector<std::vector<double>> frequency;
  /// nu_sr is multiplied by this function of (x, t), [s][r], where it is set: finite, not negative. Empty:
  /// none.
  std::vector<std::vector<PointFunction>> profile;
  /// Collisions act alone for half a step before and after a Runge-Kutta step (advance()), not in its stages.
  bool split = false;
  bool profile_changes = false;  ///< with t; else it is evaluated once
  /// nu_sr is multiplied by n_r/n_ref (vth_ref/vth_s)^3, a function of x, when set (Spitzer).
  bool spitzer = false;
  double reference_density = 1, reference_thermal_speed = 1;
};

class CollisionEngines;

/// Collisions of all species:
///
///     Lenard-Bernstein/Dougherty: C_s = sum_r nu_sr div_v [ (v - u_sr) f_s + vth_sr^2 grad_v f_s ]
///     BGK:                        C_s = (sum_r nu_sr) (M[n_s, u_s', vth_s'] - f_s)
///
/// Discretised as in Hakim, Francisquez, Juno & Hammett, J. Plasma Phys. 86, 905860403 (2020): weak primitive
/// moments with the boundary corrections that conserve density, momentum and energy of each configuration
/// cell to round-off, recovery for the diffusion. Bases without v^2 (order 1 but hybrid) conserve them as
/// well, with the continuous, piecewise linear stand-in for v^2 of that paper: its sum differs from M2 by M0
/// times a constant.
///
/// Between species momentum and energy are exchanged as by Maxwell molecules, with the strength of Greene
/// (1973) for beta = 0 (see SpeciesExchange); sum_r nu_sr u_sr and sum_r nu_sr vth_sr^2, or the u' and vth'
/// of the one Maxwellian of BGK (Andries, Aoki & Perthame, 2002), are those that make the discrete operator
/// bring about just that exchange: total momentum and energy are conserved to round-off, on grids of their
/// own. Frequencies that vary in x are projected on the configuration basis and enter by weak products, which
/// is all that these conservation laws need.
class Collisions {
 public:
  Collisions(const Decomposition& decomposition, const PhaseBasis& basis, const std::vector<Species>& species,
             const CollisionOptions& options);
  /// Collide an f outside the host's memory, in that of `engines`.
  Collisions(const Decomposition& decomposition, const PhaseBasis& basis, const std::vector<Species>& species,
             const CollisionOptions& options, std::unique_ptr<CollisionEngines> engines);
  ~Collisions();
  Collisions(const Collisions&) = delete;

  /// out[s] += weight * C_s(f) with the frequencies of time t. Collective (moments are summed over
  /// velocity_comm, edges of velocity blocks are exchanged). Throws NumericalError naming species and place
  /// when a density or thermal speed is not positive, or InputError (constructor) for frequencies that make
  /// no sense.
  void add(const Exec& exec, double t, const std::vector<Distribution>& f, double weight,
           const std::vector<Distribution>& out);
  /// f <- the solution of df/dt = C(f) after a time dt, with the frequencies of time t; any dt is stable.
  ///
  /// BGK of species that do not collide with each other leaves their moments and so its Maxwellian M alone:
  /// f <- f + (1 - exp(-A dt)) (M - f), exact. All else by as many super time steps as are stable: RKL2
  /// of second order (Meyer, Balsara & Aslam, J. Comput. Phys. 257, 594 (2014)), 2.7 times fewer
  /// evaluations than SSP-RK3 takes. Both conserve as add() does. `work`: as large as f, where n_work() asks
  /// for it; what is in it is overwritten. Collective.
  using Work = std::array<const std::vector<Distribution>*, 3>;
  void advance(const Exec& exec, double t, double dt, const std::vector<Distribution>& f, const Work& work);
  /// How many lists of distributions advance() works on besides f: 0 or 3.
  [[nodiscard]] static int n_work(const CollisionOptions& options);
  /// Largest explicit rate over all cells of what add() with this f and t would add, to be added to the CFL
  /// frequency: the same meaning as sum_d |alpha_d|/dz_d, SSP-RK3 with dt = 1/((2p + 1) rate) is stable.
  /// Lenard-Bernstein: sum_d of max|nu (v_d - u_d)|/dv_d (times what upwind DG takes beyond 2p + 1 there: 1.6
  /// for hybrid, 1.1 for p = 3) and c nu vth^2/dv_d^2, c = 2.0, 3.4, 6.7 for p = 1, 2, 3, 5.7 for hybrid;
  /// from the spectrum of the operator. BGK: nu/(2.51 (2p + 1)). Collective.
  [[nodiscard]] double frequency(const Exec& exec, double t, const std::vector<Distribution>& f);
  /// Frequency of the last add() or frequency(). Collective.
  [[nodiscard]] double frequency() const;

 private:
  void super_step(const Exec& exec, double t, double dt, const std::vector<Distribution>& f,
                  const Work& work);

  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet::kinetics
