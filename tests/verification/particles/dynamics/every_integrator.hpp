#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "physics/particles/dynamics/integrators.hpp"
#include "physics/particles/dynamics/thermostats/thermostats.hpp"

/// Options of every integrator there is: each thermostat at constant volume and with each barostat. A
/// thermostat that is added is tested with the others.
inline std::vector<quintet::IntegratorOptions> every_integrator(double temperature) {
  using namespace quintet;
  std::vector<IntegratorOptions> all{{}, {.ensemble = Ensemble::nph, .temperature = temperature}};
  for (const auto& row : thermostats()) {
    all.push_back({.ensemble = row.value, .temperature = temperature, .temperature_end = 1.5 * temperature});
    for (const auto method : {BarostatMethod::cell_rescaling, BarostatMethod::mtk}) {
      IntegratorOptions npt{.ensemble = Ensemble::npt, .temperature = temperature};
      npt.barostat.thermostat = row.value;
      npt.barostat.method = method;
      all.push_back(npt);
    }
  }
  all.push_back({.ensemble = Ensemble::minimise});
  all.push_back(all.back());
  all.back().minimiser.cell.emplace();
  return all;
}

/// "nose_hoover", "npt_langevin_mtk", ...: names of tests.
inline std::string name_of(const ::testing::TestParamInfo<quintet::IntegratorOptions>& info) {
  using namespace quintet;
  const auto& options = info.param;
  const auto name = ensemble_name(options.ensemble);
  if (options.ensemble == Ensemble::minimise && options.minimiser.cell) return name + "_cell";
  if (options.ensemble != Ensemble::npt) return name;
  return name + "_" + ensemble_name(options.barostat.thermostat) +
         (uses_mtk(options) ? "_mtk" : "_rescaling");
}
