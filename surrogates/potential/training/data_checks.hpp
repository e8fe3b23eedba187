#pragma once

#include <vector>

#include "surrogates/potential/training/data.hpp"

namespace quintet::potential {

/// Refuse labels and coordinates that are not finite or are absent where they are needed; warn of those that
/// look like another unit. Throws InputError: system, frame, atom.
void check_labels(const std::vector<LabelledSystem>& systems, const DataOptions& options);

/// Leave out frames with two atoms, images included, nearer than this (angstrom); a warning says how many of
/// each system, and names the nearest pair's frame. Throws InputError for a system of which none is left.
void leave_out_near_pairs(std::vector<LabelledSystem>& systems, double distance);

/// How the energies of neighbouring frames change with the work of their forces, by least squares:
///
///     E_{k+1} - E_k = -slope W_k,   W_k = sum_i (F_i,k + F_i,k+1)/2 . (x_i,k+1 - x_i,k)
///
/// for consecutive frames of one cell in which no atom moves by more than 0.3 angstrom. 1 for consistent
/// labels (trapezoidal rule), the ratio of the units otherwise, -1 for gradients in place of forces.
struct Work {
  int pairs = 0;           ///< of frames that are near enough
  double slope = 0;        ///< (1)
  double correlation = 0;  ///< between -W and the change, -1 .. 1
};
[[nodiscard]] Work compare_with_work(const LabelledSystem& system);

/// How the energies of neighbouring frames whose cells differ a little change with the work of their virials:
///
///     E_{k+1} - E_k + W_k = -slope sum_kl (V_k + V_k+1)/2 : strain,   x -> x (1 + strain) between the cells
///
/// with W_k the work along what atoms move beside the strain (at most 0.3 angstrom; strains of at most 0.03).
/// 1 for consistent labels, -1 for a stress of the other sign, 1/160.2 for GPa taken as eV/angstrom^3.
[[nodiscard]] Work compare_with_strain(const LabelledSystem& system);

}  // namespace quintet::potential
