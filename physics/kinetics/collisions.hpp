#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "physics/kinetics/distribution.hpp"
#include "physics/kinetics/species.hpp"

namespace quintet::kinetics {

struct CollisionOptions {
  enum class Operator { lenard_bernstein, bgk };
  Operator kind = Operator::lenard_bernstein;
  bool conserving =
      true;  ///< false: u = 0 and vth^2 = of the initial state (plain Lenard-Bernstein), for tests
  /// Frequency of each species with itself (0: none), and nu_sr of species s with r, [s][r].
  std::vector<std::vector<double>> frequency;
  /// nu scales with n_r/vth_s^3 relative to the given reference when set (Spitzer).
  bool spitzer = false;
  double reference_density = 1, reference_thermal_speed = 1;
};

/// Collisions of all species:
///
///     Lenard-Bernstein/Dougherty: C_s = sum_r nu_sr div_v [ (v - u_sr) f_s + vth_sr^2 grad_v f_s ]
///     BGK:                        C_s = sum_r nu_sr (M[n_s, u_sr, vth_sr] - f_s)
///
/// Discretised as in Hakim, Francisquez, Juno & Hammett, J. Plasma Phys. 86, 905860403 (2020): weak primitive
/// moments with the boundary corrections that conserve density, momentum and energy to round-off, recovery
/// for the diffusion; between species u_sr, vth_sr^2 as in Greene (1973), Francisquez et al. (2022): total
/// momentum and energy are conserved.
class Collisions {
 public:
  Collisions(const Decomposition& decomposition, const PhaseBasis& basis, const std::vector<Species>& species,
             const CollisionOptions& options);
  ~Collisions();
  Collisions(const Collisions&) = delete;

  /// out[s] += weight * C_s(f). Collective (moments are summed over velocity_comm, edges of velocity blocks
  /// are exchanged). Throws NumericalError naming species and place when a density or thermal speed is not
  /// positive.
  void add(const Exec& exec, const std::vector<Distribution>& f, double weight,
           const std::vector<Distribution>& out);
  /// Largest explicit rate of the last add() over all cells, to be added to the CFL frequency (the same
  /// meaning as sum_d |alpha_d|/dz_d: for diffusion the stable dt is about 1/((2p + 1) rate)). Collective.
  [[nodiscard]] double frequency() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet::kinetics
