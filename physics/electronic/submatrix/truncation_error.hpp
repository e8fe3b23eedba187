#pragma once

#include <functional>
#include <vector>

#include "physics/electronic/functions/chebyshev.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/electronic/submatrix/submatrix_plan.hpp"

namespace quintet::electronic {

/// Settings with which the sampled columns are evaluated.
struct GrownColumns {
  double threshold = 0;      ///< that P was made with (hartree)
  double mu = 0;             ///< that P has
  double width = 0;          ///< half of the spectrum's (hartree)
  bool holds_pairs = false;  ///< errors at fixed pairs are those of E - mu N
  /// The occupation and, where mu is what holds the pairs, its derivative by mu.
  std::vector<std::function<double(double)>> functions;
  const ChebyshevSeries* series =
      nullptr;           ///< of both, to much less than P's errors; none: by eigendecomposition
  double tolerance = 0;  ///< of the series' idempotency a column
  CostModel cost;
  double seconds = 0;                   ///< that the estimate may take, by prediction, over all ranks
  DeviceSubmatrices* device = nullptr;  ///< evaluates the series in place of this core
};

/// Errors of P that come from the finite range of its submatrices, from a sample of block columns.
///
/// Block column j was made of the rows R(j) of A's kept blocks in the columns C(j) that share its submatrix.
/// It is made again of more rows, R'(j) = {i : sum over k in C(j) of (|A| |A|)_ik >= threshold x width}, |A|
/// the matrix of the blocks' norms, and with the blocks of A that were dropped. R' reaches further by a
/// decade of the threshold and, where A is short-ranged, by its whole range. What E, N and P change by,
/// summed over all columns, is the part of the error that R' cures. Two columns are grown on, to |A|^3,
/// |A|^5, |A|^9 ..., until a growth changes little (a metal's errors change sign with the range). The sum of
/// these changes over the first one multiplies the sample's sum; a geometric series stands for the rest.
///
/// At fixed pairs and T > 0, P also found mu. With dN = N(P) - N(P') at P's mu, E at equal N is off by
/// d(E - mu_e N) - dN^2/(2 dN/dmu), mu_e = (dE/dmu)/(dN/dmu); mu by dN/(dN/dmu).
///
/// The sample (ColumnSample): 2 to 16 columns, as many as `seconds` allow, up to 64 where the deviation is
/// more than 0.3 of the sum. Where R already has all rows, only rounding is found. Collective. `work`: the
/// submatrices that P was made of, each on some rank.
[[nodiscard]] TruncationError truncation_error(const BlockMatrix& a, const BlockMatrix& p,
                                               const std::vector<Submatrix>& work, const GrownColumns& how);

}  // namespace quintet::electronic
