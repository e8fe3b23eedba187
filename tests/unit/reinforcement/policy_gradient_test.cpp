#include "surrogates/training/policy_gradient.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace quintet {
namespace {

TEST(Advantages, are_those_by_hand) {
  // Two series of three steps; the second is cut after its second step, its last step terminates.
  const std::array<double, 6> reward{1, 10, 2, 20, 3, 30};
  const std::array<double, 8> value{0.5, 5, 0.6, 6, 0.7, 7, 0.8, 8};
  const std::array<std::uint8_t, 6> terminated{0, 0, 0, 0, 0, 1}, done{0, 0, 0, 1, 0, 1};
  const auto a = generalised_advantages({3, 2, reward, value, terminated, done}, 0.9, 0.5);
  const double a2 = 3 + 0.9 * 0.8 - 0.7, a1 = 2 + 0.9 * 0.7 - 0.6 + 0.45 * a2,
               a0 = 1 + 0.9 * 0.6 - 0.5 + 0.45 * a1;
  EXPECT_NEAR(a[4], a2, 1e-14);
  EXPECT_NEAR(a[2], a1, 1e-14);
  EXPECT_NEAR(a[0], a0, 1e-14);
  const double b2 = 30 - 7, b1 = 20 + 0.9 * 7 - 6, b0 = 10 + 0.9 * 6 - 5 + 0.45 * b1;
  EXPECT_NEAR(a[5], b2, 1e-14);  // nothing after a state without a future
  EXPECT_NEAR(a[3], b1, 1e-14);  // cut: the value goes on, the trace does not
  EXPECT_NEAR(a[1], b0, 1e-14);
}

/// With lambda = 1 they are discounted sums of rewards less the value, with 0 errors of one step.
TEST(Advantages, have_their_limits) {
  const std::array<double, 4> reward{1, -2, 3, 4};
  const std::array<double, 5> value{0.3, 0.1, -0.4, 0.2, 0.7};
  const std::array<std::uint8_t, 4> none{};
  const auto whole = generalised_advantages({4, 1, reward, value, none, none}, 0.8, 1);
  double sum = value[4];
  for (std::size_t t = 4; t-- > 0;) {
    sum = reward[t] + 0.8 * sum;
    EXPECT_NEAR(whole[t], sum - value[t], 1e-13);
  }
  const auto one = generalised_advantages({4, 1, reward, value, none, none}, 0.8, 0);
  for (std::size_t t = 0; t < 4; ++t) EXPECT_NEAR(one[t], reward[t] + 0.8 * value[t + 1] - value[t], 1e-14);
}

TEST(ClippedTerm, has_no_gradient_beyond_the_clip_on_the_side_that_gains) {
  for (const double advantage : {2.0, -2.0})
    for (const double log_ratio : {-0.5, -0.1, 0.0, 0.1, 0.5}) {
      const ClippedTerm term = clipped_term(log_ratio - 1, -1, advantage, 0.2);
      const double ratio = std::exp(log_ratio);
      const bool beyond = advantage > 0 ? ratio > 1.2 : ratio < 0.8;
      EXPECT_NEAR(term.value, advantage * (beyond ? (advantage > 0 ? 1.2 : 0.8) : ratio), 1e-14);
      EXPECT_NEAR(term.by_log_probability, beyond ? 0 : advantage * ratio, 1e-14);
      const double h = 1e-6, up = clipped_term(log_ratio - 1 + h, -1, advantage, 0.2).value,
                   down = clipped_term(log_ratio - 1 - h, -1, advantage, 0.2).value;
      EXPECT_NEAR(term.by_log_probability, (up - down) / (2 * h), 1e-8);
    }
}

TEST(Standardise, gives_mean_0_and_deviation_1_or_0_where_all_are_equal) {
  std::array<double, 4> values{1, 2, 3, 10};
  standardise(values);
  double mean = 0, square = 0;
  for (const double v : values) mean += v / 4, square += v * v / 4;
  EXPECT_NEAR(mean, 0, 1e-15);
  EXPECT_NEAR(square, 1, 1e-14);
  std::array<double, 3> equal{4, 4, 4};
  standardise(equal);
  EXPECT_EQ(equal, (std::array<double, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace quintet
