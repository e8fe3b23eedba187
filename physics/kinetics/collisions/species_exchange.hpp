#pragma once

#include <array>
#include <string>
#include <vector>

#include "physics/kinetics/collisions/collision_moments.hpp"
#include "physics/kinetics/collisions/collisions.hpp"

namespace quintet::kinetics {

/// Collision rates and what species give each other, at Gauss points of the configuration cells.
///
/// With K = (m_s n_s nu_sr) (m_r n_r nu_rs)/(m_s n_s nu_sr + m_r n_r nu_rs) and U the velocity of the centre
/// of mass, (m_s u_s + m_r u_r)/(m_s + m_r), species s gains from r
///
///     momentum  -K (u_s - u_r),    energy  -K [U . (u_s - u_r) + vdim (T_s - T_r)/(m_s + m_r)]
///
/// (Morse, Phys. Fluids 6, 1420 (1963), for Maxwell molecules; K as in Greene, Phys. Fluids 16, 2022 (1973),
/// with beta = 0). What one gains the other loses, number by number, so total momentum and energy are
/// conserved to round-off. T = m vth^2.
class SpeciesExchange {
 public:
  SpeciesExchange(const PhaseBasis& basis, const std::vector<Species>& species,
                  const CollisionOptions& options);

  /// A_s = sum_r nu_sr at time t into component 0 of coefficients[s], and the gains (where gain[s] is not
  /// empty). Where a profile's projection undershoots 0, its modes but the mean are scaled until it does not.
  /// Throws NumericalError for a density or temperature that is not positive at a Gauss point and is needed,
  /// InputError for a profile that is negative or not finite there.
  void compute(const Exec& exec, double t, const PhaseBlock& block,
               const std::vector<CollisionMoments>& moments, const std::vector<DragDiffusion>& coefficients,
               const std::vector<MomentGain>& gain);
  /// Does species s collide with another one?
  [[nodiscard]] bool has_partner(int s) const;
  [[nodiscard]] bool collides(int s) const;
  /// Are all rates the same everywhere?
  [[nodiscard]] bool uniform() const { return !options_.spitzer && profiles_.empty(); }

  /// Are densities and temperatures needed, or are all rates given numbers?
  [[nodiscard]] bool needs_states(const std::vector<MomentGain>& gain) const;

 private:
  struct State {
    double density = 0, thermal_square = 0;
    std::array<double, 3> drift{};
    [[nodiscard]] bool is_positive() const { return density > 0 && thermal_square > 0; }
  };
  [[nodiscard]] State state(const CollisionMoments& moments, int conf, int node) const;
  /// nu_sr at a Gauss point but for what follows the states: the number, times its profile.
  struct Profile {
    int s, r;
    PointFunction function;
    std::vector<double> values;  ///< [n_conf, n_nodes]
  };
  void set_control_points(const Basis& conf);
  void evaluate_profiles(double t, const PhaseBlock& block);
  [[nodiscard]] double rate(int s, int r, int conf, int node, const std::vector<State>& states) const;
  /// Add the projection of x at a Gauss point.
  void project(int node, double x, const ConfField& field, int conf, int component) const;
  void keep_positive(const ConfField& field, int conf) const;
  void exchange(int node, int s, int r, const std::vector<State>& states, int conf,
                const std::vector<MomentGain>& gain) const;
  [[nodiscard]] bool compute_cell(int conf, const std::vector<CollisionMoments>& moments,
                                  const std::vector<DragDiffusion>& coefficients,
                                  const std::vector<MomentGain>& gain) const;

  int vdim_, cdim_, n_conf_modes_, n_nodes_ = 1;
  double constant_ = 1;          ///< the value of the constant basis function
  std::vector<double> values_;   ///< [n_nodes, n_conf_modes] of the basis
  std::vector<double> weights_;  ///< [n_nodes]
  std::vector<std::array<double, 3>> nodes_;
  std::vector<double> control_;  ///< [points, n_conf_modes]: of the basis, where rates may not be negative
  std::vector<Profile> profiles_;
  bool profiles_are_known_ = false, rates_are_known_ = false;  ///< the latter: for good
  std::vector<double> masses_;
  std::vector<std::string> names_;
  CollisionOptions options_;
};

}  // namespace quintet::kinetics
