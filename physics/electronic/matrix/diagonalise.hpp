#pragma once

#include <optional>
#include <span>
#include <vector>

#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

/// Largest condition number of S that dense diagonalisation takes. Levels then have errors of about 1e-16 x
/// 1e8 of the spectrum's width, and a hundred times that if the matrices were written with 14 digits.
inline constexpr double largest_condition = 1e8;

/// All solutions of K c = e S c.
struct Orbitals {
  std::vector<double> level;   ///< [n] ascending (hartree); on all ranks
  std::vector<double> vector;  ///< [n, n] c, column-major, rows as blocked, c^T S c = 1; on root, else empty
  double condition = 1;        ///< of S, to about a tenth
};
/// On the first rank with LAPACK, by way of the Cholesky factor of S; cost about 9 n^3 and 4 n^2 numbers.
/// Throws InputError if S is not positive definite or its condition number above largest_condition,
/// NumericalError if LAPACK fails. Collective.
[[nodiscard]] Orbitals orbitals_of(const BlockMatrix& k, const BlockMatrix& s);

/// Predicted seconds of this core for orbitals_of() and D: Cholesky factor, reduction, eigenvectors, C f C^T;
/// measured for n from 190 to 1536 with OpenBLAS, water to 20 %. Sparse models, whose problems deflate, take
/// half.
[[nodiscard]] double dense_seconds(double n_rows);

/// How orbitals are filled.
struct Filling {
  std::vector<double> occupation;  ///< [n] f of each level
  double tr_dk = 0;                ///< sum of f e (hartree)
  double mu = 0, n_pairs = 0;
  double homo = 0, lumo = 0;  ///< highest level that is full, lowest that is empty; infinite where none is
  double entropy = 0;         ///< -sum of f ln f + (1 - f) ln(1 - f)
};
/// f: 1 below mu and 0 above, or 1/(1 + exp((e - mu)/T)). Exactly one of `mu` and `n_pairs` is given; the
/// other follows (T = 0: mu in the middle of the gap; where
/// all orbitals are empty or full just beyond the levels). `temperature`: k_B T (hartree). Throws InputError
/// if n_pairs is not a whole number at T = 0, would fill only some of equal levels, or does not fit.
[[nodiscard]] Filling fill(const std::vector<double>& level, std::optional<double> mu,
                           std::optional<double> n_pairs, double temperature);

/// sum_i w_i c_i c_i^T on the blocks of `pattern` (values ignored): D with w = f, the energy-weighted density
/// matrix with w = f e. Bitwise symmetric. Collective.
[[nodiscard]] BlockMatrix sum_over_orbitals(const Orbitals& orbitals, std::span<const double> weight,
                                            const BlockMatrix& pattern);

/// How far rounding has taken orbitals from C^T S C = 1 (m: ones) or C^T K C = e (m: the levels):
/// ||w (C^T M C - diag(m)) w||_F with the weights w of orbitals, from vectors of random signs. Collective.
[[nodiscard]] double rounding_defect(const Orbitals& orbitals, std::span<const double> weight,
                                     const BlockMatrix& matrix, std::span<const double> m);

/// ||C w C^T - D||_F from vectors of random signs: what D lacks outside of its blocks. Collective.
[[nodiscard]] double norm_outside(const Orbitals& orbitals, std::span<const double> weight,
                                  const BlockMatrix& d);

/// The whole spectrum and its density matrix: the reference of all other methods, and the fastest way for
/// small systems.
struct Diagonalised {
  std::vector<double> level;  ///< [n] eigenvalues, ascending (hartree); on all ranks
  std::vector<double> d;      ///< [n, n] density matrix of one spin, rows as blocked; on root, else empty
  double tr_dk = 0;           ///< sum of f(e) e (hartree)
  double mu = 0, n_pairs = 0;
  double homo = 0, lumo = 0;  ///< as in Filling
};
/// orbitals_of() and fill(), D = C f C^T. Collective.
[[nodiscard]] Diagonalised diagonalise(const BlockMatrix& k, const BlockMatrix& s, std::optional<double> mu,
                                       std::optional<double> n_pairs, double temperature);

/// Largest |D_ij - D'_ij| over the blocks that `d` has. Collective.
[[nodiscard]] double largest_difference(const BlockMatrix& d, const Diagonalised& exact);

}  // namespace quintet::electronic
