#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/table/run_table.hpp"
#include "apps/vlasov/setup/setup.hpp"

namespace quintet::vlasov {

/// Data of a row of the history.
struct HistoryRow {
  const kinetics::Sample& sample;
  double step, dt;
  const std::vector<kinetics::Amount>& first;  ///< of each species, at the first row
  std::complex<double> wave;                   ///< wave_amplitude()
};
using HistoryColumn = RunColumn<HistoryRow>;

/// The history: sums over phase space every so many steps, in group `history` of run.h5.
///
/// Columns: time, step, dt; ex_squared ... bz_squared = int E_x^2 dx ...; electric_energy, magnetic_energy,
/// kinetic_energy, energy, energy_balance; wave_FIELD_kK_real, _imag (see wave_amplitude(), with a theory);
/// charge_density, gauss_error, excess_charge (see Sample); current_work (Maxwell with a given current) or
/// source_field_energy (Poisson with sources), field_left_x_lower ... (open and fixed walls of Maxwell's
/// field, neumann walls of Poisson's that charge crosses). For each species S: S_particles, S_momentum_x ...,
/// S_kinetic_energy, S_f_squared = int f^2, S_least_mean, S_edge_share, S_negative_share, and what has
/// changed the first three since the start (see Budget): S_impulse_x ..., S_work, S_left_x_lower ...,
/// S_left_momentum_x_lower_x ..., S_left_energy_x_lower ... (walls), S_emitted, S_emitted_momentum_x ...,
/// S_emitted_energy (walls that do), S_limited_momentum_x ..., S_limited_energy (where f is kept positive),
/// S_source_particles ... (sources), S_rest_particles, S_rest_momentum_x ..., S_rest_energy.
class History {
 public:
  /// On a restart rows after `first_step` are dropped and what was there before is read back. Collective.
  History(Context& context, const Setup& setup, std::int64_t first_step);

  /// Add a row, unless there is one of this step. Collective.
  void add(const kinetics::Sample& sample, std::int64_t step, double dt, std::complex<double> wave);

  [[nodiscard]] bool has(const std::string& column) const { return table_.has(column); }
  /// No row yet: of a run that goes on and whose run.h5 is lost.
  [[nodiscard]] bool empty() const { return table_.empty(); }
  /// Values of a column so far. Throws InternalError for an unknown column.
  [[nodiscard]] const std::vector<double>& column(const std::string& name) const {
    return table_.column(name);
  }

 private:
  const Setup& setup_;
  RunTable<HistoryRow> table_;
  std::vector<kinetics::Amount> first_;  ///< of each species, from the first row
};

/// The columns of a run, also for checks before it begins.
[[nodiscard]] std::vector<HistoryColumn> history_columns(const Setup& setup);

}  // namespace quintet::vlasov
