#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/vlasov/setup/setup.hpp"

namespace quintet::vlasov {

/// What is known of a column of the history.
struct HistoryColumn {
  std::string name, description;
};

/// The history: sums over phase space every so many steps, in group `history` of run.h5.
///
/// Columns: time, step, dt; ex_squared ... bz_squared = int E_x^2 dx ...; electric_energy, magnetic_energy,
/// kinetic_energy, energy, energy_balance; charge_density, gauss_error, excess_charge (see Sample);
/// current_work (Maxwell with a given current) or source_field_energy (Poisson with sources),
/// field_left_x_lower ... (open and fixed walls of Maxwell's field, neumann walls of Poisson's that charge
/// crosses). For each species S: S_particles, S_momentum_x ..., S_kinetic_energy, S_f_squared = int f^2,
/// S_least_mean, S_edge_share, S_negative_share, and what has changed the first three since the start (see
/// Budget): S_impulse_x ..., S_work, S_left_x_lower ..., S_left_momentum_x_lower_x ...,
/// S_left_energy_x_lower ... (walls), S_emitted, S_emitted_momentum_x ..., S_emitted_energy (walls that do),
/// S_limited_momentum_x ..., S_limited_energy (where f is kept positive), S_source_particles ... (sources),
/// S_rest_particles, S_rest_momentum_x ..., S_rest_energy.
class History {
 public:
  /// On a restart rows after `first_step` are dropped and what was there before is read back. Collective.
  History(Context& context, const Setup& setup, std::int64_t first_step);

  /// Add a row, unless there is one of this step. Collective.
  void add(const kinetics::Sample& sample, std::int64_t step, double dt);

  [[nodiscard]] const std::vector<HistoryColumn>& columns() const { return columns_; }
  [[nodiscard]] bool has(const std::string& column) const;
  /// Values so far. Throws InputError if there is no such column.
  [[nodiscard]] const std::vector<double>& column(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  /// What a species has, and what its budget says of it, as values of its columns.
  void add_species(std::size_t s, const kinetics::Sample::OfSpecies& of, std::vector<double>& row);
  [[nodiscard]] std::size_t index(const std::string& name) const;

  std::vector<HistoryColumn> columns_;
  std::vector<hdf5::Series> series_;          ///< one a column
  std::vector<std::vector<double>> values_;   ///< of each column
  double electric_factor_, magnetic_factor_;  ///< epsilon0/2, 1/(2 mu0)
  const Setup& setup_;
  std::vector<kinetics::Amount> first_;  ///< of each species, from the first row
};

/// Names of the columns of a run, for checks before it begins.
[[nodiscard]] std::vector<HistoryColumn> history_columns(const Setup& setup);

}  // namespace quintet::vlasov
