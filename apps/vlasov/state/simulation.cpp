#include "apps/vlasov/state/simulation.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include "apps/application/life/context.hpp"
#include "apps/vlasov/setup/field_setup.hpp"
#include "apps/vlasov/state/health.hpp"
#include "apps/vlasov/state/initial.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/files/distribution_io.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

/// The mean charge of a periodic domain has no potential: Poisson's solver drops it, which is worth a word.
void warn_of_charge(const Setup& setup, const Sample& sample) {
  const auto& grid = setup.species.front().grid;
  double volume = 1;
  for (int d = 0; d < grid.cdim; ++d) volume *= grid.width(d) * grid.cells[d];
  const double charge = sample.excess_charge / volume;
  const double background = setup.system.background_charge, neutral = background - charge;
  const double round_off = 1e-12 * std::max(std::abs(background), std::abs(charge));
  if (std::abs(charge) > 1e-8 * sample.plasma_density)
    log::warning(
        "The mean charge density is {:.4g}: in a periodic domain it is dropped, as if a uniform background "
        "neutralised it (field.background_charge: {:.9g} would)",
        charge, std::abs(neutral) > round_off ? neutral : 0);
}

/// Group of f and field in a checkpoint.
constexpr const char* group_name = "kinetics";
/// Its attribute if a step failed half way.
constexpr const char* half_way = "half_way";

std::string names_of(const std::vector<Species>& species) {
  std::string names;
  for (const auto& one : species) names += (names.empty() ? "" : ", ") + one.name;
  return names;
}

std::string model_name(FieldModel model) { return std::string(row_of(field_models, model).name); }

}  // namespace

Simulation::Simulation(const Context& context, DeviceSession device, const RunOptions& options, Setup setup)
    : device_(std::move(device)), setup_(std::move(setup)), control_(options, setup_) {
  bytes_ = require_room(context, device_, setup_);
  system_ = std::make_unique<VlasovSystem>(context.comm(), setup_.basis, setup_.species, setup_.system);
  fill_species(options, setup_, *system_);
  add_sources(options, setup_, *system_);
  if (setup_.system.field == FieldModel::maxwell)
    fill_field(options.field, setup_.formulas, setup_.system, *system_);
  system_->start(Exec(), 0.0);
  if (const auto& file = context.restart_file())
    load(*file);
  else
    begin(options);
}

void Simulation::begin(const RunOptions& options) {
  const Sample sample = system_->sample(Exec());
  check_first_field(sample, options, setup_);
  warn_of_charge(setup_, sample);
  control_.expect(system_->stable_dt(Exec()));
}

void Simulation::advance() {
  const Exec exec;
  const double dt = control_.next(system_->stable_dt(exec), system_->time(), system_->step(),
                                  [&] { return trouble_spot(setup_, *system_); });
  system_->advance(exec, dt);
  if (!std::exchange(told_of_sweeps_, true)) log_sweeps();
}

void Simulation::log_sweeps() {
  for (std::size_t s = 0; s < setup_.species.size(); ++s) {
    std::string text;
    for (const auto& sweep : system_->sweep_times(s))
      text += fmt::format("{}{}, {} warps{}: {}", text.empty() ? "" : "; ", sweep.name, sweep.warps,
                          sweep.is_chosen ? " (chosen)" : "",
                          !sweep.fits ? "does not fit"
                                      : fmt::format("{:.3g} ns a cell{}", sweep.ns_per_cell,
                                                    sweep.same_bits ? "" : ", other bits"));
    if (!text.empty()) log::info("Sweeps of species '{}': {}", setup_.species[s].name, text);
  }
}

void Simulation::save(hdf5::Group& root) const {
  hdf5::Group group = root.group(group_name);
  group.set_attribute("time", system_->time());
  group.set_attribute("step", system_->step());
  if (!system_->is_whole())
    group.set_attribute(half_way, "f, field and budgets may belong to different times");
  group.set_attribute("species", names_of(setup_.species));
  group.set_attribute("field_model", model_name(setup_.system.field));
  group.set_attribute("collision_frequency", system_->collision_frequency());
  control_.save(group);
  save_budgets(group);
  for (std::size_t s = 0; s < setup_.species.size(); ++s) {
    const auto& name = setup_.species[s].name;
    write(group, "f_" + name, setup_.decomposition, setup_.basis, system_->f(s),
          {"1", {}, "Distribution function of " + name});
  }
  write(group, "field", setup_.decomposition, setup_.species.front().grid, setup_.basis, system_->field(),
        {"1", {}, "Ex, Ey, Ez, Bx, By, Bz, phi, psi"});
}

