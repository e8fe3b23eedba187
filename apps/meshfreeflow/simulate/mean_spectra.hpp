#pragma once

#include <vector>

#include "apps/application/table/run_table.hpp"
#include "apps/meshfreeflow/simulate/simulation.hpp"
#include "physics/convection/spectra.hpp"

namespace quintet::meshfreeflow {

/// Spectra of each flow at a time.
struct SpectraRow {
  double time;
  const std::vector<convection::Spectra>& flows;
};

/// Spectra along x over time, in group `spectra` of run.h5: kinetic_middle, buoyancy_middle, kinetic_volume,
/// buoyancy_volume [sample, flow, wave] (see convection::Spectra) with time [sample] and wavenumber [wave].
class MeanSpectra {
 public:
  /// On a restart what is later than the simulation's time is dropped, what was there before read back.
  /// Collective.
  MeanSpectra(Context& context, const Simulation& simulation);
  /// Add those of this instant, if statistics.from has been reached. Collective.
  void add(const Simulation& simulation);
  /// Means over samples and flows, by kind in the order above; empty without samples.
  [[nodiscard]] std::vector<std::vector<double>> means() const;
  [[nodiscard]] const std::vector<double>& wavenumbers() const { return wavenumbers_; }
  [[nodiscard]] std::size_t size() const { return table_.size(); }

 private:
  std::vector<double> wavenumbers_;
  RunTable<SpectraRow> table_;
};

}  // namespace quintet::meshfreeflow
