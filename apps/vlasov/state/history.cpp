#include "apps/vlasov/state/history.hpp"

#include <algorithm>

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

bool emits(const Species& species) {
  return std::any_of(species.emission.begin(), species.emission.end(),
                     [](const auto& ends) { return ends[0].has_value() || ends[1].has_value(); });
}

/// Calls f(d, side) for the ends of x that are walls.
template <class Function>
void for_walls(const PhaseGrid& grid, const Function& f) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(grid.cdim); ++d)
    for (std::size_t side = 0; side < 2; ++side)
      if (!grid.periodic[d]) f(d, side);
}

/// The same for the walls through which energy of the field leaves: open and fixed ends of Maxwell's, neumann
/// walls of Poisson's equation that charge crosses.
template <class Function>
void for_field_walls(const Setup& setup, const Function& f) {
  for_walls(setup.species[0].grid, [&](std::size_t d, std::size_t side) {
    const bool open = setup.system.field == FieldModel::maxwell &&
                      setup.system.maxwell.boundary[d][side] != FieldBoundary::conductor;
    const bool crossed = std::any_of(setup.species.begin(), setup.species.end(), [&](const Species& one) {
      return crosses_neumann_wall(setup.system, one, static_cast<int>(d), static_cast<int>(side));
    });
    if (open || crossed) f(d, side);
  });
}

/// The column of what is given to the field, or "".
std::string given_column(const Setup& setup) {
  if (setup.system.external_current) return "current_work";
  const bool sources =
      std::find(setup.has_source.begin(), setup.has_source.end(), true) != setup.has_source.end();
  return sources && setup.system.field == FieldModel::poisson ? "source_field_energy" : "";
}

std::string wall_name(std::size_t d, std::size_t side) {
  return fmt::format("{}_{}", "xyz"[d], side == 0 ? "lower" : "upper");
}

Amount amount_of(const Sample::OfSpecies& of, double mass) {
  Amount amount{of.m0, {}, 0.5 * mass * of.m2};
  for (std::size_t d = 0; d < 3; ++d) amount.momentum[d] = mass * of.m1[d];
  return amount;
}

void add_species_columns(const Setup& setup, std::size_t s, std::vector<HistoryColumn>& columns) {
  const auto& species = setup.species[s];
  const auto column = [&](const std::string& name, const std::string& text) {
    columns.push_back({species.name + "_" + name, species.name + ": " + text});
  };
  const auto momenta = [&](const std::string& name, const std::string& text) {
    for (int i = 0; i < setup.basis.vdim(); ++i)
      column(fmt::format("{}_{}", name, "xyz"[i]), fmt::format("{} along {}", text, "xyz"[i]));
  };
  column("particles", "integral of f");
  momenta("momentum", "m times the integral of v f,");
  column("kinetic_energy", "m/2 times the integral of v^2 f");
  column("f_squared", "integral of f^2");
  column("least_mean", "least cell mean of f");
  column("edge_share",
         "greatest part of the mean density in the outermost velocity cells of one side, over x and sides");
  column("negative_share", "minus the integral of the negative part of f, over that of f");
  momenta("impulse", "momentum from all forces since the start,");
  column("work", "kinetic energy from all forces since the start");
  for_walls(species.grid, [&](std::size_t d, std::size_t side) {
    const auto wall = wall_name(d, side);
    column("left_" + wall, "particles that left through the wall, net, " + wall);
    momenta("left_momentum_" + wall, "momentum that left through the wall, net, " + wall + ",");
    column("left_energy_" + wall, "kinetic energy that left through the wall, net, " + wall);
  });
  if (emits(species)) {
    column("emitted", "particles that walls emitted since the start");
    momenta("emitted_momentum", "momentum of what walls emitted since the start,");
    column("emitted_energy", "kinetic energy that walls emitted since the start");
  }
  if (setup.system.keep_positive) {
    momenta("limited_momentum", "momentum that keeping f positive added,");
    column("limited_energy", "kinetic energy that keeping f positive added");
  }
  if (setup.has_source[s]) {
    column("source_particles", "particles from the source since the start");
    momenta("source_momentum", "momentum from the source,");
    column("source_energy", "kinetic energy from the source");
  }
  column("rest_particles", "change of particles that forces, walls and sources do not explain");
  momenta("rest_momentum", "change of momentum that forces, walls and sources do not explain: collisions;");
  column("rest_energy", "change of kinetic energy that forces, walls and sources do not explain: collisions");
}

}  // namespace

