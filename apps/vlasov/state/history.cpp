#include "apps/vlasov/state/history.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>

#include "apps/vlasov/state/wave_signal.hpp"
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

/// Visit the walls through which energy of the field leaves: open and fixed ends of Maxwell's, neumann
/// walls of Poisson's equation that charge crosses.
template <class Function>
void for_field_walls(const Setup& setup, const Function& f) {
  for_walls(setup.species[0].grid, [&](std::size_t d, std::size_t side) {
    const bool open = setup.system.field == FieldModel::maxwell &&
                      setup.system.maxwell.boundary[d][side] != FieldBoundary::conductor;
    const bool crossed = std::any_of(setup.species.begin(), setup.species.end(), [&](const Species& one) {
      return crosses_neumann_wall(setup.system, one, d, side);
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

using OfSpecies = Sample::OfSpecies;

/// Columns of species number s, each by what it is of the species' sums.
class SpeciesColumns {
 public:
  SpeciesColumns(const Setup& setup, std::size_t s, std::vector<HistoryColumn>& columns)
      : s_(s), vdim_(setup.basis.vdim()), species_(setup.species[s]), columns_(columns) {}

  void add(const std::string& name, const std::string& text, std::function<double(const HistoryRow&)> value) {
    columns_.push_back({species_.name + "_" + name, "1", species_.name + ": " + text, std::move(value)});
  }
  void of(const std::string& name, const std::string& text, std::function<double(const OfSpecies&)> value) {
    add(name, text,
        [s = s_, value = std::move(value)](const HistoryRow& row) { return value(row.sample.species[s]); });
  }
  /// A column for each direction of velocity, of the vector that `value` gives.
  template <class Value>
  void vectors(const std::string& name, const std::string& text, const Value& value) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(vdim_); ++i)
      add(fmt::format("{}_{}", name, "xyz"[i]), fmt::format("{} along {}", text, "xyz"[i]),
          [value, i](const HistoryRow& row) { return value(row, i); });
  }
  /// Add columns of the momentum of a part of the species' budget.
  template <class Part>
  void momenta(const std::string& name, const std::string& text, const Part& part) {
    vectors(name, text, [s = s_, part](const HistoryRow& row, std::size_t i) {
      return part(row.sample.species[s].budget).momentum[i];
    });
  }

 private:
  std::size_t s_;
  int vdim_;
  const Species& species_;
  std::vector<HistoryColumn>& columns_;
};

void add_state_columns(SpeciesColumns& columns, std::size_t s, double mass) {
  columns.of("particles", "integral of f", [](const OfSpecies& of) { return of.m0; });
  columns.vectors(
      "momentum", "m times the integral of v f,",
      [s, mass](const HistoryRow& row, std::size_t i) { return mass * row.sample.species[s].m1[i]; });
  columns.of("kinetic_energy", "m/2 times the integral of v^2 f",
             [mass](const OfSpecies& of) { return 0.5 * mass * of.m2; });
  columns.of("f_squared", "integral of f^2", [](const OfSpecies& of) { return of.l2; });
  columns.of("least_mean", "least cell mean of f", [](const OfSpecies& of) { return of.least_mean; });
  columns.of(
      "edge_share",
      "greatest part of the mean density in the outermost velocity cells of one side, over x and sides",
      [](const OfSpecies& of) { return of.edge.share; });
  columns.of("negative_share", "minus the integral of the negative part of f, over that of f",
             [](const OfSpecies& of) { return of.negative / of.m0; });
}

void add_wall_columns(SpeciesColumns& columns, const PhaseGrid& grid) {
  for_walls(grid, [&](std::size_t d, std::size_t side) {
    const auto wall = wall_name(d, side);
    const auto left = [d, side](const Budget& budget) -> const Amount& { return budget.left[d][side]; };
    columns.of("left_" + wall, "particles that left through the wall, net, " + wall,
               [left](const OfSpecies& of) { return left(of.budget).particles; });
    columns.momenta("left_momentum_" + wall, "momentum that left through the wall, net, " + wall + ",", left);
    columns.of("left_energy_" + wall, "kinetic energy that left through the wall, net, " + wall,
               [left](const OfSpecies& of) { return left(of.budget).energy; });
  });
}

/// What forces, walls and sources do not explain.
void add_rest_columns(SpeciesColumns& columns, std::size_t s, double mass) {
  columns.add("rest_particles",
              "change of the particle number not accounted for by forces, walls and sources",
              [s](const HistoryRow& row) {
                const auto& of = row.sample.species[s];
                return of.m0 - row.first[s].particles + of.budget.left_altogether().particles -
                       of.budget.source.particles;
              });
  columns.vectors("rest_momentum",
                  "change of momentum not accounted for by forces, walls and sources: collisions;",
                  [s, mass](const HistoryRow& row, std::size_t i) {
                    const auto& of = row.sample.species[s];
                    const Budget& budget = of.budget;
                    return mass * of.m1[i] - row.first[s].momentum[i] + budget.left_altogether().momentum[i] -
                           budget.force.momentum[i] - budget.source.momentum[i] - budget.limited.momentum[i];
                  });
  columns.add("rest_energy",
              "change of kinetic energy not accounted for by forces, walls and sources: collisions",
              [s, mass](const HistoryRow& row) {
                const auto& of = row.sample.species[s];
                const Budget& budget = of.budget;
                return 0.5 * mass * of.m2 - row.first[s].energy + budget.left_altogether().energy -
                       budget.source.energy - budget.force.energy - budget.limited.energy;
              });
}

// A column is there only if its cause is (walls, emission, sources, a limiter): a column of zeros would be
// read as a measurement.
void add_species_columns(const Setup& setup, std::size_t s, std::vector<HistoryColumn>& all) {
  const auto& species = setup.species[s];
  SpeciesColumns columns(setup, s, all);
  add_state_columns(columns, s, species.mass);
  columns.momenta("impulse", "momentum from all forces since the start,",
                  [](const Budget& budget) -> const Amount& { return budget.force; });
  columns.of("work", "kinetic energy from all forces since the start",
             [](const OfSpecies& of) { return of.budget.force.energy; });
  add_wall_columns(columns, species.grid);
  if (emits(species)) {
    const auto emitted = [](const Budget& budget) -> const Amount& { return budget.emitted; };
    columns.of("emitted", "particles that walls emitted since the start",
               [](const OfSpecies& of) { return of.budget.emitted.particles; });
    columns.momenta("emitted_momentum", "momentum of what walls emitted since the start,", emitted);
    columns.of("emitted_energy", "kinetic energy that walls emitted since the start",
               [](const OfSpecies& of) { return of.budget.emitted.energy; });
  }
  if (setup.system.keep_positive) {
    columns.momenta("limited_momentum", "momentum that keeping f positive added,",
                    [](const Budget& budget) -> const Amount& { return budget.limited; });
    columns.of("limited_energy", "kinetic energy that keeping f positive added",
               [](const OfSpecies& of) { return of.budget.limited.energy; });
  }
  if (setup.has_source[s]) {
    columns.of("source_particles", "particles from the source since the start",
               [](const OfSpecies& of) { return of.budget.source.particles; });
    columns.momenta("source_momentum", "momentum from the source,",
                    [](const Budget& budget) -> const Amount& { return budget.source; });
    columns.of("source_energy", "kinetic energy from the source",
               [](const OfSpecies& of) { return of.budget.source.energy; });
  }
  add_rest_columns(columns, s, species.mass);
}

// Energies are epsilon0/2 int E^2 and int B^2 / (2 mu0); their balance with the kinetic energy is what a run
// is judged by.
void add_field_columns(const Setup& setup, std::vector<HistoryColumn>& columns) {
  const auto of = [&](const std::string& name, const std::string& text,
                      std::function<double(const Sample&)> value) {
    columns.push_back(
        {name, "1", text, [value = std::move(value)](const HistoryRow& row) { return value(row.sample); }});
  };
  const auto& system = setup.system;
  const double electric = 0.5 * (system.field == FieldModel::poisson ? system.poisson.epsilon0
                                                                     : system.maxwell.epsilon0),
               magnetic = 0.5 / system.maxwell.mu0;
  constexpr const char* components[] = {"ex", "ey", "ez", "bx", "by", "bz"};
  for (std::size_t c = 0; c < 6; ++c)
    of(std::string(components[c]) + "_squared", fmt::format("Integral of {}^2 over x", components[c]),
       [c](const Sample& sample) { return sample.field[c]; });
  of("electric_energy", "epsilon0/2 times the integral of E^2", [electric](const Sample& sample) {
    return electric * (sample.field[0] + sample.field[1] + sample.field[2]);
  });
  of("magnetic_energy", "The integral of B^2 over 2 mu0", [magnetic](const Sample& sample) {
    return magnetic * (sample.field[3] + sample.field[4] + sample.field[5]);
  });
  of("kinetic_energy", "Sum over species of m/2 times the integral of v^2 f",
     [](const Sample& sample) { return sample.kinetic_energy; });
  of("energy", "Field and kinetic energy", [](const Sample& sample) { return sample.energy(); });
  of("energy_balance",
     "Energy, less what sources, given fields, currents and potentials and keeping f "
     "positive brought, with what left through walls",
     [](const Sample& sample) { return sample.energy_balance(); });
  of("charge_density", "Root mean square over x of the charge density",
     [](const Sample& sample) { return sample.charge_density; });
  of("gauss_error", "Root mean square over x of epsilon0 div E - rho (Maxwell)",
     [](const Sample& sample) { return sample.gauss_error; });
  of("excess_charge", "Net charge for which Poisson's equation has no solution at these walls: dropped",
     [](const Sample& sample) { return sample.excess_charge; });
  if (const auto given = given_column(setup); !given.empty())
    of(given,
       system.external_current ? "Field energy from the given current since the start"
                               : "Field energy from the charge that sources brought since the start",
       [](const Sample& sample) { return sample.field_budget.given; });
  for_field_walls(setup, [&](std::size_t d, std::size_t side) {
    const auto wall = wall_name(d, side);
    of("field_left_" + wall, "Field energy that left through the wall, net, " + wall,
       [d, side](const Sample& sample) { return sample.field_budget.left[d][side]; });
  });
}

}  // namespace

std::vector<HistoryColumn> history_columns(const Setup& setup) {
  std::vector<HistoryColumn> columns = {
      {"time", "1", "Time", [](const HistoryRow& row) { return row.sample.time; }},
      {"step", "1", "Steps done", [](const HistoryRow& row) { return row.step; }},
      {"dt", "1", "Last time step", [](const HistoryRow& row) { return row.dt; }}};
  add_field_columns(setup, columns);
  if (setup.wave) {
    const auto name = wave_name(*setup.wave);
    columns.push_back({name + "_real", "1", "Amplitude of the theory's wave, real part",
                       [](const HistoryRow& row) { return row.wave.real(); }});
    columns.push_back({name + "_imag", "1", "Amplitude of the theory's wave, imaginary part",
                       [](const HistoryRow& row) { return row.wave.imag(); }});
  }
  for (std::size_t s = 0; s < setup.species.size(); ++s) add_species_columns(setup, s, columns);
  return columns;
}

History::History(Context& context, const Setup& setup, std::int64_t first_step)
    : setup_(setup), table_(context, {"history"}, history_columns(setup), first_step) {}

void History::add(const Sample& sample, std::int64_t step, double dt, std::complex<double> wave) {
  for (std::size_t s = first_.size(); s < sample.species.size(); ++s) {
    const auto& name = setup_.species[s].name;
    const auto first = [&](const std::string& of) { return column(name + "_" + of).front(); };
    Amount amount = amount_of(sample.species[s], setup_.species[s].mass);
    if (!empty()) {
      amount = {first("particles"), {}, first("kinetic_energy")};
      for (int d = 0; d < setup_.basis.vdim(); ++d)
        amount.momentum[d] = first(fmt::format("momentum_{}", "xyz"[d]));
    }
    first_.push_back(amount);
  }
  table_.add({sample, static_cast<double>(step), dt, first_, wave});
}

}  // namespace quintet::vlasov
