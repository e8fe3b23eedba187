#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "physics/particles/domain/domain.hpp"
#include "physics/particles/dynamics/dynamics_kernels.hpp"
#include "physics/particles/dynamics/frozen_atoms.hpp"
#include "physics/particles/forces/force_field.hpp"

namespace quintet {

/// How ghosts and rows of neighbours must reach for a force field, without ranks and skin.
[[nodiscard]] DomainOptions domain_of(const ForceField& field);

/// Where the time of force updates went (s, wall, this rank).
struct ForceTimes {
  double neighbours = 0;     ///< ghosts, migration, neighbour list
  double forces = 0;         ///< the force field
  double communication = 0;  ///< forces of ghosts sent home, energy and virial summed
};

/// Atoms, the space they share and what acts on them: what a step loop moves. Refers to, does not own.
struct ParticleSystem {
  /// Does not compute forces yet: call update_forces() before the first step.
  ParticleSystem(Atoms& atoms, Domain& domain, ForceField& force_field);

  /// Refresh neighbours, then forces, energy and virial of the present positions. Collective.
  /// Throws NumericalError with rank, atom and place if a force or the energy is not finite, ResourceError
  /// before an evaluation that does not fit into memory.
  void update_forces(const Exec& exec);
  /// Move the atoms to a device, where steps then move them (ForceField::takes_resident()). Collective;
  /// frozen atoms and velocities must be set before.
  void stay_on(const Exec& exec, std::shared_ptr<ResidentAtoms> resident);

  Atoms& atoms;
  Domain& domain;
  ForceField& force_field;
  FrozenAtoms frozen{};       ///< forces on them are 0
  Energetics total;           ///< of all ranks; `warning` is this rank's
  double degrees_of_freedom;  ///< 3 N - 3 until an integrator that does not conserve momentum says 3 N
  ForceTimes times;

 private:
  [[noreturn]] void throw_not_finite(const Exec& exec) const;

  std::optional<std::uint64_t> asked_with_;  ///< version of the list when memory was asked for
};

/// Degrees of freedom of N atoms: 3 N - 3 if their momentum is conserved (and zero), else 3 N; a lone atom
/// keeps its 3.
[[nodiscard]] double degrees_of_freedom(std::int64_t n_atoms, bool momentum_conserved);
/// Kinetic energy of all ranks (eV). Collective.
[[nodiscard]] double total_kinetic_energy(const Exec& exec, const ParticleSystem& system);
/// Kinetic tensor of all ranks (eV). Collective.
[[nodiscard]] SymmetricTensor total_kinetic_tensor(const Exec& exec, const ParticleSystem& system);
/// Pressure tensor P_kl = (2 K_kl + (W_kl + W_lk) / 2) / V (eV/angstrom^3), K kinetic tensor, W virial.
[[nodiscard]] SymmetricTensor pressure_tensor(const SymmetricTensor& kinetic, const Mat3& virial,
                                              double volume);

}  // namespace quintet