std::vector<HistoryColumn> history_columns(const Setup& setup) {
  std::vector<HistoryColumn> columns = {{"time", "Time"}, {"step", "Steps done"}, {"dt", "Last time step"}};
  for (const char* name : {"ex", "ey", "ez", "bx", "by", "bz"})
    columns.push_back({std::string(name) + "_squared", fmt::format("Integral of {}^2 over x", name)});
  columns.push_back({"electric_energy", "epsilon0/2 times the integral of E^2"});
  columns.push_back({"magnetic_energy", "The integral of B^2 over 2 mu0"});
  columns.push_back({"kinetic_energy", "Sum over species of m/2 times the integral of v^2 f"});
  columns.push_back({"energy", "Field and kinetic energy"});
  columns.push_back({"energy_balance",
                     "Energy, less what sources, given fields, currents and potentials and keeping f "
                     "positive brought, with what left through walls"});
  columns.push_back({"charge_density", "Root mean square over x of the charge density"});
  columns.push_back({"gauss_error", "Root mean square over x of epsilon0 div E - rho (Maxwell)"});
  columns.push_back(
      {"excess_charge", "Charge that the walls of Poisson's equation leave no field for: dropped"});
  if (const auto given = given_column(setup); !given.empty())
    columns.push_back({given, setup.system.external_current
                                  ? "Field energy from the given current since the start"
                                  : "Field energy from the charge that sources brought since the start"});
  for_field_walls(setup, [&](std::size_t d, std::size_t side) {
    const auto wall = wall_name(d, side);
    columns.push_back({"field_left_" + wall, "Field energy that left through the wall, net, " + wall});
  });
  for (std::size_t s = 0; s < setup.species.size(); ++s) add_species_columns(setup, s, columns);
  return columns;
}

History::History(Context& context, const Setup& setup, std::int64_t first_step)
    : columns_(history_columns(setup)),
      electric_factor_(0.5 * (setup.system.field == FieldModel::poisson ? setup.system.poisson.epsilon0
                                                                        : setup.system.maxwell.epsilon0)),
      magnetic_factor_(0.5 / setup.system.maxwell.mu0),
      setup_(setup) {
  hdf5::Group group = context.results().root().group("history");
  std::uint64_t kept = 0;
  if (group.has(columns_.back().name)) {
    const auto steps = group.read_rows<double>("step", 0, group.shape("step")[0]);
    kept = static_cast<std::uint64_t>(std::count_if(
        steps.begin(), steps.end(), [&](double s) { return s <= static_cast<double>(first_step); }));
  }
  for (const auto& column : columns_) {
    series_.push_back(group.series<double>(column.name, {}, {"1", {"sample"}, column.description}));
    QUINTET_CHECK(series_.back().size() >= kept,
                  "{}: history/{} has {} rows, fewer than history/step: the file is damaged; move it away",
                  context.path("run.h5"), column.name, series_.back().size());
    series_.back().truncate(kept);
    values_.push_back(group.read_rows<double>(column.name, 0, kept));
  }
}

