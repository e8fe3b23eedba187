#include "apps/meshfreeflow/simulate/mean_spectra.hpp"

#include "apps/application/life/context.hpp"

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

std::vector<RunColumn<SpectraRow>> columns(std::uint64_t n_flows, std::uint64_t n_waves) {
  std::vector<RunColumn<SpectraRow>> all{
      {"time", "1", "Time", [](const SpectraRow& row) { return row.time; }}};
  for (const auto& kind : kinds) {
    const auto entry = [values = kind.values](const SpectraRow& row) {
      std::vector<double> all_flows;
      for (const auto& one : row.flows)
        all_flows.insert(all_flows.end(), (one.*values).begin(), (one.*values).end());
      return all_flows;
    };
    all.push_back({kind.name, "1", kind.text, {}, entry, {n_flows, n_waves}, {"flow", "wave"}});
  }
  return all;
}

}  // namespace

MeanSpectra::MeanSpectra(Context& context, const Simulation& simulation)
    : wavenumbers_(spectra(Exec(), simulation.flow(), 0).wavenumber),
      table_(context, {.group = "spectra", .key = "time"},
             columns(simulation.options().seeds.size(), wavenumbers_.size()), simulation.time()) {
  context.results().root().group("spectra").write<double>("wavenumber", wavenumbers_, {wavenumbers_.size()},
                                                          {"1", {"wave"}, "Of the waves along x"});
}

void MeanSpectra::add(const Simulation& simulation) {
  const double time = simulation.time();
  if (time < simulation.options().statistics.from) return;
  std::vector<Spectra> flows;
  for (int m = 0; m < simulation.flow().n_members(); ++m)
    flows.push_back(spectra(Exec(), simulation.flow(), m));
  table_.add({time, flows});
}

std::vector<std::vector<double>> MeanSpectra::means() const {
  std::vector<std::vector<double>> result;
  const std::size_t waves = wavenumbers_.size();
  if (table_.empty()) return {};
  for (const auto& kind : kinds) {
    const auto& values = table_.column(kind.name);
    std::vector<double> mean(waves);
    const double n = static_cast<double>(values.size()) / waves;
    for (std::size_t i = 0; i < values.size(); ++i) mean[i % waves] += values[i] / n;
    result.push_back(std::move(mean));
  }
  return result;
}

}  // namespace quintet::meshfreeflow