/// Budgets of every rank: sums over ranks are then of the same bits after a restart.
void Simulation::save_budgets(hdf5::Group& group) const {
  std::vector<BudgetNumbers> here;
  for (const auto& budget : system_->budgets_here()) here.push_back(std::bit_cast<BudgetNumbers>(budget));
  const auto all = setup_.decomposition.comm().all_gather(std::span<const BudgetNumbers>(here));
  std::vector<double> values;
  for (const auto& numbers : all) values.insert(values.end(), numbers.begin(), numbers.end());
  const std::uint64_t n_ranks = setup_.decomposition.comm().size();
  const auto fields =
      setup_.decomposition.comm().all_gather(std::bit_cast<FieldBudgetNumbers>(system_->field_budget_here()));
  std::vector<double> field_values;
  for (const auto& numbers : fields) field_values.insert(field_values.end(), numbers.begin(), numbers.end());
  group.write<double>(
      "field_budget", field_values, {n_ranks, std::tuple_size_v<FieldBudgetNumbers>},
      {"1",
       {"rank", "quantity"},
       "Counted by each rank: work of the given current, field energy left through each wall"});
  group.write<double>(
      "budget", values, {n_ranks, here.size(), std::tuple_size_v<BudgetNumbers>},
      {"1",
       {"rank", "species", "quantity"},
       "Counted by each rank: what left through each wall, then impulse, work, what sources brought"});
}

// Budgets are sums over ranks: on the same ranks each takes its own, which is bitwise; on others the root
// takes all.
void Simulation::load_budgets(const hdf5::Group& group) {
  const Comm& comm = setup_.decomposition.comm();
  constexpr auto n_numbers = std::tuple_size_v<BudgetNumbers>;
  constexpr auto n_field_numbers = std::tuple_size_v<FieldBudgetNumbers>;
  const auto n = setup_.species.size();
  const bool has_both = group.has("budget") && group.has("field_budget");
  const auto shape = has_both ? group.shape("budget") : std::vector<std::uint64_t>{};
  QUINTET_CHECK(
      shape.size() == 3 && shape[1] == n && shape[2] == n_numbers,
      "the checkpoint holds no budgets of {} species: it is of an older version; start anew, or from a frame "
      "of its run.h5 (species.0.initial: [{{file: ...}}])",
      n);
  const auto field_shape = group.shape("field_budget");
  QUINTET_CHECK(field_shape.size() == 2 && field_shape[0] == shape[0] && field_shape[1] == n_field_numbers,
                "the checkpoint's field_budget has another shape than its budget: the file is damaged");
  const auto values = group.read<double>("budget"), field_values = group.read<double>("field_budget");
  std::vector<BudgetNumbers> numbers(n);
  FieldBudgetNumbers field_numbers{};
  const bool same_ranks = shape[0] == static_cast<std::uint64_t>(comm.size());
  for (std::size_t rank = 0; rank < shape[0]; ++rank) {
    if (same_ranks ? rank != static_cast<std::size_t>(comm.rank()) : !comm.is_root()) continue;
    for (std::size_t s = 0; s < n; ++s)
      for (std::size_t k = 0; k < n_numbers; ++k) numbers[s][k] += values[(rank * n + s) * n_numbers + k];
    for (std::size_t k = 0; k < n_field_numbers; ++k)
      field_numbers[k] += field_values[rank * n_field_numbers + k];
  }
  std::vector<Budget> budgets;
  for (const auto& one : numbers) budgets.push_back(std::bit_cast<Budget>(one));
  system_->set_budgets_here(std::move(budgets));
  system_->set_field_budget_here(std::bit_cast<FieldBudget>(field_numbers));
}

void Simulation::load(const std::string& checkpoint) {
  const hdf5::File file = hdf5::File::open(setup_.decomposition.comm(), checkpoint);
  QUINTET_CHECK(file.root().has(group_name), "{}: is no checkpoint of vlasov", checkpoint);
  const hdf5::Group group = file.root().open_group(group_name);
  QUINTET_CHECK(!group.has_attribute(half_way),
                "{}: was written by a step that failed half way: its parts may belong to different times; "
                "restart from an earlier checkpoint",
                checkpoint);
  const auto species = group.text_attribute("species"), model = group.text_attribute("field_model");
  QUINTET_CHECK(species == names_of(setup_.species), "{}: holds the species {}; this run has {}", checkpoint,
                species, names_of(setup_.species));
  QUINTET_CHECK(model == model_name(setup_.system.field),
                "{}: was made with field.model = {}; this run has {}", checkpoint, model,
                model_name(setup_.system.field));
  for (std::size_t s = 0; s < setup_.species.size(); ++s) {
    read(group, "f_" + setup_.species[s].name, setup_.decomposition, setup_.basis, system_->f(s));
  }
  read(group, "field", setup_.decomposition, setup_.species.front().grid, setup_.basis, system_->field());
  control_.load(group);
  system_->resume(Exec(), group.number_attribute("time").at(0), group.integer_attribute("step"));
  system_->set_collision_frequency(group.number_attribute("collision_frequency").at(0));
  load_budgets(group);
}

}  // namespace quintet::vlasov
