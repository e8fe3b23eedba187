#pragma once

#include <memory>
#include <optional>

#include "physics/particles/dynamics/cell_motion.hpp"
#include "physics/particles/dynamics/coupling.hpp"
#include "physics/particles/dynamics/thermostats/cell_thermostat.hpp"

namespace quintet {

/// Options of a cell with inertia.
struct FlexibleCellOptions {
  CellFreedom freedom;
  std::optional<SymmetricTensor>
      pressure{};              ///< target tensor (eV/angstrom^3); absent: that of the Tick, alike
  double relaxation_time = 1;  ///< tau (ps)
  double inertia_kt = 0;       ///< kT in the cell's mass (eV)
};

/// A cell with inertia: Martyna, Tobias & Klein (1994), J. Chem. Phys. 101, 4177, with the strain rate nu
/// (1/ps) kept symmetric, so that the cell does not turn:
///
///   dr/dt = v + r nu,  dh/dt = h nu,  m dv/dt = F - m v (nu + Tr nu / N_f),
///   W dnu/dt = [2 K + virial - V P0 + (2 Tr K / N_f) 1]_allowed,  W = (N_f + 3) kT tau^2 / 3.
///
/// [ ] projects on what may move (CellFreedom). Conserved: K + U + W |nu|^2 / 2 + int V P0:nu dt
/// (for a hydrostatic P0: P0 (V - V0)), and what the cell's thermostat holds; the integral over a step is
/// exact. Each step is a palindrome of exact flows (thermostat, nu, velocities, positions and cell, ...):
/// second order, time-reversible without noise.
class FlexibleCell : public Coupling {
 public:
  /// `thermostat`: of the cell; none for nph.
  FlexibleCell(const FlexibleCellOptions& options, std::unique_ptr<CellThermostat> thermostat);
  void before(const Exec& exec, ParticleSystem& system, const Tick& tick) override;
  /// Throws NumericalError if a direction would change by a tenth or more in one step, or the cell gets flat.
  void middle(const Exec& exec, ParticleSystem& system, const Tick& tick) override;
  void after(const Exec& exec, ParticleSystem& system, const Tick& tick) override;
  [[nodiscard]] std::vector<double> state() const override;
  void restore(std::span<const double> state) override;

 private:
  [[nodiscard]] SymmetricTensor target(const Tick& tick) const;
  [[nodiscard]] double mass(const ParticleSystem& system) const;
  void accelerate(const Exec& exec, const ParticleSystem& system, const Tick& tick);
  void slow_atoms(const Exec& exec, ParticleSystem& system, const Tick& tick) const;

  FlexibleCellOptions options_;
  CellMotion cell_;
  double work_ = 0;  ///< int V P0:nu dt, less the heat that the thermostat has brought (eV)
  std::unique_ptr<CellThermostat> thermostat_;
};

/// exp(m) of a small 3x3 matrix, to round-off.
[[nodiscard]] Mat3 exponential(const Mat3& m);

/// Volume over the product of the rows' lengths: 1 for a box of right angles, 0 for a flat one.
[[nodiscard]] double squareness(const Box& box);
/// Below this a cell is too skew to go on with: its images are many and its widths small.
inline constexpr double least_squareness = 0.2;

}  // namespace quintet
