#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "physics/particles/dynamics/dynamics.hpp"

namespace quintet {

/// What a bath is told at each step.
struct Tick {
  std::int64_t step;  ///< the step that begins
  double dt;          ///< (ps)
  double kt;          ///< target temperature (eV)
  double pressure;    ///< target pressure (eV/angstrom^3)
};

/// A bath coupled to the atoms: acts before the first kick, in the middle of the drift, after the last kick
/// of a step.
class Coupling {
 public:
  virtual ~Coupling() = default;
  virtual void before(const Exec&, ParticleSystem&, const Tick&) {}
  virtual void middle(const Exec&, ParticleSystem&, const Tick&) {}
  virtual void after(const Exec&, ParticleSystem&, const Tick&) {}
  [[nodiscard]] virtual bool conserves_momentum() const { return true; }
  /// Energy (eV) that the bath has taken from the atoms so far (plus its own, if it has inertia).
  [[nodiscard]] double energy() const { return energy_; }
  /// State for a checkpoint, of a size fixed by the options.
  [[nodiscard]] virtual std::vector<double> state() const { return {energy_}; }
  virtual void restore(std::span<const double> state) { energy_ = state[0]; }

 protected:
  double energy_ = 0;
};

/// Friction and noise, the O of BAOAB: v = c v + sqrt((1 - c^2) kT / m) xi, c = exp(-friction dt).
///
/// Leimkuhler & Matthews (2013), Appl. Math. Res. Express 2013, 34; heat is counted as the change of kinetic
/// energy.
class LangevinBath : public Coupling {
 public:
  LangevinBath(double friction, std::uint64_t seed) : friction_(friction), seed_(seed) {}
  void middle(const Exec& exec, ParticleSystem& system, const Tick& tick) override;
  [[nodiscard]] bool conserves_momentum() const override { return false; }

 private:
  double friction_;  ///< (1/ps)
  std::uint64_t seed_;
};

/// Stochastic velocity rescaling: Bussi, Donadio & Parrinello (2007), J. Chem. Phys. 126, 014101, eq. A7.
class VelocityRescaling : public Coupling {
 public:
  VelocityRescaling(double relaxation_time, std::uint64_t seed)
      : relaxation_time_(relaxation_time), seed_(seed) {}
  void after(const Exec& exec, ParticleSystem& system, const Tick& tick) override;

 private:
  double relaxation_time_;  ///< (ps)
  std::uint64_t seed_;
};

/// Factor on the velocities that moves the kinetic energy K by a step of its own stochastic dynamics to the
/// canonical distribution with mean `target` (eV) and n degrees of freedom; c = exp(-dt / tau). Bussi et al.
/// (2007), eq. A7.
[[nodiscard]] double rescaling_factor(double kinetic, double target, double n, double c, double normal,
                                      double chi_square);

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

}  // namespace quintet
