#include "surrogates/sequence/skill/bootstrap.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "io/log/error.hpp"

namespace quintet::sequence {

Bootstrap::Bootstrap(int n, int block, int draws, std::uint64_t seed) : n_(n), block_(block), draws_(draws) {
  QUINTET_CHECK(n >= 1 && block >= 1, "a bootstrap of {} windows in blocks of {}", n, block);
  if (!knows_errors()) return;
  counts_.assign(static_cast<std::size_t>(draws_) * n_, 0.0);
  std::mt19937_64 random(seed);
  const auto starts = static_cast<std::uint64_t>(n_ - block_ + 1);
  for (int draw = 0; draw < draws_; ++draw) {
    double* counts = counts_.data() + static_cast<std::size_t>(draw) * n_;
    for (int taken = 0; taken < n_; taken += block_) {
      const auto start = static_cast<int>(random() % starts);
      for (int i = 0; i < block_ && taken + i < n_; ++i) counts[start + i] += 1;
    }
  }
}

Estimate Bootstrap::estimate(const std::function<double(const double*)>& statistic) const {
  const std::vector<double> once(n_, 1.0);
  Estimate result{statistic(once.data()), std::numeric_limits<double>::quiet_NaN()};
  if (!knows_errors()) return result;
  double sum = 0, square = 0;
  for (int draw = 0; draw < draws_; ++draw) {
    const double value = statistic(counts_.data() + static_cast<std::size_t>(draw) * n_) - result.value;
    sum += value, square += value * value;
  }
  result.error = std::sqrt(std::max(0.0, (square - sum * sum / draws_) / (draws_ - 1)));
  return result;
}

}  // namespace quintet::sequence
