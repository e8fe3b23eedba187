#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "physics/kinetics/collisions/collision_moments.hpp"
#include "physics/kinetics/collisions/collisions.hpp"
#include "physics/kinetics/collisions/exchange_cell.hpp"

namespace quintet::kinetics {

/// Collision rates and what species give each other, at Gauss points of the configuration cells.
///
/// With K = (m_s n_s nu_sr) (m_r n_r nu_rs)/(m_s n_s nu_sr + m_r n_r nu_rs) and U the velocity of the centre
/// of mass, (m_s u_s + m_r u_r)/(m_s + m_r), species s gains from r
///
///     momentum  -K (u_s - u_r),    energy  -K [U . (u_s - u_r) + vdim (T_s - T_r)/(m_s + m_r)]
///
/// (Morse, Phys. Fluids 6, 1420 (1963), for Maxwell molecules; K as in Greene, Phys. Fluids 16, 2022 (1973),
/// with beta = 0), or, with CollisionOptions::Exchange::mixture, what brings both to one Maxwellian of
/// velocity U_sr and temperature T_sr, each at its rate (Haack, Hauck & Murillo, J. Stat. Phys. 168, 826
/// (2017)):
///
///     U_sr = (m_s n_s nu_sr u_s + m_r n_r nu_rs u_r)/(m_s n_s nu_sr + m_r n_r nu_rs)
///     T_sr = [n_s nu_sr T_s + n_r nu_rs T_r + (m_s n_s nu_sr (u_s^2 - U_sr^2) + m_r n_r nu_rs (u_r^2 -
///            U_sr^2))/vdim]/(n_s nu_sr + n_r nu_rs) > 0.
///
/// Forces and the rate at which temperatures near are the same; heat of friction is shared out otherwise.
/// What one gains the other loses, number by number, so total momentum and energy are conserved to round-off.
/// T = m vth^2. The formulas are those of ExchangeCell.
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
  /// Compute as above in the memory that holds f, by action(tables, profiles): profiles [profile, n_conf,
  /// n_nodes] of time t, empty where those of the last call hold. Returns false where compute() would change
  /// nothing.
  template <class Action>
  bool compute_there(double t, const PhaseBlock& block, const std::vector<MomentGain>& gain,
                     const Action& action) {
    if (rates_are_known_) return false;
    rates_are_known_ = uniform() && !needs_states(gain);
    tables_.with_states = needs_states(gain);
    const bool fresh = evaluate_profiles(t, block);
    action(tables_, fresh ? std::span<const double>(profile_values_) : std::span<const double>());
    return true;
  }
  /// Throws compute()'s error for a configuration cell that was refused; the moments are on the host.
  void refuse(const PhaseBlock& block, const std::vector<CollisionMoments>& moments,
              const std::vector<DragDiffusion>& coefficients, const std::vector<MomentGain>& gain,
              int conf) const;
  /// Does species s collide with another one?
  [[nodiscard]] bool has_partner(int s) const;
  [[nodiscard]] bool collides(int s) const;
  /// Are all rates the same everywhere?
  [[nodiscard]] bool uniform() const { return !options_.spitzer && profiles_.empty(); }

  /// Are densities and temperatures needed, or are all rates given numbers?
  [[nodiscard]] bool needs_states(const std::vector<MomentGain>& gain) const;

 private:
  /// nu_sr at a Gauss point but for what follows the states: the number, times its profile.
  struct Profile {
    int s, r;
    PointFunction function;
  };
  void set_control_points(const Basis& conf);
  /// False where they are what they were.
  bool evaluate_profiles(double t, const PhaseBlock& block);
  [[nodiscard]] ExchangeCell cell(const std::vector<CollisionMoments>& moments,
                                  const std::vector<DragDiffusion>& coefficients,
                                  const std::vector<MomentGain>& gain) const;

  int cdim_;
  ExchangeTables tables_;
  std::vector<std::array<double, 3>> nodes_;
  std::vector<Profile> profiles_;
  std::vector<double> profile_values_;                         ///< [profile, n_conf, n_nodes]
  bool profiles_are_known_ = false, rates_are_known_ = false;  ///< the latter: for good
  std::vector<std::string> names_;
  CollisionOptions options_;
};

}  // namespace quintet::kinetics
