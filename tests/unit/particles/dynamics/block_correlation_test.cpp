#include "physics/particles/observables/heat/block_correlation.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "physics/kernels/random.hpp"
#include "physics/particles/observables/msd.hpp"

using namespace quintet;

namespace {

/// Numbers with a memory of 1 / (1 - memory) samples: a_n = memory a_(n-1) + xi_n, normal numbers xi.
std::vector<Vec3> remembered(int n, double memory) {
  std::vector<Vec3> values(n);
  Vec3 now{};
  for (int i = 0; i < n; ++i) {
    double xi[4];
    normal_pair(3, 11, i, 0, xi[0], xi[1]);
    normal_pair(3, 11, i, 1, xi[2], xi[3]);
    for (int k = 0; k < 3; ++k) now[k] = memory * now[k] + xi[k];
    values[i] = now;
  }
  return values;
}

/// Sum of products over origins first ... last - 1, divided by their number.
double plain(const std::vector<Vec3>& values, int lag, int k, int first, int last) {
  double sum = 0;
  for (int i = first; i < last; ++i) sum += values[i][k] * values[i + lag][k];
  return sum / (last - first);
}

}  // namespace

TEST(BlockCorrelation, by_hand) {
  BlockCorrelation correlation(2);
  for (const double x : {1.0, 2.0, 4.0, -1.0}) correlation.add({x, 2 * x, 0});

  EXPECT_EQ(correlation.n_origins(), 2);
  EXPECT_EQ(correlation.n_blocks(), 1);
  EXPECT_EQ(correlation.average(0), (std::vector<double>{2.5, 5, 1}));  // origins 1 and 2
  EXPECT_EQ(correlation.average(1), (std::vector<double>{10, 20, 4}));
  EXPECT_EQ(correlation.average(2), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(correlation.average_of_block(0, 0), correlation.average(0));
}

TEST(BlockCorrelation, has_nothing_before_its_first_origin) {
  BlockCorrelation correlation(3);
  for (int i = 0; i < 3; ++i) correlation.add({1, 1, 1});
  EXPECT_EQ(correlation.n_origins(), 0);
  EXPECT_EQ(correlation.average(0), (std::vector<double>(4, 0.0)));
  correlation.add({1, 1, 1});
  EXPECT_EQ(correlation.n_origins(), 1);
}

TEST(BlockCorrelation, is_that_of_a_plain_loop_however_often_blocks_were_merged) {
  const auto values = remembered(1000, 0.5);
  BlockCorrelation correlation(3);
  for (int n = 1; n <= 1000; ++n) {
    correlation.add(values[n - 1]);
    EXPECT_LE(correlation.n_blocks(), 32);
    if (n != 98 && n != 99 && n != 100 && n != 101 && n != 500 && n != 1000) continue;
    for (int k = 0; k < 3; ++k)
      for (int lag = 0; lag <= 3; ++lag)
        EXPECT_NEAR(correlation.average(k)[lag], plain(values, lag, k, 0, n - 3), 1e-12) << n;
  }
  // 997 origins: blocks of 3, merged at 96, 192, 384 and 768, now of 48.
  ASSERT_EQ(correlation.n_blocks(), 20);
  for (int block = 0; block < 20; ++block)
    for (int lag = 0; lag <= 3; ++lag)
      EXPECT_NEAR(correlation.average_of_block(block, 1)[lag],
                  plain(values, lag, 1, 48 * block, 48 * (block + 1)), 1e-12);
}

TEST(BlockCorrelation, gives_an_integral_within_its_error) {
  // C(l) = memory^l / (1 - memory^2).
  constexpr double memory = 0.8;
  constexpr int length = 40;
  const auto values = remembered(60000, memory);
  BlockCorrelation correlation(length);
  for (const Vec3& value : values) correlation.add(value);

  for (int k = 0; k < 3; ++k) {
    const auto integral = [](const std::vector<double>& c) {
      double sum = 0;
      for (std::size_t lag = 0; lag < c.size(); ++lag) sum += c[lag];
      return sum;
    };
    std::vector<double> blocks;
    for (int block = 0; block < correlation.n_blocks(); ++block)
      blocks.push_back(integral(correlation.average_of_block(block, k)));
    const double error = block_error(blocks, 1);
    double expected = 0;
    for (int lag = 0; lag <= length; ++lag) expected += std::pow(memory, lag) / (1 - memory * memory);
    EXPECT_NEAR(integral(correlation.average(k)), expected, 4 * error) << k;
    EXPECT_LT(error, 0.08 * expected);
    EXPECT_GT(error, 0.02 * expected);
  }
}
