#include "surrogates/flow/evaluation/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quintet::flow {

void LogHistogram::add(const RectilinearGrid& grid, std::span<const double> f) {
  for (int i = 0; i < grid.size(0); ++i)
    for (int j = 0; j < grid.size(1); ++j) {
      const double value = std::max(std::abs(f[std::int64_t{i} * grid.size(1) + j]), 1e-300);
      const double place = (std::log10(value) - first_decade) * per_decade;
      const int at =
          place < n_classes - 1 ? static_cast<int>(std::max(place, 0.0)) : n_classes - 1;  // NaN, too
      shares_[at] += grid.weights(0)[i] * grid.weights(1)[j];
    }
}

double LogHistogram::middle(int i) { return std::pow(10.0, first_decade + (i + 0.5) / per_decade); }

std::vector<double> LogHistogram::density() const {
  const double sum = std::accumulate(shares_.begin(), shares_.end(), 0.0);
  auto result = shares_;
  for (auto& share : result) share *= per_decade / std::max(sum, 1e-300);
  return result;
}

double LogHistogram::quantile(double share) const {
  const double sum = std::accumulate(shares_.begin(), shares_.end(), 0.0);
  double below = 0;
  for (int i = 0; i < n_classes; ++i) {
    below += shares_[i];
    if (below >= share * sum) return middle(i);
  }
  return middle(n_classes - 1);
}

}  // namespace quintet::flow
