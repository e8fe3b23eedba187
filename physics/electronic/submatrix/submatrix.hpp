#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/log/error.hpp"
#include "physics/electronic/functions/column_sample.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/electronic/matrix/interrupt.hpp"

namespace quintet::electronic {

/// Thrown if S is positive definite, but too nearly singular for a series; see local_basis(), orbitals_of().
struct IllConditioned : InputError {
  IllConditioned(const std::string& message, double condition_of_s)
      : InputError(message), condition(condition_of_s) {}
  double condition;  ///< number of S, about; it may be larger
};

/// S^-1/2 of a symmetric positive definite block-sparse matrix, and A = S^-1/2 K S^-1/2 with elements off by
/// a tenth of `threshold` or so (water: 0.07 to 0.2, S^-1/2 0.1 to 0.4).
///
/// The columns of each block of S^-1/2 are a Chebyshev series of the submatrix of S on the rows of
/// inverse_sqrt_pattern(). Throws InputError with the estimate of the smallest eigenvalue
/// when S is not positive definite, or if K and S have different blocks, IllConditioned if its condition
/// number is above some 1e4 to 1e5 (the smaller the threshold the lower). Collective.
struct Orthogonalised {
  BlockMatrix inverse_sqrt;  ///< S^-1/2
  BlockMatrix a;             ///< S^-1/2 K S^-1/2
  double residual = 0;       ///< ||Z S Z - 1||_F / sqrt(n)
  int iterations = 0;        ///< degree of the series
  double condition = 1;      ///< of S, about
};
/// The pattern of S^-1/2, values not set: blocks where |S|^2 (norms of blocks) exceeds four thresholds, since
/// S^-1/2 reaches further out than S itself. Collective.
[[nodiscard]] BlockMatrix inverse_sqrt_pattern(const BlockMatrix& s, double threshold);
/// Rows of a submatrix for S^-1/2 over those of the matrix, as a mean over the block columns. Collective.
[[nodiscard]] double inverse_sqrt_part(const BlockMatrix& s, double threshold);
[[nodiscard]] Orthogonalised orthogonalise(const BlockMatrix& k, const BlockMatrix& s, double threshold,
                                           const Interrupt& interrupt = {});

/// How f(a_j) is found for the wanted columns.
enum class SubmatrixKernel { automatic, polynomial, eigen, newton_schulz };
struct SubmatrixKernelRow {
  SubmatrixKernel value;
  std::string_view name, doc;
  bool has_series;  ///< may apply a polynomial to the wanted columns
  bool has_dense;   ///< may hold submatrices as dense matrices
  bool needs_mu;    ///< gives a step at a fixed mu only
};
inline constexpr std::array<SubmatrixKernelRow, 4> submatrix_kernels{
    {{SubmatrixKernel::automatic, "automatic", "polynomial or eigen, by predicted cost", true, true, false},
     {SubmatrixKernel::polynomial, "polynomial",
      "Chebyshev expansion applied to the wanted columns alone, block-sparse", true, false, false},
     {SubmatrixKernel::eigen, "eigen", "eigendecomposition, wanted columns transformed", false, true, false},
     {SubmatrixKernel::newton_schulz, "newton_schulz", "Newton-Schulz iteration of the whole submatrix",
      false, true, true}}};

struct SubmatrixOptions {
  double threshold = 1e-5;  ///< blocks of A of smaller Frobenius norm are dropped
  SubmatrixKernel kernel = SubmatrixKernel::automatic;
  bool single_precision = false;  ///< polynomial in float32: see ColumnPolynomial
  double polynomial_error =
      0;                     ///< largest error of the function on the bands; 0: 0.003 threshold, 3e-7 at most
  std::optional<double> mu;  ///< fixed chemical potential (Hartree)
  std::optional<double> n_pairs;  ///< fixed number of occupied orbitals (electron pairs); mu is found
  double pairs_tolerance = 1e-8;
  double temperature = 0;       ///< k_B T (Hartree); 0: step function
  int newton_schulz_order = 2;  ///< 2, 3 or 4: products an iteration
  int columns_together = 0;     ///< block columns that may share a submatrix; 0: as many as make it cheaper
  double memory_bytes = 0;      ///< a rank may use for one submatrix; 0: the node's memory over its ranks
  Interrupt interrupt{};        ///< throws Interrupted within the time of a submatrix
  bool estimate_error = false;  ///< of the submatrices' finite range: see TruncationError
  std::function<void()> evaluated{};  ///< called where P is done, before its errors are estimated
};

/// Errors of E = Tr(P A), N and P that come from the finite range of the submatrices and from the polynomial:
/// what growing the submatrices of a sample of block columns changes (truncation_error.hpp). At fixed pairs
/// the energy's is that at equal N.
struct TruncationError {
  Estimate energy;      ///< signed (hartree)
  double n_pairs = 0;   ///< before pairs were put anywhere; fixed pairs, T > 0: at the mu that was found
  double p = 0;         ///< ||P - P_exact||_F
  double p_inside = 0;  ///< of the blocks that P has: E, D on K's pattern and forces know no others
  int n_columns = 0;    ///< sampled; 0: nothing was estimated
  double seconds = 0;
};

struct SubmatrixResult {
  BlockMatrix p;  ///< (1 - sign(A - mu))/2 or the Fermi function, on A's filtered pattern, symmetrised
  double mu = 0, n_pairs = 0;  ///< N(mu) = Tr P
  double homo = 0, lumo = 0;   ///< estimates from the submatrices
  double entropy = 0;          ///< T > 0
  int n_mean = 0, n_max = 0;   ///< rows of the submatrices
  int n_submatrices = 0;       ///< clusters of block columns
  double clustering_gain = 1;  ///< predicted time with a submatrix for each block column, over that of these
  double asymmetry = 0;        ///< ||P - P^T||_F before symmetrising
  double flops = 0, seconds = 0;  ///< of it all, the spectrum's edges and communication included
  double kernel_seconds = 0;      ///< CPU time of the last sweep over the submatrices, slowest rank,
  double predicted_seconds = 0;   ///< and the time that was predicted for it
  SubmatrixKernel kernel = SubmatrixKernel::automatic;
  int degree = 0;
  int n_polynomial = 0, n_eigen = 0;  ///< submatrices that went through each kernel, over all ranks
  int n_in_gap = 0;                   ///< of the latter, those that have eigenvalues in the gap of the others
  double n_pairs_put = 0;    ///< fixed n_pairs, T = 0: what was put on the frontier orbitals to hold it
  bool holds_pairs = false;  ///< n_pairs was fixed
  double temperature = 0;    ///< k_B T (hartree)
  TruncationError error;
  explicit SubmatrixResult(BlockMatrix matrix) : p(std::move(matrix)) {}
};
/// f(A) submatrix by submatrix.
///
/// Fixed mu takes one pass, and so does fixed n_pairs as a rule: mu is found beforehand from moments of A at
/// a hundredfold threshold, and the pass gives P together with a term (T = 0) or a Taylor series (T > 0) by
/// which the count is then met exactly. Only if mu turns out too far off, further passes are made. At T = 0
/// the term stands for what the truncation misses, less than half an electron. Where the count at a gap
/// differs by more, or there is no gap, the eigen kernel counts levels. If each submatrix is the whole
/// matrix, the levels are exact and are filled one by one; n_pairs that fill a part of equal levels are
/// refused, as by fill(), since D would not be idempotent. Otherwise n_pairs cuts into a band that the
/// submatrices do not resolve: InputError, which names the nearest number with a gap. `a`: unfiltered or
/// filtered; blocks below options.threshold are dropped first. Collective: each needed block travels once,
/// then no communication, then one reduction. Throws InputError naming the block whose submatrix does not fit
/// into memory, before anything is computed.
[[nodiscard]] SubmatrixResult evaluate_submatrices(const BlockMatrix& a, const SubmatrixOptions& options);

/// Predicted seconds of each block column of the whole matrix at `options`' threshold, for share_columns():
/// with the kernel that is cheaper at the degree and fill of an insulator. Collective.
[[nodiscard]] std::vector<double> predicted_costs(const BlockMatrix& a, const SubmatrixOptions& options);

/// D = Z P Z and what follows from it.
///
/// Where the number of pairs was fixed, D is scaled by Tr P / Tr(Z P Z S), so that Tr(D S) is what was asked
/// for to rounding; the factor is 1 to 1e-7 (threshold 1e-3) or 1e-10 (1e-5). A difference that the residual
/// of Z does not explain is not scaled away: NumericalError. At a fixed mu nothing is scaled.
///
/// error: first order in R = Z S Z - 1, E is off by Tr(X R), X = f (A - c) - f (1 - f) (A - mu) A/T, f = P, c
/// the mean occupied level at fixed pairs, else 0 (and then A for A - mu); estimated from vectors of random
/// signs. Where their deviation hides it, Tr(P R), which is known, times the width of the occupied levels
/// (fixed mu: their root mean square) stands for it. rounding_error: 8 eps n ||A|| cond(S), the 8 measured on
/// chains.
struct DensityResult {
  BlockMatrix d;                ///< density matrix a spin, on K's and S's pattern, bitwise symmetric
  double tr_dk = 0;             ///< Tr(D K) (Hartree), per electron pair
  double n_pairs = 0;           ///< Tr(D S)
  double n_pairs_unscaled = 0;  ///< Tr(Z P Z S): what it misses of Tr P is the error of Z
  Estimate error;               ///< of tr_dk, from Z, signed (hartree)
  double rounding_error = 0;    ///< of tr_dk (hartree), about
  double idempotency = 0;       ///< ||P P - P||_F, estimated from random vectors (a few per cent)
  double commutator = 0;        ///< ||P A - A P||_F, likewise
  explicit DensityResult(BlockMatrix matrix) : d(std::move(matrix)) {}
};
[[nodiscard]] DensityResult density_matrix(const SubmatrixResult& sign, const Orthogonalised& basis,
                                           const BlockMatrix& k, const BlockMatrix& s, double threshold);

}  // namespace quintet::electronic
