#pragma once

#include <span>
#include <vector>

#include "physics/particles/dynamics/cell_motion.hpp"
#include "physics/particles/dynamics/dynamics.hpp"

namespace quintet {

/// What a cell relaxes to.
struct CellGoal {
  CellFreedom freedom;
  SymmetricTensor pressure{};   ///< target P0 (eV/angstrom^3)
  double stress_tolerance = 0;  ///< (eV/angstrom^3)
};

/// A cell that comes to rest together with its atoms: more coordinates of a minimisation.
///
/// A strain e, symmetric so that the cell does not turn, is driven by
///
///     S = [W - V P0]_allowed   (eV),   W the virial, so that -S:e is the change of E + V P0:e,
///
/// and has the length L e as coordinate and S / L as force, L = sqrt(N) (V/N)^(1/3), V of the start. Its mass
/// is the mean one of the atoms: a wave of sound through few atoms and the cell then swing about equally
/// fast, however many atoms there are, and share the steps. For a hydrostatic P0 the enthalpy E + P0 V is
/// minimised.
class RelaxingCell {
 public:
  explicit RelaxingCell(const CellGoal& goal) : goal_(goal) {}

  /// Begin from rest where the system is.
  void begin(const Exec& exec, const ParticleSystem& system);
  /// S.v, v.v and S.S of the cell's coordinate, as force_velocity_products() of atoms: to be added to theirs.
  [[nodiscard]] std::array<double, 3> products(const ParticleSystem& system) const;
  void kick(const ParticleSystem& system, double dt);
  /// v = (1 - mixing) v + mixing ratio F.
  void mix(const ParticleSystem& system, double mixing, double ratio);
  void stop() { rate_ = {}; }
  /// Deform the cell with its atoms by exp(rate dt). Throws NumericalError if the cell has become flat, or
  /// has 8 times its volume at the start, or an eighth: nothing holds it.
  void deform(const Exec& exec, ParticleSystem& system, double dt) const;
  /// How fast neighbours move against one another (angstrom/ps).
  [[nodiscard]] double speed() const;
  /// Largest component of the pressure tensor less P0 that may relax (eV/angstrom^3).
  [[nodiscard]] double largest_stress(const ParticleSystem& system) const;
  [[nodiscard]] bool is_at_rest(const ParticleSystem& system) const {
    return largest_stress(system) <= goal_.stress_tolerance;
  }
  [[nodiscard]] std::vector<double> state() const;
  void restore(std::span<const double> state);

 private:
  [[nodiscard]] SymmetricTensor force(const ParticleSystem& system) const;

  CellGoal goal_;
  SymmetricTensor rate_{};  ///< of the strain (1/ps)
  double spacing_ = 0;      ///< (V/N)^(1/3) at the start (angstrom)
  double n_atoms_ = 0;
  double mass_ = 0;  ///< mean one of the atoms (amu)
};

}  // namespace quintet
