#include "apps/vlasov/history.hpp"

#include <algorithm>

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"

namespace quintet::vlasov {

using namespace kinetics;

std::vector<HistoryColumn> history_columns(const Setup& setup) {
  std::vector<HistoryColumn> columns = {{"time", "Time"}, {"step", "Steps done"}, {"dt", "Last time step"}};
  for (const char* name : {"ex", "ey", "ez", "bx", "by", "bz"})
    columns.push_back({std::string(name) + "_squared", fmt::format("Integral of {}^2 over x", name)});
  columns.push_back({"electric_energy", "epsilon0/2 times the integral of E^2"});
  columns.push_back({"magnetic_energy", "The integral of B^2 over 2 mu0"});
  columns.push_back({"kinetic_energy", "Sum over species of m/2 times the integral of v^2 f"});
  columns.push_back({"energy", "Field and kinetic energy"});
  columns.push_back({"charge_density", "Root mean square over x of the charge density"});
  columns.push_back({"gauss_error", "Root mean square over x of epsilon0 div E - rho (Maxwell)"});
  columns.push_back(
      {"excess_charge", "Charge that the walls of Poisson's equation leave no field for: dropped"});
  for (const auto& species : setup.species) {
    const auto column = [&](const std::string& name, const std::string& text) {
      columns.push_back({species.name + "_" + name, species.name + ": " + text});
    };
    column("particles", "integral of f");
    for (int i = 0; i < setup.basis.vdim(); ++i)
      column(fmt::format("momentum_{}", "xyz"[i]), fmt::format("m times the integral of v{} f", "xyz"[i]));
    column("kinetic_energy", "m/2 times the integral of v^2 f");
    column("f_squared", "integral of f^2");
    column("least_mean", "least cell mean of f");
    column("edge_share",
           "greatest part of the mean density in the outermost velocity cells of one side, over x and sides");
    column("lost", "particles that left through walls");
    column("lost_energy", "kinetic energy that left through walls");
  }
  return columns;
}

History::History(Context& context, const Setup& setup, std::int64_t first_step)
    : columns_(history_columns(setup)),
      electric_factor_(0.5 * (setup.system.field == FieldModel::poisson ? setup.system.poisson.epsilon0
                                                                        : setup.system.maxwell.epsilon0)),
      magnetic_factor_(0.5 / setup.system.maxwell.mu0),
      vdim_(setup.basis.vdim()) {
  for (const auto& species : setup.species) masses_.push_back(species.mass);
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

void History::add(const Sample& sample, std::int64_t step, double dt) {
  const auto& steps = column("step");
  if (!steps.empty() && steps.back() >= static_cast<double>(step)) return;
  const auto& field = sample.field;
  std::vector<double> row = {sample.time, static_cast<double>(step), dt};
  row.insert(row.end(), field.begin(), field.begin() + 6);
  row.push_back(electric_factor_ * (field[0] + field[1] + field[2]));
  row.push_back(magnetic_factor_ * (field[3] + field[4] + field[5]));
  row.push_back(sample.kinetic_energy);
  row.insert(row.end(), {sample.energy(), sample.charge_density, sample.gauss_error, sample.excess_charge});
  for (std::size_t s = 0; s < sample.species.size(); ++s) {
    const auto& one = sample.species[s];
    row.push_back(one.m0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(vdim_); ++i) row.push_back(masses_[s] * one.m1[i]);
    row.insert(row.end(), {0.5 * masses_[s] * one.m2, one.l2, one.least_mean, one.edge.share, one.lost,
                           one.lost_energy});
  }
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
