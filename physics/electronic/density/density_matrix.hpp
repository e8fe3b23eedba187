#pragma once

#include <utility>

#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/functions/column_sample.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

namespace quintet::electronic {

/// Blocks of D that are computed.
enum class DensityPattern {
  of_k_and_s,  ///< those of K and S, which energies and forces need
  whole        ///< all that Z P Z has
};

/// D = Z P Z and what follows from it.
///
/// Where the number of pairs was fixed, D is scaled by Tr P / Tr(Z P Z S), so that Tr(D S) is what was asked
/// for to rounding; the factor is 1 to 1e-7 (threshold 1e-3) or 1e-10 (1e-5). A difference that the residual
/// of Z does not explain is not scaled away: NumericalError. At a fixed mu nothing is scaled.
///
/// error: first order in R = Z S Z - 1, E is off by Tr(X R), X = f (A - c) - f (1 - f) (A - mu) A/T, f = P, c
/// the mean occupied level at fixed pairs, else 0 (and then A for A - mu); the exact trace up to 256 rows,
/// beyond it is estimated from vectors of random signs. Where their deviation hides it, a third of both
/// stands for it, or Tr(P R), which is known, times the width of the occupied levels (fixed mu: their root
/// mean square) if that is more. rounding_error: 8 eps n ||A|| cond(S), the 8 measured on chains.
struct DensityResult {
  BlockMatrix d;                ///< density matrix a spin, on the pattern wanted, bitwise symmetric
  double tr_dk = 0;             ///< Tr(D K) (Hartree), per electron pair
  double n_pairs = 0;           ///< Tr(D S)
  double n_pairs_unscaled = 0;  ///< Tr(Z P Z S): what it misses of Tr P is the error of Z
  double rest = 0;              ///< ||Z P Z - D||_F: what D lacks outside its pattern, from random vectors
  /// ||D - D_exact||_F over ||P - P_exact||_F, about: the root mean square of the eigenvalues of Z Z = S^-1.
  double per_p = 1;
  double overlap_error = 0;   ///< of D, from Z: per_p ||(Z S Z - 1) P||_F, about
  double mu_error = 0;        ///< of mu, from Z, products left out and rounding (hartree)
  Estimate error;             ///< of tr_dk, from Z, signed (hartree)
  double rounding_error = 0;  ///< of tr_dk (hartree), about
  double idempotency = 0;     ///< ||P P - P||_F, estimated from random vectors (a few per cent)
  double commutator = 0;      ///< ||P A - A P||_F, likewise
  explicit DensityResult(BlockMatrix matrix) : d(std::move(matrix)) {}
};
[[nodiscard]] DensityResult density_matrix(const SubmatrixResult& sign, const Orthogonalised& basis,
                                           const BlockMatrix& k, const BlockMatrix& s, double threshold,
                                           DeviceProducts* device = nullptr,
                                           DensityPattern pattern = DensityPattern::of_k_and_s);

}  // namespace quintet::electronic
