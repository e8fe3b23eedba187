#pragma once

#include <vector>

namespace quintet::kinetics {

/// What SpeciesExchange works with in every configuration cell, as plain data; see ExchangeCell.
struct ExchangeTables {
  int n_species = 0, vdim = 1, n_modes = 0, n_nodes = 1, n_control = 0, n_profiles = 0;
  bool uniform = true, with_states = false, spitzer = false;
  double reference_density = 1, reference_thermal_speed = 1, constant = 1;
  std::vector<double> values, weights, control;  ///< [n_nodes, n_modes], [n_nodes], [n_control, n_modes]
  std::vector<double> masses, numbers;           ///< [n_species], [n_species, n_species]
  std::vector<int> profile_of;                   ///< [n_species, n_species]
};

}  // namespace quintet::kinetics
