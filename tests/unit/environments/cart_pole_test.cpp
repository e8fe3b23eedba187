#include "tests/support/cart_pole.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet::environments {
namespace {

/// Accelerations of cart and pole by Cramer's rule from Lagrange's equations,
///
///     M x'' + m l theta'' cos theta = F + m l theta'^2 sin theta
///     m l x'' cos theta + 4/3 m l^2 theta'' = m g l sin theta
std::array<double, 2> accelerations(const std::array<double, 4>& state, double force) {
  constexpr double m = 0.1, all = 1.1, l = 0.5, g = 9.8;
  const double a = all, b = m * l * std::cos(state[2]), d = 4.0 / 3.0 * m * l * l;
  const double e = force + m * l * state[3] * state[3] * std::sin(state[2]),
               f = m * g * l * std::sin(state[2]);
  return {(e * d - b * f) / (a * d - b * b), (a * f - b * e) / (a * d - b * b)};
}

TEST(CartPole, goes_by_euler_steps_of_lagranges_equations) {
  std::array<double, 4> state{0.03, -0.02, 0.04, 0.01};
  CartPole world;
  world.set_state(state);
  double farthest = 0;
  for (int step = 0; step < 100; ++step) {
    const bool right = state[2] + 0.5 * state[3] + 0.02 * (step * 7 % 5 - 2) > 0;
    const auto [along, turn] = accelerations(state, right ? 10 : -10);
    state = {state[0] + 0.02 * state[1], state[1] + 0.02 * along, state[2] + 0.02 * state[3],
             state[3] + 0.02 * turn};
    const Outcome outcome = world.step(std::array<float, 1>{right ? 1.0F : 0.0F});
    EXPECT_FALSE(outcome.done());
    EXPECT_EQ(outcome.reward, 1);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(world.state()[i], state[i], 1e-12);
    farthest = std::max(farthest, std::abs(state[0]));
  }
  EXPECT_GT(farthest, 0.05);  // it went somewhere
}

TEST(CartPole, terminates_where_it_falls_or_leaves) {
  const std::array<float, 1> right{1};
  CartPole world;
  world.set_state({2.399, 1, 0, 0});
  EXPECT_TRUE(world.step(right).terminated);
  world.set_state({0, 0, 0.2094, 1});
  EXPECT_TRUE(world.step(right).terminated);
  world.set_state({0, 0, 0, 0});
  EXPECT_FALSE(world.step(right).done());
}

TEST(CartPole, is_truncated_after_500_steps) {
  CartPole world;
  world.set_state({0, 0, 0, 0});
  for (int step = 1; step <= CartPole::most_steps; ++step) {
    const auto& s = world.state();
    const double lean = s[2] + 0.3 * s[3] + 0.02 * s[0] + 0.05 * s[1];
    const std::array<float, 1> action{lean > 0 ? 1.0F : 0.0F};
    const Outcome outcome = world.step(action);
    ASSERT_FALSE(outcome.terminated) << step;
    EXPECT_EQ(outcome.truncated, step == 500);
  }
}

TEST(CartPole, begins_near_rest_and_elsewhere_in_each_episode) {
  CartPole world;
  std::vector<std::array<double, 4>> starts;
  for (int environment = 0; environment < 2; ++environment)
    for (int episode = 0; episode < 2; ++episode) {
      world.reset({3, environment, episode});
      for (const double value : world.state()) EXPECT_LE(std::abs(value), 0.05);
      for (const auto& other : starts) EXPECT_NE(world.state(), other);
      starts.push_back(world.state());
    }
  world.reset({3, 1, 0});
  EXPECT_EQ(world.state(), starts[2]);
}

TEST(CartPole, refuses_other_actions) {
  CartPole world;
  world.set_state({0, 0, 0, 0});
  for (const float bad : {0.5F, -1.0F, 2.0F, NAN}) {
    const std::array<float, 1> action{bad};
    EXPECT_THROW((void)world.step(action), InputError);
  }
}

}  // namespace
}  // namespace quintet::environments
