#include "surrogates/reinforcement/actor_critic.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/reinforcement/policy_file.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::reinforcement {
namespace {

PolicyShape shape_of(ActionKind kind) {
  PolicyShape shape;
  shape.n_observed = 5;
  shape.n_actions = 3;
  shape.kind = kind;
  shape.widths = {9, 7};
  shape.deviation = 0.7;
  return shape;
}

/// A batch of n decisions under the policy, with advantages and targets without a pattern.
struct Sample {
  std::vector<float> observed, action;
  std::vector<double> former, advantage, target;
  [[nodiscard]] Decisions rows() const { return {observed, action, former, advantage, target}; }
};
Sample sample_of(ActorCritic& network, int n) {
  Sample sample;
  const std::size_t rows = n, a = network.action_size();
  for (int i = 0; i < 5 * n; ++i) sample.observed.push_back(std::sin(1.7F * i));
  std::vector<float> outputs(3 * rows);
  std::vector<double> values(rows);
  network.evaluate(sample.observed, n, outputs, values);
  sample.action.resize(rows * a);
  for (std::size_t k = 0; k < rows; ++k) {
    sample.former.push_back(network.draw({&outputs[3 * k], 3}, 4, k, 0, {&sample.action[k * a], a}));
    sample.advantage.push_back(std::sin(3.1 * k));
    sample.target.push_back(values[k] + std::cos(2.3 * k));
  }
  return sample;
}

class EveryAction : public ::testing::TestWithParam<ActionKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryAction, ::testing::Values(ActionKind::choice, ActionKind::continuous));

TEST_P(EveryAction, has_the_gradient_of_its_loss) {
  ActorCritic network(shape_of(GetParam()), 2);
  const Sample sample = sample_of(network, 11);
  // Away from the policy that acted, so that some ratios are clipped and no two terms cancel.
  for (std::size_t i = 0; i < network.parameters().size(); ++i)
    network.parameters()[i] += 0.15F * std::sin(static_cast<float>(i));
  network.refresh();
  const LossWeights weights{0.2, 0.6, 0.05};
  std::vector<float> gradient(network.parameters().size());
  const LossTerms at_zero = network.loss(sample.rows(), weights, gradient);
  EXPECT_GT(at_zero.clipped, 0.1);
  EXPECT_LT(at_zero.clipped, 0.95);
  EXPECT_GT(at_zero.divergence, 1e-3);
  // Along directions: differences of single numbers would drown in a float's rounding.
  for (int direction = 0; direction < 6; ++direction) {
    const auto step = [&](std::size_t i) { return std::sin(0.9 * i * (direction + 1) + direction); };
    const std::vector<float> base(network.parameters().begin(), network.parameters().end());
    double slope = 0;
    const auto shifted = [&](double h) {
      for (std::size_t i = 0; i < base.size(); ++i)
        network.parameters()[i] = static_cast<float>(base[i] + h * step(i));
      network.refresh();
      const double loss = network.loss(sample.rows(), weights, {}).total;
      std::copy(base.begin(), base.end(), network.parameters().begin());
      network.refresh();
      return loss;
    };
    for (std::size_t i = 0; i < base.size(); ++i) slope += gradient[i] * step(i);
    const double h = 1e-3, difference = (shifted(h) - shifted(-h)) / (2 * h);
    EXPECT_NEAR(slope, difference, 2e-3 * std::max(1.0, std::abs(slope)));
  }
}

TEST_P(EveryAction, has_no_gradient_of_the_policy_where_all_ratios_are_clipped) {
  ActorCritic network(shape_of(GetParam()), 2);
  Sample sample = sample_of(network, 8);
  for (std::size_t k = 0; k < 8; ++k) {
    sample.advantage[k] = k % 2 == 0 ? 1 : -1;
    sample.former[k] += k % 2 == 0 ? -0.5 : 0.5;  // now as if the policy had gone the way that gains
  }
  std::vector<float> gradient(network.parameters().size());
  const LossTerms terms = network.loss(sample.rows(), {0.2, 0, 0}, gradient);
  EXPECT_EQ(terms.clipped, 1);
  for (const float g : gradient) EXPECT_EQ(g, 0);
}

TEST_P(EveryAction, draws_from_the_distribution_that_it_states) {
  ActorCritic network(shape_of(GetParam()), 2);
  const std::vector<float> outputs{0.3F, -0.5F, 1.1F};
  const int n = 20000;
  std::vector<double> mean(3), square(3);
  double entropy = 0;
  std::vector<float> action(3);
  for (int k = 0; k < n; ++k) {
    entropy -= network.draw(outputs, 1, k, 7, action) / n;
    for (std::size_t i = 0; i < 3; ++i) {
      const double x =
          GetParam() == ActionKind::choice ? (action[0] == static_cast<float>(i) ? 1 : 0) : action[i];
      mean[i] += x / n, square[i] += x * x / n;
    }
  }
  const double total = std::exp(0.3) + std::exp(-0.5) + std::exp(1.1);
  double expected_entropy = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double p = std::exp(double{outputs[i]}) / total;
    if (GetParam() == ActionKind::choice) {
      EXPECT_NEAR(mean[i], p, 0.015);
      expected_entropy -= p * std::log(p);
    } else {
      EXPECT_NEAR(mean[i], outputs[i], 0.02);
      EXPECT_NEAR(square[i] - mean[i] * mean[i], 0.49, 0.02);
      expected_entropy += 0.5 * std::log(2 * std::numbers::pi * std::numbers::e * 0.49);
    }
  }
  EXPECT_NEAR(entropy, expected_entropy, 0.03);
  network.best(outputs, action);
  EXPECT_EQ(action[0], GetParam() == ActionKind::choice ? 2 : 0.3F);
}

TEST_P(EveryAction, comes_back_from_a_file_to_the_last_bit) {
  const Scratch scratch("reinforcement");
  const std::string path = scratch / "policy.h5";
  ActorCritic network(shape_of(GetParam()), 5);
  const auto parameters = network.parameters();
  save_policy(Comm::self(), path,
              {network.shape(), {parameters.begin(), parameters.end()}, {{"a", 1.5}, {"b", -2}}},
              hdf5::current_provenance());
  const PolicyFile read = load_policy(Comm::self(), path);
  EXPECT_EQ(read.number("b"), -2);
  EXPECT_THROW((void)read.number("c"), InputError);
  ActorCritic other = network_of(read);
  EXPECT_EQ(other.shape().widths, network.shape().widths);
  EXPECT_TRUE(std::equal(parameters.begin(), parameters.end(), other.parameters().begin()));
}

TEST(PolicyFile, that_is_none_is_refused) {
  const Scratch scratch("reinforcement");
  const std::string path = scratch / "policy.h5";
  EXPECT_THROW((void)load_policy(Comm::self(), path), InputError);
  std::ofstream(path) << "no policy";
  EXPECT_THROW((void)load_policy(Comm::self(), path), InputError);
  ActorCritic network(shape_of(ActionKind::choice), 5);
  const std::vector<float> few(10), bad(network.parameters().size(), NAN);
  save_policy(Comm::self(), path, {network.shape(), few, {}}, hdf5::current_provenance());
  EXPECT_THROW((void)load_policy(Comm::self(), path), InputError);
  save_policy(Comm::self(), path, {network.shape(), bad, {}}, hdf5::current_provenance());
  EXPECT_THROW((void)load_policy(Comm::self(), path), InputError);
}

}  // namespace
}  // namespace quintet::reinforcement
