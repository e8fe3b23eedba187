#pragma once

#include <optional>
#include <vector>

#include "physics/electronic/block_matrix.hpp"

namespace quintet::electronic {

/// The whole spectrum of K c = e S c, and the density matrix that it gives; the reference of all other
/// methods and the fastest one of small systems.
struct Diagonalised {
  std::vector<double> level;  ///< [n] eigenvalues, ascending (hartree); on all ranks
  std::vector<double> d;      ///< [n, n] density matrix of one spin, rows as blocked; on root, else empty
  double tr_dk = 0;           ///< sum of f(e) e (hartree)
  double mu = 0, n_pairs = 0;
  double homo = 0, lumo = 0;  ///< highest level up to mu, lowest above it; infinite where there is none
};

/// Diagonalise on the first rank with LAPACK (dsygvd), cost about 9 n^3 and 4 n^2 numbers; D = C f C^T.
///
/// f: 1 below mu and 0 above, or 1/(1 + exp((e - mu)/T)). Exactly one of `mu` and `n_pairs` is given; the
/// other follows (T = 0: mu in the middle of the gap). `temperature`: k_B T (hartree). Throws InputError if S
/// is not positive definite, NumericalError if LAPACK fails. Collective.
[[nodiscard]] Diagonalised diagonalise(const BlockMatrix& k, const BlockMatrix& s, std::optional<double> mu,
                                       std::optional<double> n_pairs, double temperature);

/// Largest |D_ij - D'_ij| over the blocks that `d` has. Collective.
[[nodiscard]] double largest_difference(const BlockMatrix& d, const Diagonalised& exact);

}  // namespace quintet::electronic
