#include "surrogates/search/policy.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace quintet::search {
namespace {

Space space() { return Space({{"a", {"0", "1"}}, {"b", {"0", "1", "2"}}, {"c", {"0", "1", "2", "3"}}}); }

/// A policy whose every parameter matters.
Policy scrambled(const Space& space, int hidden, std::uint64_t seed) {
  Policy policy(space, hidden, seed);
  Draws draws(seed, Stream::trial_seed, 0);
  for (double& p : policy.parameters()) p += 0.8 * (draws.uniform() - 0.5);
  return policy;
}

TEST(Policy, begins_with_all_candidates_equally_likely) {
  const Policy policy(space(), 5, 1);
  for (int g = 0; g < 3; ++g) {
    const auto p = policy.probabilities({1, 2, 3}, g);
    for (const double v : p) EXPECT_DOUBLE_EQ(v, 1.0 / p.size());
  }
}

TEST(Policy, draws_as_often_as_its_probabilities_say) {
  const Policy policy = scrambled(space(), 4, 2);
  std::vector<int> count(24);
  constexpr int n = 20000;
  double log_error = 0;
  for (int i = 0; i < n; ++i) {
    Draws draws(5, Stream::proposal, i);
    const Episode episode = policy.draw(draws);
    ++count[12 * episode.genes[0] + 4 * episode.genes[1] + episode.genes[2]];
    for (int g = 0; g < 3; ++g) {
      const std::size_t gene = g;
      const double p = policy.probabilities(episode.genes, g)[episode.genes[gene]];
      log_error = std::max(log_error, std::abs(std::log(p) - episode.log_probability[gene]));
    }
  }
  EXPECT_LT(log_error, 1e-12);
  double chi_squared = 0;
  for (int i = 0; i < 24; ++i) {
    const Genes genes{i / 12, i / 4 % 3, i % 4};
    double p = 1;
    for (int g = 0; g < 3; ++g) p *= policy.probabilities(genes, g)[genes[g]];
    const double seen = count[i];
    chi_squared += (seen - n * p) * (seen - n * p) / (n * p);
  }
  EXPECT_LT(chi_squared, 49.7);  // 23 degrees of freedom, one in a thousand
}

TEST(Policy, later_decisions_know_of_earlier_ones) {
  const Policy policy = scrambled(space(), 4, 3);
  EXPECT_NE(policy.probabilities({0, 0, 0}, 2), policy.probabilities({1, 0, 0}, 2));
  EXPECT_NE(policy.probabilities({0, 0, 0}, 2), policy.probabilities({0, 2, 0}, 2));
  EXPECT_EQ(policy.probabilities({0, 0, 0}, 1), policy.probabilities({0, 2, 3}, 1));
}

/// One gene of two choices, all parameters zero but the bias: everything can be worked out by hand.
struct OneCoin {
  Space space{{{"coin", {"tails", "heads"}}}};
  Policy policy{space, 1, 1};
  /// Layout for G = 1, H = 1, C = 2: e, U (2), W (2), b (2), v, c.
  static constexpr std::size_t bias = 5, value = 8;
  OneCoin() {
    for (double& p : policy.parameters()) p = 0;
  }
  [[nodiscard]] static Episode heads(double old_probability, double reward) {
    Episode episode;
    episode.genes = {1};
    episode.log_probability = {std::log(old_probability)};
    episode.value = {0.0};
    episode.reward = reward;
    return episode;
  }
};

TEST(PpoLoss, of_a_coin_equals_the_numbers_worked_out_by_hand) {
  OneCoin coin;  // pi(heads) = 0.5
  const PpoOptions bare{0.2, 0.0, 0.0};
  const auto loss = [&](double old_probability, double advantage, std::vector<double>& gradient) {
    gradient.assign(coin.policy.parameters().size(), 0.0);
    const std::vector<Episode> episodes{OneCoin::heads(old_probability, 0)};
    const std::vector<double> a{advantage};
    return coin.policy.ppo_loss(episodes, a, bare, gradient);
  };
  std::vector<double> g;
  // ratio 1: L = -A, dL/db = -A (onehot - pi) = -+ A/2.
  EXPECT_DOUBLE_EQ(loss(0.5, 2, g), -2);
  EXPECT_DOUBLE_EQ(g[OneCoin::bias + 1], -1);
  EXPECT_DOUBLE_EQ(g[OneCoin::bias], 1);
  // ratio 1.25 beyond the clip, good: -1.2 A, and nothing to gain.
  EXPECT_DOUBLE_EQ(loss(0.4, 2, g), -2.4);
  EXPECT_DOUBLE_EQ(g[OneCoin::bias + 1], 0);
  // ratio 1.25, bad: the worse of both counts, -1.25 A, with its gradient.
  EXPECT_DOUBLE_EQ(loss(0.4, -2, g), 2.5);
  EXPECT_DOUBLE_EQ(g[OneCoin::bias + 1], 1.25);
  // ratio 0.5 below the clip, good: -0.5 A with its gradient; bad: +0.8 |A| without.
  EXPECT_DOUBLE_EQ(loss(1.0, 2, g), -1);
  EXPECT_DOUBLE_EQ(g[OneCoin::bias + 1], -0.5);
  EXPECT_DOUBLE_EQ(loss(1.0, -2, g), 1.6);
  EXPECT_DOUBLE_EQ(g[OneCoin::bias + 1], 0);
}

TEST(PpoLoss, has_the_value_error_and_the_entropy) {
  OneCoin coin;
  coin.policy.parameters()[OneCoin::value] = 0.25;
  std::vector<double> gradient(coin.policy.parameters().size());
  const std::vector<Episode> episodes{OneCoin::heads(0.5, 1.0)};
  const std::vector<double> advantage{0.0};
  const double loss = coin.policy.ppo_loss(episodes, advantage, {0.2, 0.5, 0.1}, gradient);
  EXPECT_NEAR(loss, 0.5 * 0.75 * 0.75 - 0.1 * std::log(2.0), 1e-15);
  EXPECT_NEAR(gradient[OneCoin::value], 2 * 0.5 * -0.75, 1e-15);
  EXPECT_NEAR(gradient[OneCoin::bias], 0, 1e-15);  // a fair coin has the largest entropy
}

TEST(PpoLoss, has_the_gradient_of_finite_differences) {
  Policy policy = scrambled(space(), 4, 4);
  std::vector<Episode> episodes;
  std::vector<double> advantage;
  const Policy old = scrambled(space(), 4, 6);
  for (int n = 0; n < 6; ++n) {
    Draws draws(9, Stream::proposal, n);
    episodes.push_back(old.draw(draws));
    episodes.back().reward = draws.uniform();
    for (int g = 0; g < 3; ++g) advantage.push_back(2 * draws.uniform() - 1);
  }
  const PpoOptions options{0.2, 0.7, 0.3};
  std::vector<double> gradient(policy.parameters().size());
  policy.ppo_loss(episodes, advantage, options, gradient);
  double largest = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double h = 1e-6, at = policy.parameters()[i];
    policy.parameters()[i] = at + h;
    const double up = policy.ppo_loss(episodes, advantage, options, {});
    policy.parameters()[i] = at - h;
    const double down = policy.ppo_loss(episodes, advantage, options, {});
    policy.parameters()[i] = at;
    EXPECT_NEAR(gradient[i], (up - down) / (2 * h), 2e-9) << "parameter " << i;
    largest = std::max(largest, std::abs(gradient[i]));
  }
  EXPECT_GT(largest, 1e-2);
}

TEST(Advantages, have_mean_zero_and_deviation_one) {
  std::vector<Episode> episodes(3);
  for (int n = 0; n < 3; ++n) {
    episodes[n].value = {0.1 * n, 0.2};
    episodes[n].reward = n * n;
  }
  const auto a = standardised_advantages(episodes);
  double mean = 0, square = 0;
  for (const double v : a) {
    mean += v / 6;
    square += v * v / 6;
  }
  EXPECT_NEAR(mean, 0, 1e-15);
  EXPECT_NEAR(square, 1, 1e-14);
  for (auto& episode : episodes) {
    episode.value = {0.5, 0.5};
    episode.reward = 1;
  }
  for (const double v : standardised_advantages(episodes)) EXPECT_EQ(v, 0);
}

}  // namespace
}  // namespace quintet::search
