#pragma once

#include <cstdint>

#include "physics/particles/dynamics/coupling.hpp"
#include "physics/particles/dynamics/dynamics_options.hpp"

namespace quintet {

/// Stochastic cell rescaling: Bernetti & Bussi (2020), J. Chem. Phys. 153, 114107.
///
/// Isotropic, eps = ln V:  d eps = -(beta / tau) (P0 - P) dt + sqrt(2 kT beta / (V tau)) dW; every length
/// scales by exp(d eps / 3), velocities by its inverse. Anisotropic, eps_k = ln L_k with the pressure P_kk of
/// its own direction: d eps_k = -(beta / (3 tau)) (P0 - P_kk) dt + sqrt(2 kT beta / (3 V tau)) dW_k, which
/// samples the measure dL_x dL_y dL_z exp(-(H + P0 V) / kT), so that V is distributed as with isotropic
/// scaling. P is the pressure at the step's start, noise enters by Ito's rule (Euler-Maruyama).
///
/// `energy` is minus the work done on the atoms: the change of kinetic energy by scaling, exactly, and
/// -sum_k W_kk d eps_k for the potential energy with the mean virial W of the step's two ends. (The paper
/// reports an effective enthalpy instead; for dt -> 0 the two drifts are the same.)
class CellRescaling : public Coupling {
 public:
  /// compressibility beta (angstrom^3/eV), relaxation_time tau (ps).
  CellRescaling(CellCoupling coupling, double compressibility, double relaxation_time, std::uint64_t seed);
  /// Chooses the strain. Throws NumericalError if a direction would change by a tenth or more in one step.
  void before(const Exec& exec, ParticleSystem& system, const Tick& tick) override;
  void middle(const Exec& exec, ParticleSystem& system, const Tick& tick) override;  ///< apply it
  void after(const Exec& exec, ParticleSystem& system,
             const Tick& tick) override;  ///< finish the account of work

 private:
  CellCoupling coupling_;
  double compressibility_, relaxation_time_;
  std::uint64_t seed_;
  Vec3 strain_{};               ///< eps_k of the step; lives within a step only
  double first_half_work_ = 0;  ///< (eV) likewise
};

/// Strain of the three directions in a step: the equations of CellRescaling.
/// pressure: xx yy zz (eV/angstrom^3), mobility beta dt / tau (angstrom^3/eV), volume (angstrom^3), normal:
/// three numbers.
[[nodiscard]] Vec3 cell_strain(CellCoupling coupling, const Vec3& pressure, double target, double mobility,
                               double kt, double volume, const Vec3& normal);

}  // namespace quintet
