#pragma once

#include <array>
#include <optional>
#include <vector>

#include "physics/kernels/execution.hpp"
#include "physics/particles/atoms/box.hpp"

namespace quintet::potential {

/// How much the models of an ensemble disagree about one configuration.
///
/// With <.> the mean over the models, F_i the force on atom i and W the virial:
///
///   e_F,i = sqrt(<|F_i - <F_i>|^2>),   e_W,kl = sqrt(<(W_kl - <W_kl>)^2>) / N,   e_E = sqrt(<(E - <E>)^2>) /
///   N;
///
/// max, min and mean of e_F over the atoms; max, min and root mean square of e_W over the nine components.
/// Source: DeePMD-kit documentation, "Calculate Model Deviation"; Zhang et al. (2020), Comput. Phys. Commun.
/// 253, 107206 (DP-GEN).
struct Deviation {
  double max_virial = 0, min_virial = 0, mean_virial = 0;  ///< an atom (eV)
  double max_force = 0, min_force = 0, mean_force = 0;     ///< (eV/angstrom)
  double energy = 0;                                       ///< an atom (eV)
};

struct DeviationMeasure {
  /// If given: e_F,i / (|<F_i>| + relative_force) (eV/angstrom).
  std::optional<double> relative_force;
  /// If given: e_W,kl / (|<W_kl>| / N + relative_virial) (eV).
  std::optional<double> relative_virial;
};

/// e_F of each atom. forces: one view a model, [n, 3] (eV/angstrom); deviation: [n]. Reads 24 bytes an atom
/// and model twice.
void force_deviation(const Exec& exec, const std::vector<Vectors>& forces, int n,
                     const std::optional<double>& relative, const Array<double>& deviation);
/// Largest, least and root mean square of e_W for the virials (eV) of all models.
[[nodiscard]] std::array<double, 3> virial_deviation(const std::vector<Mat3>& virials, double n_atoms,
                                                     const std::optional<double>& relative);

/// Mean and standard deviation over the models (not the sample's: divided by their number).
struct Spread {
  double mean, deviation;
};
[[nodiscard]] Spread spread_over_models(const std::vector<double>& values);

}  // namespace quintet::potential
