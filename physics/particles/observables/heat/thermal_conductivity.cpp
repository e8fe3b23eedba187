#include "physics/particles/observables/heat/thermal_conductivity.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/observables/msd.hpp"

namespace quintet {

namespace {
constexpr double to_watts = 1602.176634;  // eV/(angstrom ps K) in W/(m K)
constexpr const char* part_names[] = {"xx", "yy", "zz", "mean"};
}  // namespace

ThermalConductivity::ThermalConductivity(const HeatCurrentOptions& options, double dt, ForceField& field)
    : Observer(options.interval),
      options_(options),
      sample_time_(dt * options.interval),
      field_(field),
      correlation_(options.length) {}

void ThermalConductivity::sample(const Exec& exec, const Atoms& atoms, const Domain& domain) {
  shares_.compute(exec, atoms, domain, field_);
  if (correlation_.n_samples() == 0) {
    QUINTET_CHECK(atoms.box.fully_periodic(),
                  "heat_current needs a cell that is periodic in all directions; remove the section "
                  "observables.heat_current");
    QUINTET_CHECK(atoms.n_global > 1,
                  "heat_current needs more than one atom; remove the section observables.heat_current");
    zero_ = mean_energies(atoms, shares_, domain);
    n_atoms_ = atoms.n_global;
    volume_ = atoms.box.volume();
  }
  const HeatFlow flow = heat_flow(exec, atoms, shares_, zero_, barycentre_velocity(exec, atoms, domain));
  std::array<double, 4> sums{flow.current[0], flow.current[1], flow.current[2], flow.kinetic};
  domain.comm().reduce(std::span<double>(sums), Comm::Reduction::sum);
  current_ = {sums[0], sums[1], sums[2]};
  kinetic_sum_ += sums[3];
  correlation_.add(current_);
}

double ThermalConductivity::temperature() const {
  const double kinetic = kinetic_sum_ / static_cast<double>(correlation_.n_samples());
  return 2 * kinetic / (3 * static_cast<double>(n_atoms_ - 1) * units::boltzmann);
}

std::vector<double> ThermalConductivity::correlation(Part part) const {
  if (part != mean) return correlation_.average(part);
  std::vector<double> sum(correlation_.n_lags(), 0.0);
  for (const Part k : {xx, yy, zz}) {
    const auto one = correlation_.average(k);
    for (std::size_t lag = 0; lag < sum.size(); ++lag) sum[lag] += one[lag] / 3;
  }
  return sum;
}

std::vector<double> ThermalConductivity::integral(const std::vector<double>& correlation) const {
  const double t = temperature();
  const double scale = to_watts * sample_time_ / (volume_ * units::boltzmann * t * t);
  std::vector<double> values(correlation.size(), 0.0);
  for (std::size_t lag = 1; lag < values.size(); ++lag)
    values[lag] = values[lag - 1] + scale * 0.5 * (correlation[lag - 1] + correlation[lag]);
  return values;
}

std::vector<std::vector<double>> ThermalConductivity::block_integrals(Part part) const {
  std::vector<std::vector<double>> curves;
  for (std::int64_t block = 0; block < correlation_.n_blocks(); ++block) {
    std::vector<double> sum(correlation_.n_lags(), 0.0);
    for (const Part k : {xx, yy, zz}) {
      if (part != mean && part != k) continue;
      const auto one = correlation_.average_of_block(block, k);
      for (std::size_t lag = 0; lag < sum.size(); ++lag) sum[lag] += one[lag] / (part == mean ? 3 : 1);
    }
    curves.push_back(integral(sum));
  }
  return curves;
}

double ThermalConductivity::plateau(const std::vector<double>& integral) const {
  const std::size_t first = std::ceil(options_.plateau_start * static_cast<double>(integral.size() - 1));
  double sum = 0;
  for (std::size_t lag = first; lag < integral.size(); ++lag) sum += integral[lag];
  return sum / (integral.size() - first);
}

Table ThermalConductivity::conductivities() const {
  Table table{"conductivity", "Thermal conductivity up to a time difference", {}};
  for (const Part part : {mean, xx, yy, zz})
    table.columns.push_back(
        {part_names[part], "W/(m K)",
         part == mean ? "Mean of xx, yy and zz" : fmt::format("Component {}", part_names[part]),
         integral(correlation(part))});
  const auto blocks = block_integrals(mean);
  if (blocks.size() < 2) return table;
  std::vector<double> error(correlation_.n_lags());
  for (std::size_t lag = 0; lag < error.size(); ++lag) {
    std::vector<double> values;
    for (const auto& block : blocks) values.push_back(block[lag]);
    error[lag] = block_error(values, 1);
  }
  table.columns.push_back({"error", "W/(m K)", "Standard error of the mean, by blocks of the run", error});
  return table;
}

std::vector<Table> ThermalConductivity::tables() const {
  if (correlation_.n_origins() == 0 || temperature() <= 0) return {};
  std::vector<double> time(correlation_.n_lags());
  for (std::size_t lag = 0; lag < time.size(); ++lag) time[lag] = static_cast<double>(lag) * sample_time_;
  const Column axis{"time", "ps", "Time difference", time};
  Table products{"correlation", "Autocorrelation of the heat current <J(0) J(t)>", {axis}};
  for (const Part part : {mean, xx, yy, zz})
    products.columns.push_back(
        {part_names[part], "eV^2 angstrom^2/ps^2",
         part == mean ? "Mean of xx, yy and zz" : fmt::format("Component {}", part_names[part]),
         correlation(part)});
  Table conductivity = conductivities();
  conductivity.columns.insert(conductivity.columns.begin(), axis);
  return {products, conductivity};
}

std::vector<Scalar> ThermalConductivity::scalars() const {
  if (correlation_.n_origins() == 0 || temperature() <= 0) return {};
  std::vector<Scalar> result;
  for (const Part part : {mean, xx, yy, zz}) {
    std::vector<double> blocks;
    for (const auto& block : block_integrals(part)) blocks.push_back(plateau(block));
    const bool whole = part == mean;
    result.push_back(
        {whole ? "thermal_conductivity" : fmt::format("thermal_conductivity_{}", part_names[part]), "W/(m K)",
         whole ? "Thermal conductivity, mean of xx, yy and zz"
               : fmt::format("Thermal conductivity, component {}", part_names[part]),
         plateau(integral(correlation(part))), block_error(blocks, 1)});
  }
  return result;
}

void ThermalConductivity::save(hdf5::Group& group) const {
  group.set_attribute("samples", correlation_.n_samples());
  if (correlation_.n_samples() == 0) return;
  group.set_attribute("interval_atoms", std::vector<std::int64_t>{options_.interval, n_atoms_});
  group.set_attribute("volume_kinetic_sum", std::vector<double>{volume_, kinetic_sum_});
  group.write("zero_energies", std::span<const double>(zero_), {zero_.size()},
              {"eV", {"type"}, "Energies of atoms that count as none"});
  hdf5::Group inner = group.group("correlation");
  correlation_.save(inner, "eV^2 angstrom^2/ps^2");
}

void ThermalConductivity::restore(const Comm&, const hdf5::Group& group) {
  if (group.number_attribute("samples").at(0) == 0) return;
  const auto counts = group.number_attribute("interval_atoms");
  QUINTET_CHECK(counts.size() == 2 && counts[0] == static_cast<double>(options_.interval),
                "interval of heat_current differs from the checkpoint's; restart with the options of the "
                "first run");
  n_atoms_ = counts[1];
  const auto sums = group.number_attribute("volume_kinetic_sum");
  volume_ = sums.at(0);
  kinetic_sum_ = sums.at(1);
  zero_ = group.read<double>("zero_energies");
  correlation_.restore(group.open_group("correlation"));
}

}  // namespace quintet
