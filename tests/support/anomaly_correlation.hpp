#pragma once

#include <array>
#include <vector>

#include "surrogates/sequence/skill/scores.hpp"

namespace quintet::sequence {

/// Compute the anomaly correlation of one lead (1 the first) over all windows, from anomaly_products().
[[nodiscard]] inline double anomaly_correlation(const std::vector<double>& truth,
                                                const std::vector<double>& forecast,
                                                const std::vector<double>& climatology,
                                                const SampleShape& shape, const Metric& metric, int lead) {
  const auto products = anomaly_products(truth, forecast, climatology, shape, metric);
  std::array<double, 3> sums{};
  for (int i = 0; i < shape.n; ++i)
    for (int k = 0; k < 3; ++k) sums[k] += products[3 * (std::int64_t{i} * shape.out + lead - 1) + k];
  return correlation_of(sums.data());
}

}  // namespace quintet::sequence
