#pragma once

#include <functional>
#include <vector>

#include "physics/electronic/functions/chebyshev.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/electronic/submatrix/submatrix_plan.hpp"

namespace quintet::electronic {

/// What the sampled columns are evaluated with.
struct GrownColumns {
  double threshold = 0;             ///< that P was made with (hartree)
  double mu = 0;                    ///< that P has
  double width = 0;                 ///< half of the spectrum's (hartree)
  bool holds_pairs = false;         ///< errors at fixed pairs are those of E - mu N
  std::function<double(double)> f;  ///< the occupation
  const ChebyshevSeries* series =
      nullptr;           ///< of f, to much less than P's errors; none: by eigendecomposition
  double tolerance = 0;  ///< of the series' idempotency a column
  CostModel cost;
  double seconds = 0;  ///< that the estimate may take, by prediction
};

/// Errors of P that come from the finite range of its submatrices, from a sample of block columns.
///
/// Block column j was made of the rows R(j) of A's kept blocks in the columns C(j) that share its submatrix.
/// It is made again of more rows, R'(j) = {i : sum over k in C(j) of (|A| |A|)_ik >= threshold x width}, |A|
/// the blocks' norms, which reaches further by a decade of the threshold and, where A is short-ranged, by its
/// whole range; A's dropped blocks come back. What E, N and P change by, summed over all columns, is the
/// error that R' cures. Its rest is taken for a geometric series: with a few columns on R'' (|A|^3) the ratio
/// of two successive changes is found.
///
/// The sample: the columns whose P is least idempotent, and others at multiples of the golden ratio; as many
/// as `seconds` lets, 2 to 16. The sampling's standard deviation is part of the error. Where R already is all
/// rows nothing but rounding is found. Collective.
/// `work`: the submatrices that P was made of, each on some rank.
[[nodiscard]] TruncationError truncation_error(const BlockMatrix& a, const BlockMatrix& p,
                                               const std::vector<Submatrix>& work, const GrownColumns& how);

}  // namespace quintet::electronic
