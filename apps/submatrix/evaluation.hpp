#pragma once

#include <optional>
#include <string>
#include <vector>

#include "physics/electronic/submatrix.hpp"

namespace quintet::submatrix {

/// The numbers of one evaluation; matrices left out. Hartree; one spin.
struct Evaluation {
  double threshold = 0;
  double tr_dk = 0, mu = 0;
  std::optional<double> mu_down;  ///< of an open shell, mu being that of spin up
  double unpaired = 0;            ///< electrons of spin up less those of spin down
  double n_pairs = 0;             ///< Tr P, which is what is held fixed
  double n_pairs_of_d = 0;        ///< Tr(D S): also has the error of S^-1/2
  double n_pairs_put = 0;         ///< what was put on the frontier orbitals to hold it
  int n_in_gap = 0;               ///< submatrices with eigenvalues in the gap of the others
  double homo = 0, lumo = 0;      ///< estimates, infinite where none was found
  double entropy = 0;             ///< (k_B)
  double idempotency = 0, commutator = 0, asymmetry = 0;
  double blocks = 0;                                 ///< a block column
  int n_mean = 0, n_max = 0;                         ///< rows of the submatrices
  int n_submatrices = 0;                             ///< clusters of block columns
  double clustering_gain = 1;                        ///< predicted
  int degree = 0;                                    ///< of the polynomial
  std::string kernel;                                ///< that was used
  double flops = 0;                                  ///< over all ranks
  double seconds = 0;                                ///< of the submatrices, slowest rank
  double kernel_seconds = 0, predicted_seconds = 0;  ///< of it in the kernels
  double density_seconds = 0;                        ///< D and the measures of its error
  double condition = 0;                              ///< of S, dense diagonalisation; 0: not known
};

/// "polynomial", ...
[[nodiscard]] std::string kernel_name(electronic::SubmatrixKernel kernel);
/// Collective.
[[nodiscard]] Evaluation summary_of(double threshold, const electronic::SubmatrixResult& sign,
                                    const electronic::DensityResult& density, double density_seconds);

/// Both spins together, as the mean of two: energies, electrons and entropy are half the sum, levels the
/// innermost, errors the root of the mean square, times and work the sum.
[[nodiscard]] Evaluation mean_of(const Evaluation& up, const Evaluation& down);

/// Distance of each evaluation's energy from that of the smallest threshold: an estimate of its error
/// (hartree); 0 for the smallest one itself.
[[nodiscard]] std::vector<double> error_estimates(const std::vector<Evaluation>& evaluations);

}  // namespace quintet::submatrix
