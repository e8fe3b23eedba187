#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/interrupt.hpp"
#include "physics/electronic/device/device_submatrices.hpp"
#include "physics/electronic/functions/column_sample.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

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

/// Rounding leaves errors of 1e-15 to 1e-14 of a polynomial between 0 and 1, whatever its degree.
constexpr double least_polynomial_error = 1e-14;

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
  DeviceSubmatrices* device = nullptr;  ///< evaluates polynomials and Newton-Schulz iterations
  std::function<void()> evaluated{};    ///< called where P is done, before its errors are estimated
};

/// Errors of E = Tr(P A), N and P that come from the finite range of the submatrices and from the polynomial:
/// what growing the submatrices of a sample of block columns changes (truncation_error.hpp). At fixed pairs
/// the energy's is that at equal N.
struct TruncationError {
  Estimate energy;      ///< signed (hartree)
  double n_pairs = 0;   ///< before pairs were put anywhere; fixed pairs, T > 0: at the mu that was found
  double mu = 0;        ///< fixed pairs, T > 0: n_pairs over dN/dmu (hartree); else 0
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
/// Where n_pairs is 0 or all orbitals P is 0 or 1, and mu lies beyond the spectrum.
[[nodiscard]] SubmatrixResult evaluate_submatrices(const BlockMatrix& a, const SubmatrixOptions& options);

/// Predicted seconds of each block column of the whole matrix at `options`' threshold, for share_columns():
/// with the kernel that is cheaper at the degree and fill of an insulator. Collective.
[[nodiscard]] std::vector<double> predicted_costs(const BlockMatrix& a, const SubmatrixOptions& options);

}  // namespace quintet::electronic
