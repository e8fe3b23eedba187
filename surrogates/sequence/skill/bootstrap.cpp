#include "surrogates/sequence/skill/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "io/log/error.hpp"

namespace quintet::sequence {

Bootstrap::Bootstrap(int n, int block, int draws, std::uint64_t seed) : n_(n), block_(block) {
  QUINTET_CHECK(n >= 1 && block >= 1, "a bootstrap of {} windows in blocks of {}", n, block);
  if (knows_errors()) samples_ += draws;
  counts_.assign(std::int64_t{samples_} * n_, 0.0);
  std::fill_n(counts_.begin(), n_, 1.0);
  std::mt19937_64 random(seed);
  const std::uint64_t starts = std::max(1, n_ - block_ + 1);
  for (int sample = 1; sample < samples_; ++sample) {
    double* counts = counts_.data() + std::int64_t{sample} * n_;
    for (int taken = 0; taken < n_; taken += block_) {
      const int start = random() % starts;
      for (int i = 0; i < block_ && taken + i < n_; ++i) counts[start + i] += 1;
    }
  }
}

std::vector<double> Bootstrap::sums(const std::vector<double>& values, int k) const {
  if (values.size() != static_cast<std::size_t>(n_) * k)
    throw InternalError("a bootstrap of other windows than its own");
  std::vector<double> result(std::int64_t{samples_} * k, 0.0);
  for (int sample = 0; sample < samples_; ++sample) {
    double* sum = result.data() + std::int64_t{sample} * k;
    for (int i = 0; i < n_; ++i) {
      const double count = counts_[std::int64_t{sample} * n_ + i];
      if (count == 0) continue;
      const double* row = values.data() + std::int64_t{i} * k;
      for (int j = 0; j < k; ++j) sum[j] += count * row[j];
    }
  }
  return result;
}

std::vector<double> Bootstrap::squares_of_sums(const std::vector<double>& products) const {
  const std::size_t n = n_;
  const auto rows = sums(products, n_);  // K c
  std::vector<double> result(samples_, 0.0);
  for (std::size_t sample = 0; sample < result.size(); ++sample)
    for (std::size_t i = 0; i < n; ++i) result[sample] += counts_[sample * n + i] * rows[sample * n + i];
  return result;
}

Estimate Bootstrap::estimate(const std::function<double(int)>& statistic) const {
  Estimate result{statistic(0), std::numeric_limits<double>::quiet_NaN()};
  if (!knows_errors()) return result;
  const int draws = samples_ - 1;
  double sum = 0, square = 0;
  for (int sample = 1; sample < samples_; ++sample) {
    const double value = statistic(sample) - result.value;
    sum += value, square += value * value;
  }
  const double variance = (square - sum * sum / draws) / (draws - 1);
  result.error = variance < 0 ? 0 : std::sqrt(variance);  // round-off is 0, what is not known stays so
  return result;
}

}  // namespace quintet::sequence
