#include "surrogates/flow/evaluation/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace quintet::flow {
namespace {

/// Indices of values in ascending order.
std::vector<std::size_t> order_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return values[i] < values[j]; });
  return order;
}

/// Rank of each value; equal ones share the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values) {
  const auto order = order_of(values);
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) ranks[order[k]] = 0.5 * (i + end - 1);
    i = end;
  }
  return ranks;
}

/// Pearson's correlation.
double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = x.size();
  const double x_mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double y_mean = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - x_mean) * (y[i] - y_mean);
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    yy += (y[i] - y_mean) * (y[i] - y_mean);
  }
  return xy / std::sqrt(xx * yy);
}

/// Share of the sum of squares that the last tenth of an order holds.
double last_tenth(std::span<const double> values, const std::vector<std::size_t>& order) {
  double all = 0, last = 0;
  const std::size_t from = order.size() - order.size() / 10;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double square = values[order[i]] * values[order[i]];
    all += square;
    if (i >= from) last += square;
  }
  return last / all;
}

}  // namespace

Calibration calibrate(std::span<const double> indicator, std::span<const double> error) {
  constexpr std::size_t n_classes = 10;
  const std::size_t n = indicator.size();
  Calibration result;
  if (n < 2 * n_classes) {
    result.rank_correlation = result.found = result.to_be_found = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  const auto order = order_of(indicator);
  result.rank_correlation = correlation(ranks_of(indicator), ranks_of(error));
  result.found = last_tenth(error, order);
  result.to_be_found = last_tenth(error, order_of(error));
  for (std::size_t k = 0; k < n_classes; ++k) {
    const std::size_t first = k * n / n_classes, end = (k + 1) * n / n_classes;
    double indicator_square = 0, error_square = 0;
    for (std::size_t i = first; i < end; ++i) {
      indicator_square += indicator[order[i]] * indicator[order[i]];
      error_square += error[order[i]] * error[order[i]];
    }
    const double count = end - first;
    result.classes.push_back({std::sqrt(indicator_square / count), std::sqrt(error_square / count)});
  }
  return result;
}

}  // namespace quintet::flow
