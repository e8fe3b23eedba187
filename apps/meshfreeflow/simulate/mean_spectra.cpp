#include "apps/meshfreeflow/simulate/mean_spectra.hpp"

#include <algorithm>

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

struct Kind {
  const char *name, *text;
  std::vector<double> Spectra::*values;
};
constexpr Kind kinds[] = {
    {"kinetic_middle", "(u^2 + w^2)/2 of each wave in the row of cells above the middle",
     &Spectra::kinetic_middle},
    {"buoyancy_middle", "b^2 of each wave in that row", &Spectra::buoyancy_middle},
    {"kinetic_volume", "Mean over z of (u^2 + w^2)/2 of each wave", &Spectra::kinetic_volume},
    {"buoyancy_volume", "Mean over z of b^2 of each wave", &Spectra::buoyancy_volume}};

}  // namespace

MeanSpectra::MeanSpectra(Context& context, const Simulation& simulation)
    : time_(context.results().root().group("spectra").series<double>("time", {}, {"1", {"sample"}, "Time"})),
      wavenumbers_(spectra(Exec(), simulation.flow(), 0).wavenumber) {
  hdf5::Group group = context.results().root().group("spectra");
  const std::uint64_t waves = wavenumbers_.size(), flows = simulation.options().seeds.size();
  group.write<double>("wavenumber", wavenumbers_, {waves}, {"1", {"wave"}, "Of the waves along x"});
  for (const double time : group.read_rows<double>("time", 0, time_.size()))
    if (time <= simulation.time()) times_.push_back(time);
  time_.truncate(times_.size());
  for (const auto& [name, text, values] : kinds) {
    series_.push_back(group.series<double>(name, {flows, waves}, {"1", {"sample", "flow", "wave"}, text}));
    series_.back().truncate(times_.size());
    values_.push_back(group.read_rows<double>(name, 0, times_.size()));
  }
}

void MeanSpectra::add(const Simulation& simulation) {
  const double time = simulation.time();
  if (time < simulation.options().statistics.from || (!times_.empty() && times_.back() >= time)) return;
  std::vector<std::vector<double>> rows(std::size(kinds));
  for (int m = 0; m < simulation.flow().n_members(); ++m) {
    const Spectra now = spectra(Exec(), simulation.flow(), m);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto& values = now.*kinds[k].values;
      rows[k].insert(rows[k].end(), values.begin(), values.end());
    }
  }
  time_.append(std::span<const double>(&time, 1));
  times_.push_back(time);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    series_[k].append(std::span<const double>(rows[k]));
    values_[k].insert(values_[k].end(), rows[k].begin(), rows[k].end());
  }
}

std::vector<std::vector<double>> MeanSpectra::means() const {
  std::vector<std::vector<double>> result;
  const std::size_t waves = wavenumbers_.size();
  for (const auto& values : values_) {
    if (values.empty()) return {};
    std::vector<double> mean(waves);
    const double n = static_cast<double>(values.size()) / static_cast<double>(waves);
    for (std::size_t i = 0; i < values.size(); ++i) mean[i % waves] += values[i] / n;
    result.push_back(std::move(mean));
  }
  return result;
}

}  // namespace quintet::meshfreeflow
