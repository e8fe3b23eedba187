#pragma once

#include <vector>

#include "apps/application/report/report.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::submatrix {

/// log10 of the Frobenius norms of a matrix's blocks as a picture of at most `most_points` x `most_points`;
/// a point shows the largest of its blocks; blank: none above `threshold`. On root. Collective.
[[nodiscard]] Heatmap norm_picture(const electronic::BlockMatrix& a, double threshold, int most_points = 256);

/// Mean number of blocks a column whose norm is at least each threshold. Collective.
[[nodiscard]] std::vector<double> blocks_above(const electronic::BlockMatrix& a,
                                               const std::vector<double>& thresholds);

/// Rows of the submatrix of each block column, if blocks of norm below `threshold` are dropped, over all
/// ranks. Collective.
[[nodiscard]] std::vector<int> submatrix_sizes(const electronic::BlockMatrix& a, double threshold);

/// How many of the sizes fall into each of about ten intervals.
[[nodiscard]] std::vector<Bar> size_histogram(const std::vector<int>& sizes);

}  // namespace quintet::submatrix
