#include "apps/dpmd/run/simulation.hpp"

#include <algorithm>

#include "apps/dpmd/setup/system.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/device/resident_atoms.hpp"
#include "physics/particles/dynamics/velocities.hpp"

namespace quintet::dpmd {

namespace {

/// The grid of the checkpoint where it fits ranks and options: the best one for the cell may have changed
/// with the cell, and atoms stay in their order only in their bricks.
std::array<int, 3> kept_grid(const Comm& comm, const DomainSection& options, const hdf5::Group& state) {
  auto grid = grid_of(options);
  const auto kept = state.read<std::int32_t>("rank_grid", {3});
  if (std::int64_t{kept[0]} * kept[1] * kept[2] != comm.size()) return grid;
  for (int k = 0; k < 3; ++k)
    if (grid[k] != 0 && grid[k] != kept[k]) return grid;
  return {kept[0], kept[1], kept[2]};
}

/// Throws InputError for atoms that stay beside an observable of all that move: what system.file holds is
/// known no earlier.
void require_observable(const ObservablesOptions& options, const FrozenAtoms& frozen) {
  QUINTET_CHECK(frozen.none() || !options.heat_current,
                "observables.heat_current needs atoms that all move, and the system's file holds some; set "
                "system.selective_dynamics: false, or remove the section heat_current");
}

/// How the models are evaluated that accompany the first, if not as that is.
std::optional<potential::Precision> precision_of(CompanionPrecision precision) {
  if (precision == CompanionPrecision::fp64) return potential::Precision::fp64;
  if (precision == CompanionPrecision::mixed) return potential::Precision::mixed;
  return std::nullopt;
}

/// Find the frozen atoms of rank 0's configuration, for all ranks. Collective.
std::vector<std::int64_t> shared_frozen_ids(const Comm& comm, const FrozenOptions& options,
                                            const System& start) {
  std::vector<std::int64_t> ids;
  on_root(comm, [&] { ids = frozen_ids(options, start.cell, start.copies); });
  return comm.all_gather(std::span<const std::int64_t>(ids));  // the others have none
}

}  // namespace

Simulation::Simulation(const Comm& comm, const RunOptions& options, const DeviceSession& session)
    : session_(session) {
  Kokkos::Timer timer;
  make_models(comm, options);
  start_times_.model = timer.seconds();
  timer.reset();
  const DomainOptions reach = domain_options(options);
  System start =
      read_system(comm, options.system, force_field_->type_names(), reach.cutoff + reach.skin,
                  reach.list_cutoff.value_or(reach.cutoff) + reach.skin, force_field_->n_atom_parameters());
  const Exec exec;
  build(comm, options, start.box, grid_of(options.domain));
  atoms_ = domain_->distribute(start.cell, start.copies);
  FrozenAtoms frozen;
  const bool held = comm.any(!start.cell.held.empty());
  if (held)
    log::info("{}: the atoms that it holds (F F F) do not move (system.selective_dynamics)",
              options.system.file);
  if (options.frozen || held)
    frozen = FrozenAtoms(shared_frozen_ids(comm, options.frozen.value_or(FrozenOptions{}), start));
  start.cell = {};  // of a large file: all its atoms
  start_times_.atoms = timer.seconds();
  timer.reset();
  domain_->rebuild(exec, atoms_);
  system_ = std::make_unique<ParticleSystem>(atoms_, *domain_, *force_field_);
  system_->times.neighbours = timer.seconds();
  require_observable(options.observables, frozen);
  system_->frozen = std::move(frozen);
  system_->frozen.hold_velocities(exec, atoms_);
  const auto temperature =
      options.velocities.temperature ? options.velocities.temperature : options.integrator.temperature;
  const bool moves = options.integrator.ensemble != Ensemble::minimise;
  if (moves && temperature && (options.velocities.temperature || !start.has_velocities))
    draw_velocities(exec, comm, atoms_, *temperature, options.seed, options.velocities.remove_momentum,
                    system_->frozen);
  integrator_ = make_integrator(options.integrator, options.time, options.seed, *system_);
  prepare_precision(exec, nullptr);
  settle(exec, options);
  begin(exec);
  observe(exec);
}

Simulation::Simulation(const Comm& comm, const RunOptions& options, const DeviceSession& session,
                       const std::string& checkpoint)
    : session_(session) {
  make_models(comm, options);
  const hdf5::File file = hdf5::File::open(comm, checkpoint);
  hdf5::Group state = hdf5::File(file).root().open_group("state");
  const auto types = state.read_text("type_names");
  QUINTET_CHECK(types == join_lines(force_field_->type_names()),
                "{}: made with a model of other types ({}); this model has {}", checkpoint, types,
                join_lines(force_field_->type_names()));
  const Exec exec;
  const auto rows = state.read<double>("box", {3, 3});
  Mat3 cell;
  std::copy(rows.begin(), rows.end(), cell.begin());
  const auto origin = state.read<double>("origin", {3});
  const auto periodic = state.read<std::int32_t>("periodic", {3});
  const Box box(cell, {periodic[0] != 0, periodic[1] != 0, periodic[2] != 0},
                {origin[0], origin[1], origin[2]});
  step_ = state.number_attribute("step").at(0);
  build(comm, options, box, kept_grid(comm, options.domain, state));
  atoms_.box = box;
  load(comm, file);
  for (const auto& [name, mass] : options.system.masses)
    for (std::size_t t = 0; t < atoms_.type_names.size(); ++t)
      if (atoms_.type_names[t] == name) atoms_.masses[t] = mass;
  system_ = std::make_unique<ParticleSystem>(atoms_, *domain_, *force_field_);
  if (state.has("frozen_ids")) system_->frozen = FrozenAtoms(state.read<std::int64_t>("frozen_ids"));
  require_observable(options.observables, system_->frozen);
  integrator_ = make_integrator(options.integrator, options.time, options.seed, *system_);
  IntegratorState kept;
  kept.kind = state.text_attribute("integrator");
  kept.values = state.read<double>("integrator_state");
  integrator_->restore(kept);
  for (auto& observer : observers_) {
    const std::string name = "observers/" + observer->name();
    if (state.has(name))
      observer->restore(comm, state.open_group(name));
    else
      log::warning("observable '{}' is not in {}: it begins here", observer->name(), checkpoint);
  }
  prepare_precision(exec, &state);
  settle(exec, options);
  begin(exec);
}

/// What does not depend on where the atoms come from.
void Simulation::build(const Comm& comm, const RunOptions& options, const Box& box,
                       const std::array<int, 3>& grid) {
  DomainOptions domain = domain_options(options);
  domain.ranks = grid;
  domain_ = std::make_unique<Domain>(comm, domain, box);
  observers_ = make_observables(options.observables, options.time, *force_field_);
  dt_ = options.time.dt;
  last_step_ = options.time.steps;
}

void Simulation::make_models(const Comm& comm, const RunOptions& options) {
  PotentialOptions potential = options.potential;
  potential.evaluation.atom_virials = options.observables.heat_current.has_value();
  CheckedField made = make_checked_field(potential, session_);
  force_field_ = std::move(made.field);
  precision_ = std::move(made.check);
  if (const auto& deviation = options.deviation)
    ensemble_.emplace(make_ensemble(comm, options.potential, *force_field_,
                                    {deviation->relative_force, deviation->relative_virial},
                                    precision_of(deviation->precision)));
}

/// How far ranks look, for all models.
DomainOptions Simulation::domain_options(const RunOptions& options) const {
  DomainOptions domain = domain_of(*force_field_);
  if (ensemble_) domain = ensemble_->widened(domain);
  domain.skin = options.domain.skin;
  if (options.observables.heat_current) domain.rows = true;  // virials of ghosts are sent by the host's plan
  return domain;
}

/// Whose memory the atoms are moved in.
void Simulation::settle(const Exec& exec, const RunOptions& options) {
  if (session_.is_cpu()) return;
  residence_ =
      fmt::format("on the device; they come to the host for observers{}",
                  options.deviation || options.observables.heat_current ? ", checkpoints and new ghosts"
                                                                        : " and checkpoints");
  session_.require_bytes(
      resident_bytes(atoms_.n_local, atoms_.n_all(), domain_->comm().size() > 1),
      fmt::format("{} and {}", counted(atoms_.n_local, "atom"), counted(atoms_.n_ghost, "ghost")));
  const auto make = session_.factory("quintet_make_resident_atoms", &quintet_make_resident_atoms);
  system_->stay_on(exec, std::shared_ptr<ResidentAtoms>(make(session_.sends_directly())));
}

/// Evaluate the forces that a step begins with, and see that all models can be.
void Simulation::begin(const Exec& exec) {
  system_->update_forces(exec);
  if (ensemble_) ensemble_->require_memory(exec, at_home(atoms_), *domain_);
}

/// What rounded products are taken about: the checkpoint's reference, else the atoms as they are now. Throws
/// InputError unless that is accurate enough.
void Simulation::prepare_precision(const Exec& exec, hdf5::Group* state) {
  if (!rounds()) return;
  if (state != nullptr && state->has("rounding_reference"))
    precision_->set_reference(state->read<double>("rounding_reference"));
  else
    precision_->take_reference(exec, domain_->comm(), atoms_, domain_->list());
  precision_at_start_ = measure_precision(exec);
  QUINTET_CHECK(
      precision_at_start_.accurate(),
      "potential.precision: bf16 is not accurate enough for this model and these atoms: {}; the limit is "
      "{:g} %: use mixed",
      precision_at_start_.in_words(), 100 * potential::PrecisionError::bound);
  log::info("bf16 beside double: {}", precision_at_start_.in_words());
}

potential::PrecisionError Simulation::measure_precision(const Exec& exec) {
  return precision_->measure(exec, atoms_, *domain_);
}

void Simulation::advance() {
  const Exec exec;
  integrator_->step(exec, *system_, step_++);
  observe(exec);
}

void Simulation::observe(const Exec& exec) {
  for (auto& observer : observers_) observer->observe(exec, step_, atoms_, *domain_);
  const auto& total = system_->total;
  ++overflow_.looks;
  overflow_.atoms += total.overflowing;
  overflow_.most_neighbours = std::max(overflow_.most_neighbours, total.most_neighbours);
  if (total.warning.empty() || overflow_.first_step) return;
  overflow_.first_step = step_;
  log::warning("step {}: {}", step_, total.warning);
}

ThermoSample Simulation::sample(const Exec& exec) const {
  return sample_thermo(exec, *system_, *integrator_, step_, dt_);
}

potential::Deviation Simulation::deviation(const Exec& exec) {
  Atoms here = at_home(atoms_);
  return ensemble_->measure(exec, here, *domain_, system_->total);
}

}  // namespace quintet::dpmd
