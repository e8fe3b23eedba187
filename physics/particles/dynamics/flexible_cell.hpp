#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "physics/particles/dynamics/dynamics_options.hpp"
#include "physics/particles/dynamics/thermostats/nose_hoover.hpp"

namespace quintet {

/// What a cell with inertia is told.
struct FlexibleCellOptions {
  CellCoupling coupling = CellCoupling::isotropic;
  std::array<bool, 3> axes{true, true, true};  ///< Cartesian directions that move
  std::optional<SymmetricTensor>
      pressure{};              ///< target tensor (eV/angstrom^3); absent: that of the Tick, alike
  double relaxation_time = 1;  ///< tau (ps)
  double inertia_kt = 0;       ///< kT in the cell's mass (eV)
  std::optional<NptThermostat> thermostat{};  ///< of the cell; absent: none (nph)
  int chain_length = 3;
};

/// A cell with inertia: Martyna, Tobias & Klein (1994), J. Chem. Phys. 101, 4177, with the strain rate nu
/// (1/ps) kept symmetric, so that the cell does not turn:
///
///   dr/dt = v + r nu,  dh/dt = h nu,  m dv/dt = F - m v (nu + Tr nu / N_f),
///   W dnu/dt = [2 K + virial - V P0 + (2 Tr K / N_f) 1]_allowed,  W = (N_f + 3) kT tau^2 / 3.
///
/// [ ] projects on what may move: the mean of the diagonal (isotropic), the diagonal (anisotropic) or the
/// whole symmetric tensor (triclinic), of the chosen axes. Conserved: K + U + W |nu|^2 / 2 + int V P0:nu dt
/// (for a hydrostatic P0: P0 (V - V0)), and what the cell's thermostat holds; the integral over a step is
/// exact. Each step is a palindrome of exact flows (thermostat, nu, velocities, positions and cell, ...):
/// second order, time-reversible without noise. The cell's thermostat: a Nose-Hoover chain of its own, or
/// friction 1/tau and noise.
class FlexibleCell : public Coupling {
 public:
  FlexibleCell(const FlexibleCellOptions& options, std::uint64_t seed);
  void before(const Exec& exec, ParticleSystem& system, const Tick& tick) override;
  /// Throws NumericalError if a direction would change by a tenth or more in one step, or the cell gets flat.
  void middle(const Exec& exec, ParticleSystem& system, const Tick& tick) override;
  void after(const Exec& exec, ParticleSystem& system, const Tick& tick) override;
  [[nodiscard]] std::vector<double> state() const override;
  void restore(std::span<const double> state) override;
  [[nodiscard]] const SymmetricTensor& strain_rate() const { return rate_; }  ///< nu (1/ps)

 private:
  [[nodiscard]] SymmetricTensor allowed(const SymmetricTensor& tensor) const;
  [[nodiscard]] SymmetricTensor target(const Tick& tick) const;
  [[nodiscard]] double mass(const ParticleSystem& system) const;
  [[nodiscard]] double kinetic(const ParticleSystem& system) const;  ///< W |nu|^2 / 2 (eV)
  void accelerate(const Exec& exec, const ParticleSystem& system, const Tick& tick);
  void slow_atoms(const Exec& exec, ParticleSystem& system, const Tick& tick) const;
  void thermalise_chain(const ParticleSystem& system, const Tick& tick);
  void add_noise(const ParticleSystem& system, const Tick& tick);

  FlexibleCellOptions options_;
  std::uint64_t seed_;
  double degrees_;  ///< of the cell
  SymmetricTensor rate_{};
  double work_ = 0;  ///< int V P0:nu dt, less the heat that noise has brought (eV)
  std::optional<NoseHooverChain> chain_;
};

/// exp(m) of a small 3x3 matrix, to round-off.
[[nodiscard]] Mat3 exponential(const Mat3& m);

/// Volume over the product of the rows' lengths: 1 for a box of right angles, 0 for a flat one.
[[nodiscard]] double squareness(const Box& box);
/// Below this a cell is too skew to go on with: its images are many and its widths small.
inline constexpr double least_squareness = 0.2;

}  // namespace quintet
