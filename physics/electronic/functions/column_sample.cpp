#include "physics/electronic/functions/column_sample.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <utility>

namespace quintet::electronic {

namespace {

/// The columns of the n largest defects, of those that are nearly equal one.
std::vector<std::int32_t> least_idempotent(const std::vector<double>& defect, std::size_t n) {
  std::vector<std::int32_t> order(defect.size()), worst;
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto i, auto j) {
    const double x = std::abs(defect[i]), y = std::abs(defect[j]);
    return x != y ? x > y : i < j;
  });
  constexpr double alike = 1e-3;
  for (const auto c : order) {
    if (worst.size() == n) break;
    if (worst.empty() || std::abs(defect[c]) < (1 - alike) * std::abs(defect[worst.back()]))
      worst.push_back(c);
  }
  return worst;
}

}  // namespace

ColumnSample::ColumnSample(std::vector<double> defect, std::size_t most) : defect_(std::move(defect)) {
  const std::size_t n = defect_.size(), wanted = std::min(n, most);
  const auto worst = least_idempotent(defect_, wanted / 4);
  std::vector<char> taken(n, 0);
  for (const auto c : worst) taken[c] = 1;
  auto next_worst = worst.begin();
  for (int step = 1; columns_.size() < wanted;) {
    if (columns_.size() % 4 == 2 && next_worst != worst.end()) {
      columns_.push_back({*next_worst++, true});
      continue;
    }
    std::int32_t c = n * std::fmod(step++ * (std::numbers::phi - 1), 1.0);
    while (taken[c]) c = (c + 1) % static_cast<std::int32_t>(n);
    taken[c] = 1;
    columns_.push_back({c, false});
  }
}

Estimate ColumnSample::total(std::span<const double> number, bool regress) const {
  const std::span sample(columns_.data(), number.size());
  // x: defects, y: numbers; of all in the sample, for the slope, and of those taken by chance
  double x_all = 0, y_all = 0, x_rest = 0, y_rest = 0, x_chosen = 0, y_chosen = 0, m = 0;
  for (std::size_t s = 0; s < sample.size(); ++s) {
    const double x = defect_[sample[s].column], y = number[s];
    x_all += x, y_all += y;
    if (sample[s].chosen)
      x_chosen += x, y_chosen += y;
    else
      x_rest += x, y_rest += y, ++m;
  }
  const double n_sample = sample.size();
  double xx = 0, xy = 0;
  for (std::size_t s = 0; s < sample.size(); ++s) {
    const double x = defect_[sample[s].column] - x_all / n_sample;
    xx += x * x;
    xy += x * (number[s] - y_all / n_sample);
  }
  constexpr double least = 6;  // columns for a slope
  const double slope = regress && m >= least && xx > 0 ? xy / xx : 0;
  double squares = 0;
  for (std::size_t s = 0; s < sample.size(); ++s) {
    if (sample[s].chosen) continue;
    const double x = defect_[sample[s].column] - x_rest / m, y = number[s] - y_rest / m;
    squares += std::pow(y - slope * x, 2);
  }
  const double rest = defect_.size() - (n_sample - m);
  const double x_missing = std::accumulate(defect_.begin(), defect_.end(), -x_chosen) - rest * x_rest / m;
  const double freedom = slope == 0 ? m - 1 : m - 2;
  const double variance = m > 1 ? squares / freedom : std::pow(y_rest / m, 2);
  return {y_chosen + rest * y_rest / m + slope * x_missing,
          rest * std::sqrt(variance / m * std::max(1 - m / rest, 0.0))};
}

}  // namespace quintet::electronic
