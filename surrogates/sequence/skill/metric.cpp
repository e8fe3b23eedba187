#include "surrogates/sequence/skill/metric.hpp"

#include <cstdint>
#include <numeric>
#include <utility>

#include "io/log/error.hpp"

namespace quintet::sequence {

namespace {

double total_of(const std::string& name, const std::vector<double>& modes,
                const std::vector<double>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  QUINTET_CHECK(total > 0, "region {}: none of its points is sea", name);
  if (modes.size() % weights.size() != 0)
    throw InternalError("modes and weights of a region have other points");
  return total;
}

}  // namespace

double Metric::square(const double* error) const {
  double sum = 0;
  for (int m = 0; m < n_modes; ++m)
    for (int n = 0; n < n_modes; ++n) sum += error[m] * gram[std::int64_t{m} * n_modes + n] * error[n];
  return sum;
}

Metric subspace_metric(int n_modes, double total_weight) {
  QUINTET_CHECK(total_weight > 0, "the modes' points have a total weight of {}", total_weight);
  Metric metric{"all points", n_modes, std::vector<double>(std::int64_t{n_modes} * n_modes, 0.0), false};
  for (int m = 0; m < n_modes; ++m) metric.gram[std::int64_t{m} * (n_modes + 1)] = 1 / total_weight;
  metric.of_all_points = true;
  return metric;
}

Metric region_metric(std::string name, const std::vector<double>& modes, const std::vector<double>& weights) {
  const double total = total_of(name, modes, weights);
  const std::size_t points = weights.size(), n_modes = modes.size() / points;
  Metric metric{std::move(name), static_cast<int>(n_modes), std::vector<double>(n_modes * n_modes, 0.0),
                false};
  for (std::size_t m = 0; m < n_modes; ++m)
    for (std::size_t n = 0; n < n_modes; ++n)
      for (std::size_t x = 0; x < points; ++x)
        metric.gram[m * n_modes + n] += weights[x] / total * modes[m * points + x] * modes[n * points + x];
  return metric;
}

Metric index_metric(std::string name, const std::vector<double>& modes, const std::vector<double>& weights) {
  const double total = total_of(name, modes, weights);
  const std::size_t points = weights.size(), n_modes = modes.size() / points;
  std::vector<double> mean(n_modes, 0.0);
  for (std::size_t m = 0; m < n_modes; ++m)
    for (std::size_t x = 0; x < points; ++x) mean[m] += weights[x] / total * modes[m * points + x];
  Metric metric{std::move(name), static_cast<int>(n_modes), std::vector<double>(n_modes * n_modes), false};
  for (std::size_t m = 0; m < n_modes; ++m)
    for (std::size_t n = 0; n < n_modes; ++n) metric.gram[m * n_modes + n] = mean[m] * mean[n];
  return metric;
}

}  // namespace quintet::sequence
