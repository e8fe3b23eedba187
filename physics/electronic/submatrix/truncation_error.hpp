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
/// the matrix of the blocks' norms, and with the blocks of A that were dropped. R' reaches further by a
/// decade of the threshold and, where A is short-ranged, by its whole range. What E, N and P change by,
/// summed over all columns, is the part of the error that R' cures. A geometric series stands for the rest;
/// its ratio comes from a few columns on R'' (|A|^3).
///
/// The sample: the columns whose P is least idempotent, and others at multiples of the golden ratio; 2 to 16,
/// as many as `seconds` allow. The sampling's standard deviation is part of the error. Where R already has
/// all rows, only rounding is found. Collective. `work`: the submatrices that P was made of, each on some
/// rank.
[[nodiscard]] TruncationError truncation_error(const BlockMatrix& a, const BlockMatrix& p,
                                               const std::vector<Submatrix>& work, const GrownColumns& how);

}  // namespace quintet::electronic
