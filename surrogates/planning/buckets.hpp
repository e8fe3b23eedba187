#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace quintet::planning {

/// Sizes of at most `k` buckets, rising, the last the largest size: each item goes into the smallest bucket
/// that holds it, and the sum of what the buckets are larger than their items is least.
///
/// min over edges of sum_i (edge of i - size_i), by dynamic programming over the sorted sizes; the best split
/// moves one way as items are added, so that O(k n log n) are enough. @param sizes [n], in any order; n > 0.
[[nodiscard]] std::vector<double> bucket_edges(std::span<const double> sizes, std::size_t k);

/// Sum of what buckets of these sizes are larger than their items.
[[nodiscard]] double padding(std::span<const double> sizes, std::span<const double> edges);

}  // namespace quintet::planning
