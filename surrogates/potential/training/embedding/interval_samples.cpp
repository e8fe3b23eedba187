#include "surrogates/potential/training/embedding/interval_samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "surrogates/potential/evaluation/spectral/spectral_embedding.hpp"

namespace quintet::potential {

IntervalSamples::IntervalSamples(int order)
    : order_(order), chebyshev_(std::int64_t{order} * order), power_(chebyshev_to_power(order)) {
  for (int k = 0; k < order; ++k)
    for (int i = 0; i < order; ++i)
      chebyshev_[k * order + i] =
          (k == 0 ? 1.0 : 2.0) / order * std::cos(std::numbers::pi * k * (i + 0.5) / order);
}

void IntervalSamples::append_nodes(double lower, double width, int p, std::vector<double>& nodes) const {
  for (int i = 0; i < order_; ++i)
    nodes.push_back(lower + (p + 0.5 * (std::cos(std::numbers::pi * (i + 0.5) / order_) + 1)) * width);
}

std::vector<double> IntervalSamples::coefficients(const double* samples, int stride, int n_intervals, int m,
                                                  double& unresolved) const {
  const int n = order_;
  std::vector<double> c(std::int64_t{n_intervals} * n * m, 0.0), t(m);
  double largest = 0, last = 0;
  for (int p = 0; p < n_intervals; ++p)
    for (int k = 0; k < n; ++k) {
      std::fill(t.begin(), t.end(), 0.0);
      for (int i = 0; i < n; ++i) {
        const double* g = samples + (std::int64_t{p} * n + i) * stride;
        const double factor = chebyshev_[k * n + i];
        for (int q = 0; q < m; ++q) t[q] += factor * g[q];
      }
      double* to = c.data() + std::int64_t{p} * n * m;
      for (int i = k % 2; i <= k; i += 2)  // T_k has powers of its own parity
        for (int q = 0; q < m; ++q) to[std::int64_t{i} * m + q] += power_[k * n + i] * t[q];
      for (int q = 0; q < m; ++q) {
        if (k == 0) largest = std::max(largest, std::abs(t[q]));
        if (k >= n - 2) last = std::max(last, std::abs(t[q]));
      }
    }
  unresolved = std::max(unresolved, last / std::max(largest, 1e-300));
  return c;
}

void IntervalSamples::add_back(const double* c_bar, double factor, int n_intervals, int m, int stride,
                               double* bar) const {
  const int n = order_;
  std::vector<double> t(m);
  for (int p = 0; p < n_intervals; ++p)
    for (int k = 0; k < n; ++k) {
      std::fill(t.begin(), t.end(), 0.0);
      for (int l = k % 2; l <= k; l += 2) {
        const double* c = c_bar + (std::int64_t{p} * n + l) * m;
        for (int q = 0; q < m; ++q) t[q] += factor * power_[k * n + l] * c[q];
      }
      for (int l = 0; l < n; ++l) {
        double* to = bar + (std::int64_t{p} * n + l) * stride;
        for (int q = 0; q < m; ++q) to[q] += chebyshev_[k * n + l] * t[q];
      }
    }
}

}  // namespace quintet::potential
