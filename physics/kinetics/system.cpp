#include "physics/kinetics/system.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/collisions/collision_engines.hpp"
#include "physics/kinetics/collisions/collision_operators.hpp"
#include "physics/kinetics/device/resident_collisions.hpp"
#include "physics/kinetics/system_needs.hpp"
#include "physics/kinetics/system_state.hpp"

namespace quintet::kinetics {

namespace {

/// Ranks as asked, but whole velocity directions where a wall mirrors: it needs f(-v).
std::array<int, 6> constrained_ranks(const std::vector<Species>& species, const SystemOptions& options) {
  auto ranks = options.ranks;
  for (const auto& s : species)
    for (int d = 0; d < s.grid.cdim; ++d)
      for (const int side : {0, 1}) {
        if (s.grid.periodic[d] || !s.mirrors(d, side)) continue;
        const int v = s.grid.cdim + d;
        QUINTET_CHECK(
            ranks[v] <= 1,
            "species '{}': a reflecting wall in direction {} needs its velocity direction whole on a rank; "
            "parallel.ranks asks for {}, expected 1",
            s.name, d, ranks[v]);
        QUINTET_CHECK(
            s.grid.mirrors(v),
            "species '{}': a reflecting wall in direction {} needs velocity cells that mirror about 0, found "
            "{} to {}",
            s.name, d, s.grid.lower[v], s.grid.upper[v]);
        ranks[v] = 1;
      }
  return ranks;
}

DeviceVlasovOptions device_options(const PhaseBasis& basis, const Decomposition& decomposition,
                                   const Species& species, const SystemOptions& options) {
  auto of = device_vlasov_options(basis, decomposition.block(species.grid), options.flux,
                                  open_edges(decomposition, species));
  of.halo = halo_edges(decomposition);
  of.empty = empty_edges(species);
  of.sends_directly = options.device->sends_directly;
  return of;
}

double field_energy(const std::array<double, n_field>& integrals, const SystemOptions& options) {
  const double epsilon0 =
      options.field == FieldModel::poisson ? options.poisson.epsilon0 : options.maxwell.epsilon0;
  double energy = 0;
  for (int c = field_ex; c <= field_ez; ++c) energy += 0.5 * epsilon0 * integrals[c];
  for (int c = field_bx; c <= field_bz; ++c) energy += 0.5 * integrals[c] / options.maxwell.mu0;
  return energy;
}

/// int field_c^2 dx over this rank's cells; int w_a w_b dx = delta_ab prod dx/2.
std::array<double, n_field> field_integrals(const PhaseGrid& grid, const ConfField& field) {
  double scale = 1;
  for (int d = 0; d < grid.cdim; ++d) scale *= 0.5 * grid.width(d);
  std::array<double, n_field> sum{};
  for (std::size_t conf = 0; conf < field.extent(0); ++conf)
    for (std::size_t c = 0; c < n_field; ++c)
      for (std::size_t m = 0; m < field.extent(2); ++m)
        sum[c] += scale * field(conf, c, m) * field(conf, c, m);
  return sum;
}

/// int of component c over this rank's cells.
double integral(const PhaseGrid& grid, const ConfField& field, int c) {
  double scale = 1;
  for (int d = 0; d < grid.cdim; ++d) scale *= grid.width(d) / std::sqrt(2.0);
  double sum = 0;
  for (std::size_t conf = 0; conf < field.extent(0); ++conf) sum += field(conf, c, 0);
  return scale * sum;
}

}  // namespace

bool crosses_neumann_wall(const SystemOptions& options, const Species& species, int d, int side) {
  return options.field == FieldModel::poisson &&
         options.poisson.boundary[d][side] == PoissonOptions::Wall::neumann && species.charge != 0 &&
         species.boundary[d][side] != Boundary::reflecting;
}

// One operator a species, on the device or the host; all that a step needs is allocated here.
VlasovSystem::Implementation::Implementation(const Comm& comm, const PhaseBasis& basis_,
                                             std::vector<Species> species_, SystemOptions options_)
    : basis(basis_),
      species(std::move(species_)),
      options(std::move(options_)),
      decomposition(comm, species.at(0).grid, constrained_ranks(species, options)),
      budgets(species.size()),
      greatest_mean(species.size()) {
  const std::size_t n_modes = basis.conf().size();
  const PhaseGrid& grid = species[0].grid;
  const std::size_t n_conf = decomposition.block(grid).n_conf();
  const auto conf_field = [&](const char* label, int n) {
    return ConfField(std::string(label), n_conf, n, n_modes);
  };
  for (const auto& s : species) {
    const auto block = decomposition.block(s.grid);
    const auto open = open_edges(decomposition, s);
    if (options.device) {
      std::unique_ptr<DeviceVlasov> engine(
          options.device->make(device_options(basis, decomposition, s, options)));
      auto made = std::make_unique<ResidentOperator>(block, options.flux, open, std::move(engine));
      resident.push_back(made.get());
      operators.push_back(std::move(made));
    } else {
      operators.push_back(VlasovOperator::make(basis, block, options.flux, open));
    }
    exteriors.emplace_back(decomposition, basis, s, *operators.back());
    positivity.emplace_back(basis, block);
    for (auto* state : {&now, &first, &second}) {
      const bool here = !options.device || state == &now;
      state->f.push_back(here ? Distribution("f", block, basis.size())
                              : Distribution::named("f", block, basis.size()));
      if (options.device) resident.back()->hold(state->f.back());
      state->moments.push_back(conf_field("moments", 1 + basis.vdim()));
    }
    acceleration.push_back(conf_field("acceleration", 6));
    given_acceleration.push_back(options.acceleration ? conf_field("given_acceleration", 3) : ConfField());
  }
  for (auto* state : {&now, &first, &second}) state->field = conf_field("field", n_field);
  charge = conf_field("charge", 1);
  current = conf_field("current", 3);
  if (options.external_field) given_field = conf_field("given_field", 6);
  if (options.field == FieldModel::maxwell) {
    maxwell = std::make_unique<Maxwell>(decomposition, grid, basis.conf(), options.maxwell);
    field_rate = conf_field("field_rate", n_field);
    auto cleaning = options.maxwell;
    cleaning.electric_cleaning = 1;
    cleaning.upwind = false;
    gauss = std::make_unique<Maxwell>(decomposition, grid, basis.conf(), cleaning);
  }
  if (options.field == FieldModel::poisson) {
    poisson = std::make_unique<Poisson>(decomposition, grid, basis.conf(), options.poisson);
    potential = conf_field("potential", 1);
    make_bias_fields(Exec());
  }
  if (options.collisions) make_collisions();
}

void VlasovSystem::Implementation::make_collisions() {
  auto engines = options.device
                     ? resident_collision_engines(decomposition, basis, species, resident, *options.device)
                     : host_collision_engines(decomposition, basis, species);
  collisions =
      std::make_unique<Collisions>(decomposition, basis, species, *options.collisions, std::move(engines));
  if (Collisions::n_work(*options.collisions) <= 2) return;
  for (std::size_t i = 0; i < species.size(); ++i) {
    const auto block = decomposition.block(species[i].grid);
    const char* const label = "collision_rate";
    collision_rate.push_back(options.device ? Distribution::named(label, block, basis.size())
                                            : Distribution(label, block, basis.size()));
    if (options.device) resident[i]->hold(collision_rate.back());
  }
}

VlasovSystem::VlasovSystem(const Comm& comm, const PhaseBasis& basis, std::vector<Species> species,
                           SystemOptions options) {
  QUINTET_CHECK(!species.empty(), "there is no species; expected at least one");
  implementation_ = std::make_unique<Implementation>(comm, basis, std::move(species), std::move(options));
}

VlasovSystem::~VlasovSystem() = default;

double VlasovSystem::bytes_needed(const Comm& comm, const PhaseBasis& basis,
                                  const std::vector<Species>& species, const SystemOptions& options) {
  const Decomposition decomposition(comm, species.at(0).grid, constrained_ranks(species, options));
  return needs_of(basis, species, options, decomposition.ranks(), decomposition.coordinates()).bytes;
}

double VlasovSystem::device_bytes_needed(const Comm& comm, const PhaseBasis& basis,
                                         const std::vector<Species>& species, const SystemOptions& options,
                                         const std::vector<bool>& has_source) {
  if (!options.device) return 0;
  const Decomposition decomposition(comm, species.at(0).grid, constrained_ranks(species, options));
  double bytes = 0;
  for (std::size_t i = 0; i < species.size(); ++i) {
    auto engine = device_options(basis, decomposition, species[i], options);
    if (i < has_source.size() && has_source[i]) ++engine.n_buffers;
    if (options.collisions && Collisions::n_work(*options.collisions) > 2) ++engine.n_buffers;
    bytes += options.device->bytes(engine);
    if (options.collisions)
      bytes += resident_collision_bytes(basis, decomposition.block(species[i].grid), i, *options.collisions,
                                        *options.device);
  }
  return bytes;
}

const Decomposition& VlasovSystem::decomposition() const { return implementation_->decomposition; }
const PhaseBasis& VlasovSystem::basis() const { return implementation_->basis; }
const std::vector<Species>& VlasovSystem::species() const { return implementation_->species; }
Distribution& VlasovSystem::f(int s) {
  implementation_->to_host();
  return implementation_->now.f[s];
}
ConfField& VlasovSystem::field() { return implementation_->now.field; }
void VlasovSystem::add_source(SystemOptions::Source source) {
  auto& my = *implementation_;
  source.brings = my.amount(Exec(), source.species, source.shape);
  source.density = ConfField("source_density", my.charge.extent(0), 1, my.charge.extent(2));
  moments(Exec(), my.basis, source.shape, Moment::m0, source.density);
  Exec().fence();
  my.decomposition.velocity_comm().reduce(std::span<double>(source.density.data(), source.density.size()),
                                          Comm::Reduction::sum);
  if (!my.resident.empty()) {
    ResidentOperator& there = *my.resident[source.species];
    there.hold(source.shape);
    there.upload(source.shape);
  }
  my.options.sources.push_back(std::move(source));
}
double VlasovSystem::time() const { return implementation_->time; }
std::int64_t VlasovSystem::step() const { return implementation_->step; }
bool VlasovSystem::is_whole() const { return implementation_->is_whole; }
std::span<const SweepTime> VlasovSystem::sweep_times(int s) const {
  const auto& resident = implementation_->resident;
  return resident.empty() ? std::span<const SweepTime>{} : resident[s]->device().sweep_times();
}
double VlasovSystem::collision_frequency() const { return implementation_->collision_frequency; }
void VlasovSystem::set_collision_frequency(double frequency) {
  implementation_->collision_frequency = frequency;
}

void VlasovSystem::start(const Exec& exec, double time) {
  auto& my = *implementation_;
  my.time = time;
  my.given_is_fresh = false;
  my.to_device();
  for (std::size_t i = 0; i < my.species.size(); ++i) {
    my.exteriors[i].hold(exec, my.now.f[i]);
    my.greatest_mean[i] =
        my.decomposition.comm().maximum(phase_integrals(exec, my.basis, my.now.f[i]).greatest_mean);
  }
  if (my.options.keep_positive) my.limit(exec, my.now, 0);  // part of the start: not counted
  my.check_means();
  if (my.maxwell) my.maxwell->hold_boundary(exec, my.now.field);
  if (my.gauss) my.gauss->hold_boundary(exec, my.now.field);
  my.sum_moments(exec, time, my.now);
  if (!my.collisions) return;
  const double rate = my.collisions->frequency(exec, time, my.now.f);
  my.collision_frequency = my.splits() ? 0 : rate;  // of the first step
  // What collisions cannot do to this f is said before the run begins, and by --validate.
  if (!row_of(collision_operators(), my.options.collisions->kind).diffuses)
    my.collisions->add(exec, time, my.now.f, 0, my.now.f);
}

void VlasovSystem::resume(const Exec& exec, double time, std::int64_t step) {
  auto& my = *implementation_;
  my.time = time;
  my.step = step;
  my.given_is_fresh = false;
  my.to_device();
  my.sum_moments(exec, time, my.now);
}

const std::vector<Budget>& VlasovSystem::budgets_here() const { return implementation_->budgets; }
void VlasovSystem::set_budgets_here(std::vector<Budget> budgets) {
  implementation_->budgets = std::move(budgets);
}

const FieldBudget& VlasovSystem::field_budget_here() const { return implementation_->field_budget; }
void VlasovSystem::set_field_budget_here(const FieldBudget& budget) {
  implementation_->field_budget = budget;
}

ConfField VlasovSystem::moment(const Exec& exec, int s, Moment moment) {
  auto& my = *implementation_;
  const bool is_summed_there = moment == Moment::m0 || moment == Moment::m1 || moment == Moment::m2;
  if (my.device_knows_better() && is_summed_there) {
    const ConfField all = my.three_moments(exec, s);
    const int first = moment == Moment::m0 ? 0 : moment == Moment::m1 ? 1 : 1 + my.basis.vdim();
    const std::pair<std::size_t, std::size_t> these(first, first + n_components(moment, my.basis.vdim()));
    ConfField out("moment", all.extent(0), these.second - these.first, all.extent(2));
    Kokkos::deep_copy(out, Kokkos::subview(all, Kokkos::ALL, these, Kokkos::ALL));
    return out;
  }
  my.to_host();
  const auto& f = my.now.f[s];
  ConfField out("moment", static_cast<std::size_t>(f.block.n_conf()), n_components(moment, my.basis.vdim()),
                my.basis.conf().size());
  moments(exec, my.basis, f, moment, out);
  exec.fence();
  my.decomposition.velocity_comm().reduce(std::span<double>(out.data(), out.size()), Comm::Reduction::sum);
  return out;
}

ConfField VlasovSystem::Implementation::three_moments(const Exec& exec, int s) const {
  const auto& f = now.f[s];
  const int vdim = basis.vdim();
  ConfField out("moments", f.block.n_conf(), 2 + vdim, basis.conf().size());
  if (device_knows_better()) {
    resident[s]->sum_three_moments(exec, f, out);
  } else {
    moments(exec, basis, f, Moment::m0, out, 0);
    moments(exec, basis, f, Moment::m1, out, 1);
    moments(exec, basis, f, Moment::m2, out, 1 + vdim);
    exec.fence();
  }
  decomposition.velocity_comm().reduce(std::span<double>(out.data(), out.size()), Comm::Reduction::sum);
  return out;
}

ResidentOperator::Summary VlasovSystem::Implementation::summary(const Exec& exec, int s) const {
  const auto& f = now.f[s];
  if (device_knows_better()) return resident[s]->summarise(exec, positivity[s], f);
  const auto phase = phase_integrals(exec, basis, f);
  return {phase.l2, phase.least_mean, phase.greatest_mean, positivity[s].negative_part(exec, f),
          velocity_end_sums(f)};
}

void VlasovSystem::Implementation::to_device() {
  for (std::size_t i = 0; i < resident.size(); ++i) resident[i]->upload(now.f[i]);
  host_is_current = true;
}

void VlasovSystem::Implementation::to_host() {
  if (host_is_current) return;
  for (std::size_t i = 0; i < resident.size(); ++i) resident[i]->download(now.f[i]);
  host_is_current = true;
}

Amount VlasovSystem::Implementation::amount(const Exec& exec, int s, const Distribution& f) const {
  const auto& one = species[s];
  const int n_modes = basis.conf().size();
  const auto total = [&](Moment moment, int component) {
    const ConfField out("amount", f.block.n_conf(), n_components(moment, basis.vdim()), n_modes);
    moments(exec, basis, f, moment, out);
    exec.fence();
    return decomposition.comm().sum(integral(one.grid, out, component));
  };
  Amount amount{total(Moment::m0, 0), {}, 0.5 * one.mass * total(Moment::m2, 0)};
  for (int d = 0; d < basis.vdim(); ++d) amount.momentum[d] = one.mass * total(Moment::m1, d);
  return amount;
}

std::vector<double> VlasovSystem::Implementation::gauss_errors(const Exec& exec, Sample& sample) {
  const ConfField& field = first.field;  // free between steps
  Kokkos::deep_copy(field, now.field);
  for (std::size_t conf = 0; conf < field.extent(0); ++conf)
    for (std::size_t m = 0; m < field.extent(2); ++m) field(conf, std::size_t{field_phi}, m) = 0;
  gauss->rate(exec, field, current, charge, field_rate);
  exec.fence();
  const PhaseGrid& grid = species[0].grid;
  const double mean = std::pow(0.5, 0.5 * grid.cdim);  // over a cell, of the mode that is constant
  std::vector<double> errors;
  for (std::size_t conf = 0; conf < field.extent(0); ++conf)
    errors.push_back(mean * options.maxwell.epsilon0 * field_rate(conf, std::size_t{field_phi}, 0));
  if (!std::all_of(grid.periodic.begin(), grid.periodic.begin() + grid.cdim, [](bool p) { return p; }))
    return errors;
  double n_cells = 1;
  for (int d = 0; d < grid.cdim; ++d) n_cells *= grid.cells[d];
  double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
  sum = decomposition.conf_comm().sum(sum);
  for (double& error : errors) error -= sum / n_cells;
  sample.excess_charge = sum * grid.conf_cell_volume();
  return errors;
}

ChargeField VlasovSystem::Implementation::field_of_charge(std::span<const double> means) const {
  const PhaseBlock& block = now.f[0].block;
  ChargeBox box;
  box.epsilon0 = options.maxwell.epsilon0;
  std::size_t n_cells = 1;
  for (int d = 0; d < block.grid.cdim; ++d) {
    box.cells[d] = block.grid.cells[d];
    box.length[d] = block.grid.upper[d] - block.grid.lower[d];
    box.periodic[d] = block.grid.periodic[d];
    n_cells *= box.cells[d];
  }
  std::vector<double> all(n_cells);
  for (int conf = 0; conf < block.n_conf(); ++conf) {
    const auto index = block.conf_index(conf);
    std::size_t number = 0;
    for (int d = 0; d < block.grid.cdim; ++d) number = number * box.cells[d] + (block.begin[d] + index[d]);
    all[number] = means[conf];
  }
  decomposition.conf_comm().reduce(std::span<double>(all), Comm::Reduction::sum);
  return charge_field(box, all);
}

void VlasovSystem::Implementation::sample_charge(const Exec& exec, Sample& sample) {
  const PhaseGrid& grid = species[0].grid;
  double volume = 1;
  for (int d = 0; d < grid.cdim; ++d) volume *= grid.upper[d] - grid.lower[d];
  sample.plasma_density = std::abs(options.background_charge);
  for (std::size_t s = 0; s < species.size(); ++s)
    sample.plasma_density += std::abs(species[s].charge * sample.species[s].m0) / volume;
  if (poisson) sample.excess_charge = poisson->excess_charge();
  finish_moments(exec, now);
  sum_sources(time, now, 0);
  std::array<double, 2> squares{};
  std::vector<double> errors;
  if (maxwell) errors = gauss_errors(exec, sample);
  for (const double error : errors) squares[0] += error * error;
  const double mean = std::pow(0.5, grid.cdim);  // of the square, over a cell
  for (std::size_t conf = 0; conf < charge.extent(0); ++conf)
    squares[1] += mean * charge(conf, 0, 0) * charge(conf, 0, 0);
  decomposition.conf_comm().reduce(std::span<double>(squares), Comm::Reduction::sum);
  const double share = grid.conf_cell_volume() / volume;
  sample.gauss_error = std::sqrt(squares[0] * share);
  sample.charge_density = std::sqrt(squares[1] * share);
  if (sample.gauss_error <= negligible_charge * sample.plasma_density) return;
  const ChargeField wrong = field_of_charge(errors);
  sample.gauss_energy = wrong.energy;
  sample.gauss_potential = wrong.potential;
}

double Sample::energy_balance() const {
  double balance = energy() - bias_energy - field_budget.brought();
  for (const auto& of : species)
    balance += of.budget.left_altogether().energy - of.budget.source.energy - of.budget.given_work -
               of.budget.limited.energy;
  return balance;
}

Sample VlasovSystem::sample(const Exec& exec) {
  auto& my = *implementation_;
  const auto& comm = my.decomposition.comm();
  const auto& grid = my.species[0].grid;
  Sample sample;
  sample.time = my.time;
  for (int s = 0; s < my.n_species(); ++s) {
    Sample::OfSpecies of;
    const int vdim = my.basis.vdim();
    const auto all = my.three_moments(exec, s);
    const auto phase = my.summary(exec, s);
    const auto& conf = my.decomposition.conf_comm();
    of.m0 = conf.sum(integral(grid, all, 0));
    of.m2 = conf.sum(integral(grid, all, 1 + vdim));
    for (int d = 0; d < vdim; ++d) of.m1[d] = conf.sum(integral(grid, all, 1 + d));
    of.l2 = comm.sum(phase.l2);
    of.least_mean = comm.minimum(phase.least_mean);
    of.greatest_mean = comm.maximum(phase.greatest_mean);
    of.edge = fullest_velocity_edge(my.decomposition, my.basis, my.now.f[s].block, phase.at_ends, of.m0);
    of.negative = comm.sum(phase.negative);
    auto counted = std::bit_cast<BudgetNumbers>(my.budgets[s]);
    comm.reduce(std::span<double>(counted), Comm::Reduction::sum);
    of.budget = std::bit_cast<Budget>(counted);
    sample.kinetic_energy += 0.5 * my.species[s].mass * of.m2;
    sample.species.push_back(of);
  }
  sample.field = field_integrals(grid, my.now.field);
  my.decomposition.conf_comm().reduce(std::span<double>(sample.field), Comm::Reduction::sum);
  sample.field_energy = field_energy(sample.field, my.options);
  if (!my.bias_fields.empty()) {
    my.refresh_bias(my.time);
    const ConfField& own = my.first.field;  // of the charge; free between steps
    for (std::size_t i = 0; i < own.size(); ++i) own.data()[i] = my.now.field.data()[i] - my.bias.data()[i];
    auto of_charge = field_integrals(grid, own);
    my.decomposition.conf_comm().reduce(std::span<double>(of_charge), Comm::Reduction::sum);
    sample.bias_energy = sample.field_energy - field_energy(of_charge, my.options);
  }
  auto counted = std::bit_cast<FieldBudgetNumbers>(my.field_budget);
  comm.reduce(std::span<double>(counted), Comm::Reduction::sum);
  sample.field_budget = std::bit_cast<FieldBudget>(counted);
  my.sample_charge(exec, sample);
  return sample;
}

}  // namespace quintet::kinetics
