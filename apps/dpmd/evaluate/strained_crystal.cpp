#include "apps/dpmd/evaluate/strained_crystal.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/particles/dynamics/dynamics.hpp"
#include "physics/particles/dynamics/dynamics_options.hpp"
#include "physics/particles/dynamics/minimise.hpp"

namespace quintet::dpmd {

namespace {

Vec3 deformed(const Vec3& x, const Mat3& d) {
  Vec3 result{};
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) result[l] += x[k] * d[3 * k + l];
  return result;
}

Configuration deformed(Configuration configuration, const Mat3& deformation) {
  configuration.box = configuration.box.deformed(deformation);
  for (auto& x : configuration.positions) x = deformed(x, deformation);
  return configuration;
}

/// Move downhill until no force exceeds the tolerance; returns the steps, or one more than most_steps if they
/// have run out.
std::int64_t come_to_rest(const Exec& exec, const Comm& comm, ParticleSystem& system,
                          const RestOptions& rest) {
  // All masses 1 u: only the way down depends on them. The step is then that of ASE's optimiser, 1 to 10 fs.
  std::fill(system.atoms.masses.begin(), system.atoms.masses.end(), 1.0);
  MinimiserOptions options;
  options.force_tolerance = rest.force_tolerance;
  FireMinimiser minimiser(options, 1e-3);
  for (std::int64_t step = 1; step <= rest.most_steps; ++step) {
    give_up_if_asked(comm, rest.interrupt);
    minimiser.step(exec, system, step);
    if (minimiser.finished()) return step;
  }
  return rest.most_steps + 1;
}

}  // namespace

Mat3 scaling(double scale) { return {scale, 0, 0, 0, scale, 0, 0, 0, scale}; }

double Loads::deviator() const {
  const double mean = (stress[0] + stress[4] + stress[8]) / 3;
  double largest = 0;
  for (int k = 0; k < 9; ++k) largest = std::max(largest, std::abs(stress[k] - (k % 4 == 0 ? mean : 0)));
  return largest;
}

StrainedCrystal::StrainedCrystal(const Comm& comm, const RestOptions& options, ForceField& field,
                                 Configuration start)
    : comm_(comm), options_(options), field_(field), start_(std::move(start)) {
  domain_ = domain_of(field);
  domain_.skin = options.relax ? 0.5 : 0.1;  // every strain is a new list
  domain_.ranks = options.ranks;
  if (!options.relax || !comm.any(!start_.held.empty())) return;
  std::vector<std::int64_t> ids;
  on_root(comm, [&] { ids = frozen_ids(FrozenOptions{}, start_); });
  held_ = comm.all_gather(std::span<const std::int64_t>(ids));  // the others have none
}

Loads StrainedCrystal::loads(const Mat3& deformation) { return visit(deformation, false, false); }

Loads StrainedCrystal::at_rest(const Mat3& deformation) { return visit(deformation, options_.relax, false); }

void StrainedCrystal::begin_from_rest(const Mat3& deformation) { visit(deformation, options_.relax, true); }

Loads StrainedCrystal::become(const Mat3& deformation) {
  const Loads loads = visit(deformation, options_.relax, options_.relax);
  start_ = deformed(start_, deformation);
  return loads;
}

Loads StrainedCrystal::visit(const Mat3& deformation, bool relax, bool keep) {
  give_up_if_asked(comm_, options_.interrupt);
  const Configuration start = deformed(start_, deformation);
  Domain domain(comm_, domain_, start.box);
  Atoms atoms = domain.distribute(start);
  domain.rebuild(exec_, atoms);
  ParticleSystem system(atoms, domain, field_);
  system.frozen = FrozenAtoms(held_);
  system.update_forces(exec_);
  if (relax) {
    if (relaxations_.cells++ == 0) relaxations_.first_energy = system.total.energy;
    const auto steps = come_to_rest(exec_, comm_, system, options_);
    relaxations_.steps += std::min<std::int64_t>(steps, options_.most_steps);
    if (steps > options_.most_steps) ++relaxations_.unfinished;
  }
  exec_.fence();
  if (keep) {
    const Configuration rest = domain.gather(atoms, true);
    on_root(comm_, [&] {
      // Back into the cell of before: its fractional coordinates are those of the deformed one.
      for (std::size_t i = 0; i < rest.positions.size(); ++i)
        start_.positions[i] = start_.box.to_cartesian(start.box.to_fractional(rest.positions[i]));
    });
  }
  Loads loads{
      .energy = system.total.energy, .force = largest_force(exec_, system), .volume = start.box.volume()};
  for (int k = 0; k < 9; ++k) loads.stress[k] = -system.total.virial[k] / loads.volume;
  return loads;
}

}  // namespace quintet::dpmd