void History::add_species(std::size_t s, const Sample::OfSpecies& of, std::vector<double>& row) {
  const auto& species = setup_.species[s];
  const auto vdim = static_cast<std::size_t>(setup_.basis.vdim());
  const Amount now = amount_of(of, species.mass);
  const Budget& budget = of.budget;
  const auto append = [&](const std::array<double, 3>& vector) {
    row.insert(row.end(), vector.begin(), vector.begin() + static_cast<std::ptrdiff_t>(vdim));
  };
  const auto append_amount = [&](const Amount& amount) {
    row.push_back(amount.particles);
    append(amount.momentum);
    row.push_back(amount.energy);
  };
  row.push_back(now.particles);
  append(now.momentum);
  row.insert(row.end(), {now.energy, of.l2, of.least_mean, of.edge.share, of.negative / of.m0});
  append(budget.force.momentum);
  row.push_back(budget.force.energy);
  for_walls(species.grid, [&](std::size_t d, std::size_t side) { append_amount(budget.left[d][side]); });
  if (emits(species)) append_amount(budget.emitted);
  if (setup_.system.keep_positive) {
    append(budget.limited.momentum);
    row.push_back(budget.limited.energy);
  }
  if (setup_.has_source[s]) append_amount(budget.source);
  const Amount& first = first_[s];
  const auto left = budget.left_altogether();
  std::array<double, 3> rest{};
  for (std::size_t d = 0; d < vdim; ++d)
    rest[d] = now.momentum[d] - first.momentum[d] + left.momentum[d] - budget.force.momentum[d] -
              budget.source.momentum[d] - budget.limited.momentum[d];
  row.push_back(now.particles - first.particles + left.particles - budget.source.particles);
  append(rest);
  row.push_back(now.energy - first.energy + left.energy - budget.source.energy - budget.force.energy -
                budget.limited.energy);
}

void History::add(const Sample& sample, std::int64_t step, double dt) {
  const auto& steps = column("step");
  if (!steps.empty() && steps.back() >= static_cast<double>(step)) return;
  if (first_.empty())
    for (std::size_t s = 0; s < sample.species.size(); ++s) {
      const auto& name = setup_.species[s].name;
      const auto first = [&](const std::string& of) { return column(name + "_" + of).front(); };
      Amount amount = amount_of(sample.species[s], setup_.species[s].mass);
      if (!steps.empty()) {
        amount = {first("particles"), {}, first("kinetic_energy")};
        for (int d = 0; d < setup_.basis.vdim(); ++d)
          amount.momentum[d] = first(fmt::format("momentum_{}", "xyz"[d]));
      }
      first_.push_back(amount);
    }
  const auto& field = sample.field;
  std::vector<double> row = {sample.time, static_cast<double>(step), dt};
  row.insert(row.end(), field.begin(), field.begin() + 6);
  row.push_back(electric_factor_ * (field[0] + field[1] + field[2]));
  row.push_back(magnetic_factor_ * (field[3] + field[4] + field[5]));
  row.insert(row.end(), {sample.kinetic_energy, sample.energy(), sample.energy_balance(),
                         sample.charge_density, sample.gauss_error, sample.excess_charge});
  if (!given_column(setup_).empty()) row.push_back(sample.field_budget.given);
  for_field_walls(setup_,
                  [&](std::size_t d, std::size_t side) { row.push_back(sample.field_budget.left[d][side]); });
  for (std::size_t s = 0; s < sample.species.size(); ++s) add_species(s, sample.species[s], row);
  for (std::size_t c = 0; c < row.size(); ++c) {
    series_[c].append(std::span<const double>(&row[c], 1));
    values_[c].push_back(row[c]);
  }
}

std::vector<std::string> History::names() const {
  std::vector<std::string> names;
  for (const auto& column : columns_) names.push_back(column.name);
  return names;
}

bool History::has(const std::string& name) const {
  return std::any_of(columns_.begin(), columns_.end(), [&](const auto& c) { return c.name == name; });
}

std::size_t History::index(const std::string& name) const {
  const auto found =
      std::find_if(columns_.begin(), columns_.end(), [&](const auto& c) { return c.name == name; });
  QUINTET_CHECK(found != columns_.end(), "the history has no column '{}'; it has {}{}", name,
                name_list(names()), did_you_mean(name, names()));
  return static_cast<std::size_t>(found - columns_.begin());
}

const std::vector<double>& History::column(const std::string& name) const { return values_[index(name)]; }

}  // namespace quintet::vlasov
