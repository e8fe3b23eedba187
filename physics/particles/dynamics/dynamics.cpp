#include "physics/particles/dynamics/dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/device/at_home.hpp"
#include "physics/particles/device/resident_atoms.hpp"
#include "physics/particles/forces/evaluation_memory.hpp"

namespace quintet {

DomainOptions domain_of(const ForceField& field) {
  DomainOptions domain;
  domain.cutoff = field.cutoff();
  if (field.needs_list() && field.list_cutoff() < field.cutoff()) domain.list_cutoff = field.list_cutoff();
  domain.rows = field.needs_list();
  return domain;
}

ParticleSystem::ParticleSystem(Atoms& atoms_, Domain& domain_, ForceField& force_field_)
    : atoms(atoms_),
      domain(domain_),
      force_field(force_field_),
      degrees_of_freedom(quintet::degrees_of_freedom(atoms_.n_global, true)) {}

void ParticleSystem::update_forces(const Exec& exec) {
  Kokkos::Timer timer;
  domain.refresh(exec, atoms);
  exec.fence();
  times.neighbours += timer.seconds();
  timer.reset();
  if (asked_with_ != domain.list().version) {
    require_evaluation_memory(domain.comm(), force_field, exec, atoms, domain.list());
    asked_with_ = domain.list().version;
  }
  total = force_field.compute(exec, atoms, domain.list());
  exec.fence();
  times.forces += timer.seconds();
  timer.reset();
  domain.return_forces(exec, atoms);
  frozen.hold_forces(exec, atoms);
  std::array<double, 10> sums{total.energy};
  std::copy(total.virial.begin(), total.virial.end(), sums.begin() + 1);
  domain.comm().reduce(std::span<double>(sums), Comm::Reduction::sum);
  total.energy = sums[0];
  std::copy(sums.begin() + 1, sums.end(), total.virial.begin());
  exec.fence();
  times.communication += timer.seconds();
  if (!std::isfinite(total.energy)) throw_not_finite(exec);  // summed: all ranks or none
}

void ParticleSystem::stay_on(const Exec& exec, std::shared_ptr<ResidentAtoms> resident) {
  QUINTET_ASSERT(force_field.takes_resident(), "this force field needs the atoms on the host");
  if (!frozen.none()) resident->freeze(frozen.ids());
  domain.stay_on(exec, atoms, std::move(resident));
}

void ParticleSystem::throw_not_finite(const Exec& exec) const {
  exec.fence();
  bring_home(atoms);
  const Comm& comm = domain.comm();
  int culprit = 0;
  while (culprit < atoms.n_local &&
         std::isfinite(atoms.force(culprit, 0) + atoms.force(culprit, 1) + atoms.force(culprit, 2)))
    ++culprit;
  const bool found = culprit < atoms.n_local;
  const int speaker = comm.minimum(found ? comm.rank() : comm.size());
  std::string where = "no single force is";
  if (found)
    where = fmt::format("force on atom {} is not finite (rank {}, position {} {} {} angstrom)",
                        atoms.id(culprit), comm.rank(), atoms.position(culprit, 0),
                        atoms.position(culprit, 1), atoms.position(culprit, 2));
  if (speaker < comm.size()) where = comm.broadcast(where, speaker);
  throw NumericalError(
      fmt::format("potential energy is {}: {}; atoms are too close or the step is too long: shorten "
                  "time.dt or minimise first",
                  total.energy, where));
}

double degrees_of_freedom(std::int64_t n_atoms, bool momentum_conserved) {
  return 3.0 * (momentum_conserved && n_atoms > 1 ? n_atoms - 1 : n_atoms);
}

double total_kinetic_energy(const Exec& exec, const ParticleSystem& system) {
  return system.domain.comm().sum(kinetic_energy(exec, system.atoms));
}

SymmetricTensor total_kinetic_tensor(const Exec& exec, const ParticleSystem& system) {
  auto tensor = kinetic_tensor(exec, system.atoms);
  system.domain.comm().reduce(std::span<double>(tensor), Comm::Reduction::sum);
  return tensor;
}

SymmetricTensor pressure_tensor(const SymmetricTensor& kinetic, const Mat3& virial, double volume) {
  constexpr int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  SymmetricTensor pressure;
  for (int c = 0; c < 6; ++c) {
    const double w = 0.5 * (virial[3 * row[c] + column[c]] + virial[3 * column[c] + row[c]]);
    pressure[c] = (2 * kinetic[c] + w) / volume;
  }
  return pressure;
}

}  // namespace quintet
