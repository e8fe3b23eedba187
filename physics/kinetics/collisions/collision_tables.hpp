#pragma once

#include <vector>

/// Tables for the formulas of collisions in every configuration cell, as plain data that devices take.
namespace quintet::kinetics {

/// Components of CollisionMoments that make B and D (CollisionMoments::solve()); plain data.
struct DragPlaces {
  bool star = false;                              ///< v^2 is not in the basis
  int drag = 1, end = 0, energy = 0, spread = 0;  ///< P, F, E and what makes G
};

/// Tables of SpeciesExchange; see ExchangeCell.
struct ExchangeTables {
  int n_species = 0, vdim = 1, n_modes = 0, n_nodes = 1, n_control = 0, n_profiles = 0;
  bool uniform = true, with_states = false, spitzer = false;
  bool mixture = false;  ///< CollisionOptions::Exchange::mixture
  double reference_density = 1, reference_thermal_speed = 1, constant = 1;
  std::vector<double> values, weights, control;  ///< [n_nodes, n_modes], [n_nodes], [n_control, n_modes]
  std::vector<double> masses, numbers;           ///< [n_species], [n_species, n_species]
  std::vector<int> profile_of;                   ///< [n_species, n_species]
};

/// Tables of BgkTarget; see BgkCell.
struct BgkTables {
  int vdim = 1, order = 1, n = 0, n_lin = 0, n_nodes = 0;
  bool mixed = false;           ///< some groups have n_lin modes alone
  double constant = 1;          ///< the value of the constant basis function
  std::vector<double> triple;   ///< int w_l w_m w_k, [n, n, n]
  std::vector<double> values;   ///< [n_nodes, n] of the basis at Gauss points of x
  std::vector<double> weights;  ///< [n_nodes]
};

}  // namespace quintet::kinetics
