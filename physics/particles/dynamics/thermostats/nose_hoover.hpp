#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "physics/particles/dynamics/coupling.hpp"
#include "physics/particles/dynamics/thermostats/cell_thermostat.hpp"

namespace quintet {

/// Nose-Hoover chain: Martyna, Tuckerman, Tobias & Klein (1996), Mol. Phys. 87, 1117.
///
/// Masses Q_1 = N_f kT tau^2, Q_k = kT tau^2 with the first step's T; each half step is split by Suzuki and
/// Yoshida's three weights. `energy` is sum_k Q_k w_k^2 / 2 + N_f kT eta_1 + kT sum_{k>1} eta_k (its
/// integral, if T changes).
class NoseHooverChain : public Coupling {
 public:
  NoseHooverChain(double relaxation_time, int length, double initial_kt);
  void before(const Exec& exec, ParticleSystem& system, const Tick& tick) override {
    half_step(exec, system, tick);
  }
  void after(const Exec& exec, ParticleSystem& system, const Tick& tick) override {
    half_step(exec, system, tick);
  }
  [[nodiscard]] std::vector<double> state() const override;
  void restore(std::span<const double> state) override;
  /// Half a step for anything with a kinetic energy (eV) in `degrees` degrees of freedom, such as a cell;
  /// returns the factor on its velocities.
  [[nodiscard]] double thermalise(double dt, double kt, double degrees, double kinetic);

 private:
  void half_step(const Exec& exec, ParticleSystem& system, const Tick& tick);
  /// Half a step of length h (ps) for chain and kinetic energy; returns the factor on the velocities.
  double advance(double h, double kt, double& kinetic);
  [[nodiscard]] double mass(std::size_t k) const;
  /// (force on thermostat k) / Q_k (1/ps^2).
  [[nodiscard]] double acceleration(std::size_t k, double kt, double kinetic) const;

  double relaxation_time_;
  double initial_kt_;
  std::vector<double> rate_;  ///< w_k = d eta_k / dt (1/ps)
  double potential_ = 0;      ///< N_f kT eta_1 + kT sum_{k>1} eta_k (eV)
  double degrees_ = 0;        ///< N_f as of the last step
};

/// A chain of its own for a cell with inertia.
class CellNoseHoover : public CellThermostat {
 public:
  CellNoseHoover(double relaxation_time, int length, double initial_kt)
      : chain_(relaxation_time, length, initial_kt) {}
  void before(CellMotion& cell, const Tick& tick) override { half_step(cell, tick); }
  double after(CellMotion& cell, const Tick& tick) override {
    half_step(cell, tick);
    return 0;
  }
  [[nodiscard]] double energy() const override { return chain_.energy(); }
  [[nodiscard]] std::vector<double> state() const override { return chain_.state(); }
  void restore(std::span<const double> state) override { chain_.restore(state); }

 private:
  void half_step(CellMotion& cell, const Tick& tick);
  NoseHooverChain chain_;
};

}  // namespace quintet
