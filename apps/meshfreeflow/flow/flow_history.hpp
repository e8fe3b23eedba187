#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/application/table/run_table.hpp"
#include "apps/meshfreeflow/flow/flow_simulation.hpp"

namespace quintet::meshfreeflow::periodic {

/// Numbers of a flow at a time.
struct FlowSample {
  std::vector<double> means, maxima;         ///< of the formulas
  double tail = 0;                           ///< greatest share of a variable beyond two thirds of its waves
  std::vector<std::vector<double>> spectra;  ///< [spectrum][shell]
};

/// Looks at flows: what `means`, `maxima` and `spectra` ask for.
class FlowLook {
 public:
  /// Throws InputError: formulas that cannot be read, names that are there twice.
  explicit FlowLook(const FlowSimulation& simulation);
  /// Collective. Throws NumericalError for a mean or maximum that is not finite.
  [[nodiscard]] FlowSample sample(const FlowSimulation& simulation, int member);
  [[nodiscard]] std::size_t n_shells() const { return n_shells_; }
  [[nodiscard]] double shell_width() const { return shell_width_; }

 private:
  std::unique_ptr<spectral::FlowMachine> machine_;
  std::vector<std::string> names_;  ///< of means, then of maxima
  std::size_t n_means_;
  std::vector<std::size_t> sizes_;  ///< formulas of each spectrum
  spectral::Modes waves_;
  std::size_t n_shells_;
  double shell_width_;
};

/// Data of a row of the history, of each flow.
struct FlowRow {
  const std::vector<FlowSample>& samples;
  double time, step, dt;
};

/// Numbers over time in group `history` of run.h5: time, step, dt [sample]; means, maxima and `spectrum_tail`
/// [sample, flow]. Spectra in group `spectra`: time [sample], wavenumber [shell], each spectrum [sample,
/// flow, shell].
class FlowHistory {
 public:
  /// On a restart rows after its step are dropped and what was there before is read back. Collective.
  FlowHistory(Context& context, const FlowSimulation& simulation, const FlowLook& look);
  void add(const std::vector<FlowSample>& samples, const FlowSimulation& simulation);  ///< collective

  [[nodiscard]] bool empty() const { return table_.empty(); }
  [[nodiscard]] const std::vector<double>& times() const { return table_.column("time"); }
  /// All values of a flow's column so far.
  [[nodiscard]] std::vector<double> column(const std::string& name, int flow) const;
  [[nodiscard]] const std::vector<double>& wavenumbers() const { return wavenumbers_; }
  /// A spectrum of the first flow: the mean over the later half of the samples.
  [[nodiscard]] std::vector<double> mean_spectrum(const std::string& name) const;

 private:
  std::size_t n_flows_;
  std::vector<double> wavenumbers_;
  RunTable<FlowRow> table_, spectra_;
};

/// Whether the grid resolves the flow: limits.spectrum_tail.
class FlowHealth {
 public:
  explicit FlowHealth(const FlowOptions& options) : limit_(options.limits.spectrum_tail) {}
  /// Warns once beyond a tenth of the limit. Throws NumericalError beyond it.
  void check(const std::vector<FlowSample>& samples, const FlowSimulation& simulation);
  [[nodiscard]] double worst() const { return worst_; }  ///< over the limit at which it warns

 private:
  double limit_, worst_ = 0;
  bool warned_ = false;
};

}  // namespace quintet::meshfreeflow::periodic
