#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/report/report_fwd.hpp"
#include "apps/application/report/statistics.hpp"
#include "apps/application/table/run_table.hpp"
#include "apps/dpmd/setup/run_options.hpp"
#include "physics/particles/observables/thermo.hpp"

namespace quintet::dpmd {

/// Isothermal compressibility (<V^2> - <V>^2)/(kT <V>) (Allen & Tildesley, Computer Simulation of Liquids,
/// eq. 2.87) beside the one that was given.
struct Compressibility {
  double measured, error;  ///< (1/bar)
  bool contradicts;        ///< threefold or a third of what the barostat was told, and beyond three errors
};

/// The thermo table: a row every so often in run.h5 (group `thermo`), and the watch over the run's health.
class ThermoLog {
 public:
  /// On a restart rows after `first_step` are dropped and what was there before is read back. Collective.
  ThermoLog(Context& context, const LimitOptions& limits, const IntegratorOptions& integrator,
            std::int64_t first_step);

  /// Add a row. Collective. Throws NumericalError (on all ranks) if the conserved energy has drifted or the
  /// temperature risen beyond the limits, or if either is not finite; the row is written before.
  void add(const ThermoSample& sample, std::int64_t n_atoms);
  /// Means with their errors, drift and plots into tiles, summary and report.
  void report(Context& context, const IntegratorOptions& options, std::int64_t n_atoms) const;

 private:
  [[nodiscard]] const std::vector<double>& column(const std::string& name) const {
    return table_.column(name);
  }
  /// Conserved energy of the first row (eV).
  [[nodiscard]] double reference() const { return column("conserved").front(); }
  /// Mean over the second half of the rows.
  [[nodiscard]] Estimate mean(const std::string& name) const;
  void report_drift(Context& context, bool moves, std::int64_t n_atoms) const;
  void report_means(Context& context, const IntegratorOptions& options, std::int64_t n_atoms) const;
  /// From the second half of the rows; nothing where it is not known well enough.
  [[nodiscard]] std::optional<Compressibility> compressibility() const;
  /// Where the volume contradicts the compressibility that was given: both, and what that does; else "".
  [[nodiscard]] std::string wrong_compressibility() const;
  /// That text where the volume relaxes faster than was asked for, which may make the energy drift; else "".
  [[nodiscard]] std::string too_fast_volume() const;
  void report_compressibility(Context& context) const;
  void report_pressure_tensor(Report& report) const;

  LimitOptions limits_;
  IntegratorOptions integrator_;
  RunTable<ThermoSample> table_;
};

}  // namespace quintet::dpmd
