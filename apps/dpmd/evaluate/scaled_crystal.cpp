#include "apps/dpmd/evaluate/scaled_crystal.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "apps/dpmd/evaluate/equation_of_state.hpp"
#include "io/parallel/together.hpp"
#include "physics/particles/dynamics/dynamics.hpp"
#include "physics/particles/dynamics/dynamics_options.hpp"
#include "physics/particles/dynamics/minimise.hpp"

namespace quintet::dpmd {

namespace {

/// Multiply all lengths.
Configuration scaled(Configuration configuration, double scale) {
  configuration.box = configuration.box.deformed({scale, 0, 0, 0, scale, 0, 0, 0, scale});
  for (auto& x : configuration.positions)
    for (double& component : x) component *= scale;
  return configuration;
}

/// Move downhill until no force exceeds the tolerance; returns the steps, or one more than `most` if they
/// have run out.
std::int64_t come_to_rest(const Exec& exec, ParticleSystem& system, double tolerance, std::int64_t most) {
  // All masses 1 u: only the way down depends on them. The step is then that of ASE's optimiser, 1 to 10 fs.
  std::fill(system.atoms.masses.begin(), system.atoms.masses.end(), 1.0);
  MinimiserOptions options;
  options.force_tolerance = tolerance;
  FireMinimiser minimiser(options, 1e-3);
  for (std::int64_t step = 1; step <= most; ++step) {
    minimiser.step(exec, system, step);
    if (minimiser.finished()) return step;
  }
  return most + 1;
}

}  // namespace

ScaledCrystal::ScaledCrystal(const Comm& comm, const EquationOptions& options, ForceField& field,
                             Configuration start)
    : comm_(comm), options_(options), field_(field), start_(std::move(start)) {
  domain_.cutoff = field.cutoff();
  domain_.skin = options.relax ? 0.5 : 0.1;  // every scale is a new list
  domain_.ranks = grid_of(options.domain);
  if (!options.relax || !comm.any(!start_.held.empty())) return;
  std::vector<std::int64_t> ids;
  on_root(comm, [&] { ids = frozen_ids(FrozenOptions{}, start_); });
  held_ = comm.all_gather(std::span<const std::int64_t>(ids));  // the others have none
}

Loads ScaledCrystal::loads(double scale) { return visit(scale, false, false); }

Loads ScaledCrystal::relaxed_loads(double scale) { return visit(scale, true, false); }

void ScaledCrystal::begin_from_rest(double scale) { visit(scale, true, true); }

Loads ScaledCrystal::visit(double scale, bool relax, bool keep) {
  const Configuration start = scaled(start_, scale);
  Domain domain(comm_, domain_, start.box);
  Atoms atoms = domain.distribute(start);
  domain.rebuild(exec_, atoms);
  ParticleSystem system(atoms, domain, field_);
  system.frozen = FrozenAtoms(held_);
  system.update_forces(exec_);
  if (relax) {
    if (relaxations_.volumes++ == 0) relaxations_.first_energy = system.total.energy;
    const auto steps = come_to_rest(exec_, system, options_.force_tolerance / 20, options_.relax_steps);
    relaxations_.steps += std::min<std::int64_t>(steps, options_.relax_steps);
    if (steps > options_.relax_steps) ++relaxations_.unfinished;
  }
  exec_.fence();
  if (keep) {
    const Configuration rest = domain.gather(atoms, true);
    on_root(comm_, [&] { start_.positions = scaled(rest, 1 / scale).positions; });
  }
  Loads loads{.energy = system.total.energy, .force = largest_force(exec_, system)};
  const auto& w = system.total.virial;
  const double mean = (w[0] + w[4] + w[8]) / 3;
  for (int k = 0; k < 9; ++k)
    loads.deviator = std::max(loads.deviator, std::abs(w[k] - (k % 4 == 0 ? mean : 0)) / start.box.volume());
  return loads;
}

}  // namespace quintet::dpmd
