#pragma once

#include <optional>
#include <string>
#include <vector>

#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

namespace quintet::submatrix {

/// The levels around the chemical potential of one spin (hartree).
struct SpinLevels {
  double homo = 0, lumo = 0;
  double error = 0;  ///< of lumo - homo
};

/// The numbers of one evaluation; matrices left out. Hartree; one spin.
struct Evaluation {
  int matrix = 0;  ///< of which K: 0 the first, then the further ones
  double threshold = 0;
  double tr_dk = 0, mu = 0;
  std::optional<double> mu_down;          ///< of an open shell, mu being that of spin up
  SpinLevels up, down;                    ///< of an open shell
  double unpaired = 0;                    ///< electrons of spin up less those of spin down
  double n_pairs = 0;                     ///< Tr P, which is what is held fixed
  double n_pairs_of_d = 0;                ///< Tr(D S): also has the error of S^-1/2
  double n_pairs_put = 0;                 ///< what was put on the frontier orbitals to hold it
  int n_in_gap = 0;                       ///< submatrices with eigenvalues in the gap of the others
  double homo = 0, lumo = 0;              ///< infinite if absent
  double homo_error = 0, lumo_error = 0;  ///< residuals: A has a level that close
  double entropy = 0;                     ///< (k_B)
  double idempotency = 0, commutator = 0, asymmetry = 0;
  int error_columns = 0;       ///< sampled for the estimates that follow; 0: no estimates
  double energy_error = 0;     ///< of tr_dk, from the submatrices' range, the polynomial and S^-1/2
  double pairs_error = 0;      ///< of n_pairs; fixed electrons: before any were put
  double mu_error = 0;         ///< fixed electrons at a temperature, of both spins the larger; else 0
  double p_error = 0;          ///< ||P - P_exact||_F
  double p_error_inside = 0;   ///< of the blocks that P has
  double rest = 0;             ///< ||D_whole - D||_F, what D lacks outside of its blocks; NaN: not known
  bool whole = false;          ///< D has all blocks that were computed, not those of K and S alone
  double density_error = 0;    ///< of D as written: p_error, S^-1/2, the rest; NaN: not known
  double error_seconds = 0;    ///< that the estimates took
  double blocks = 0;           ///< a block column
  int n_mean = 0, n_max = 0;   ///< rows of the submatrices
  int n_submatrices = 0;       ///< clusters of block columns
  double clustering_gain = 1;  ///< predicted
  int degree = 0;              ///< of the polynomial
  std::string kernel;          ///< that was used
  double flops = 0;            ///< over all ranks
  double seconds = 0;          ///< of the submatrices, slowest rank
  double kernel_seconds = 0, predicted_seconds = 0;  ///< of it in the kernels
  double density_seconds = 0;                        ///< D and the measures of its error
  int probe_vectors = 0;                             ///< on which P was compared with a series of A; 0: none
  int probe_degree = 0;                              ///< of that series
  double probed_error = 0;                           ///< ||P - P_exact||_F of them
  double probed_deviation = 0;                       ///< its standard error
  double probe_series_error = 0;                     ///< of P_exact
  std::string probe_refused;                         ///< why there is no such number although it was wanted
  std::string refused;                               ///< why there are no numbers; "": there are
  double condition = 0;                              ///< of S, dense diagonalisation; 0: not known
};

/// Collective.
[[nodiscard]] Evaluation summary_of(double threshold, const electronic::SubmatrixResult& sign,
                                    const electronic::DensityResult& density, double density_seconds);

/// Both spins together, as the mean of two: energies, electrons and entropy are half the sum, levels the
/// innermost of both (up and down keep each spin's own), errors the root of the mean square, times and work
/// the sum.
[[nodiscard]] Evaluation mean_of(const Evaluation& up, const Evaluation& down);

/// Whether each spin of an open shell has its own chemical potential. Then lumo may lie below homo: they
/// belong to different spins, and fixed numbers of each keep electrons from falling.
[[nodiscard]] bool has_two_mu(const Evaluation& evaluation);
/// LUMO less HOMO; of two chemical potentials that of the spin where it is smaller (hartree).
[[nodiscard]] double smallest_gap(const Evaluation& evaluation);
/// "1.234 +- 0.001 eV", of two chemical potentials each spin's and the innermost pair's, or "not found".
[[nodiscard]] std::string gap_text(const Evaluation& evaluation, const char* plus_minus);

/// Why a result should not be used as it is, or nothing. Judged by what energies, D on K's pattern and forces
/// feel: P's error in the blocks that P has (2 % of the orbitals), and the energy's (1e-4 hartree a pair).
/// Blocks that P lacks do not count, however much of ||P - P_exact|| they make. Without estimates: by P P -
/// P.
[[nodiscard]] std::optional<std::string> doubt(const Evaluation& evaluation, double temperature);

}  // namespace quintet::submatrix
