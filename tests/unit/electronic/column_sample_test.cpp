#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "physics/electronic/functions/column_sample.hpp"

namespace quintet::electronic {
namespace {

/// Numbers without a pattern, -1 to 1.
std::vector<double> scattered(std::size_t n, double seed) {
  std::vector<double> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(std::sin(1e4 * std::sin(seed * (i + 1))));
  return x;
}

std::vector<double> of_sample(const ColumnSample& sample, const std::vector<double>& number) {
  std::vector<double> x;
  for (const auto& c : sample.columns()) x.push_back(number[c.column]);
  return x;
}

double sum(const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

TEST(ColumnSample, takes_each_column_once_and_of_equal_defects_the_largest_once) {
  for (const std::size_t n : {1U, 2U, 5U, 6U, 16U, 100U}) {
    std::vector<double> defect(n, 0.1);
    if (n == 100) defect[40] = defect[70] = -3, defect[20] = 2;

    const ColumnSample sample(defect, 16);

    std::set<int> all, chosen;
    for (const auto& c : sample.columns()) {
      all.insert(c.column);
      if (c.chosen) chosen.insert(c.column);
    }
    EXPECT_EQ(all.size(), sample.columns().size());
    EXPECT_EQ(all.size(), std::min<std::size_t>(n, 16));
    if (n == 100) {
      EXPECT_EQ(chosen.count(40), 1U);
      EXPECT_EQ(chosen.count(20), 1U);
      EXPECT_EQ(chosen.count(70), 0U);
    }
  }
}

TEST(ColumnSample, knows_the_sum_of_all_columns_exactly) {
  const auto defect = scattered(16, 0.3), number = scattered(16, 0.7);
  const ColumnSample sample(defect, 16);
  for (const bool regress : {false, true}) {
    const Estimate total = sample.total(of_sample(sample, number), regress);
    EXPECT_NEAR(total.value, sum(number), 1e-12);
    EXPECT_EQ(total.deviation, 0);
  }
}

TEST(ColumnSample, takes_what_follows_the_defect_from_all_columns) {
  const auto defect = scattered(500, 0.3);
  std::vector<double> number;
  for (const double x : defect) number.push_back(0.2 - 0.6 * x);
  const ColumnSample sample(defect, 16);

  const Estimate by_regression = sample.total(of_sample(sample, number), true);
  const Estimate by_mean = sample.total(of_sample(sample, number), false);

  EXPECT_NEAR(by_regression.value, sum(number), 1e-10);
  EXPECT_LT(by_regression.deviation, 1e-10);
  EXPECT_GT(by_mean.deviation, 10);
}

TEST(ColumnSample, deviation_is_that_of_many_samples) {
  double squares = 0, expected = 0;
  constexpr int n_samples = 200;
  for (int k = 0; k < n_samples; ++k) {
    const auto defect = scattered(400, 0.3 + 0.01 * k), noise = scattered(400, 2.1 + 0.013 * k);
    std::vector<double> number;
    for (std::size_t i = 0; i < defect.size(); ++i) number.push_back(1 + 2 * defect[i] + noise[i]);
    const ColumnSample sample(defect, 32);

    const Estimate total = sample.total(of_sample(sample, number), true);

    squares += std::pow(total.value - sum(number), 2) / n_samples;
    expected += total.deviation * total.deviation / n_samples;
  }
  EXPECT_NEAR(std::sqrt(squares / expected), 1, 0.2);
}

}  // namespace
}  // namespace quintet::electronic
