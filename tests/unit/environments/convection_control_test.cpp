#include "surrogates/environments/convection_control.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/environments/environment_pool.hpp"

namespace quintet::environments {
namespace {

using convection::Sample;

ConvectionControlOptions small() {
  ConvectionControlOptions options;
  options.cells_x = 16, options.cells_z = 12;
  options.floor = {4, 0.75, 0.5};
  options.actions = 6;
  options.probes_x = 4, options.probes_z = 3;
  return options;
}

std::shared_ptr<const FlowStates> flows_of(const ConvectionControlOptions& options, double time = 40) {
  return std::make_shared<const FlowStates>(developed_flows(options, {1, 2}, time, 1));
}

std::unique_ptr<EnvironmentPool> pool_of(const std::shared_ptr<const FlowStates>& flows, int n, int m,
                                         int threads) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int e = 0; e < n; ++e)
    worlds.push_back(std::make_unique<ConvectionControl>(small(), flows, Starts::drawn));
  return std::make_unique<EnvironmentPool>(std::move(worlds), EnvironmentPoolOptions{m, threads, 5});
}

/// Some action that depends on what is seen.
std::vector<float> reaction(std::span<const float> seen, int length) {
  std::vector<float> action;
  for (std::size_t s = 0; s < 4; ++s) action.push_back(-3 * seen[(s * 3 + 1) * 3 + 1] + 0.1F * length);
  action[0] += 0.2F;
  return action;
}

std::vector<float> synchronous_run(const std::shared_ptr<const FlowStates>& flows, int threads) {
  const int n = 3;
  const auto pool = pool_of(flows, n, n, threads);
  pool->start();
  std::vector<float> told;
  for (int turn = 0; turn < 9; ++turn) {
    const Batch batch = pool->receive();
    told.insert(told.end(), batch.observations.begin(), batch.observations.end());
    told.insert(told.end(), batch.reward.begin(), batch.reward.end());
    std::vector<float> actions;
    const std::vector<int> ids(batch.ids.begin(), batch.ids.end());
    for (std::size_t e = 0; e < n; ++e) {
      const auto action = reaction(batch.observations.subspan(e * 36, 36), batch.episode_length[e]);
      actions.insert(actions.end(), action.begin(), action.end());
    }
    pool->send(actions, ids);
  }
  (void)pool->receive();
  return told;
}

TEST(ConvectionControl, is_bitwise_the_same_on_1_2_and_3_threads_through_resets) {
  const auto flows = flows_of(small());
  const auto one = synchronous_run(flows, 1);
  EXPECT_EQ(one, synchronous_run(flows, 2));
  EXPECT_EQ(one, synchronous_run(flows, 3));
  EXPECT_EQ(developed_flows(small(), {1, 2, 3}, 6, 1)[2].b, developed_flows(small(), {1, 2, 3}, 6, 3)[2].b);
}

TEST(ConvectionControl, of_an_asynchronous_pool_is_replayed_by_a_plain_loop) {
  const auto flows = flows_of(small());
  constexpr int n = 4, m = 2;
  const auto pool = pool_of(flows, n, m, 3);
  struct Turn {
    std::vector<float> action, seen;
    float reward;
  };
  std::vector<std::vector<Turn>> told(n);
  std::vector<std::vector<float>> last(n, std::vector<float>(4));
  pool->start();
  for (int turn = 0; turn < 16; ++turn) {
    const Batch batch = pool->receive();
    std::vector<float> actions;
    const std::vector<int> ids(batch.ids.begin(), batch.ids.end());
    for (std::size_t k = 0; k < m; ++k) {
      const auto id = static_cast<std::size_t>(ids[k]);
      const auto seen = batch.observations.subspan(k * 36, 36);
      told[id].push_back({last[id], {seen.begin(), seen.end()}, batch.reward[k]});
      last[id] = reaction(seen, batch.episode_length[k]);
      actions.insert(actions.end(), last[id].begin(), last[id].end());
    }
    pool->send(actions, ids);
  }
  for (int id = 0; id < n; ++id) {
    ConvectionControl world(small(), flows, Starts::drawn);
    std::int64_t episode = 0;
    Outcome outcome{0, true, false};
    std::vector<float> seen(36);
    for (const Turn& turn : told[id]) {
      if (outcome.done()) {
        world.reset({5, id, episode++});
        outcome = {};
      } else {
        outcome = world.step(turn.action);
      }
      world.observe(seen);
      ASSERT_EQ(seen, turn.seen);
      ASSERT_EQ(static_cast<float>(outcome.reward), turn.reward);
    }
  }
}

/// Wall fluxes and both dissipations have the same mean over time as what is carried, but for what the flow
/// stores and the time step, whatever the floor does.
TEST(ConvectionControl, has_a_reward_that_all_exact_relations_of_the_nusselt_number_share) {
  ConvectionControlOptions options = small();
  options.interval = 0.0625, options.most_dt = 0.0625;  // a step an action: every instant is seen
  options.actions = 1 << 20;
  ConvectionControl world(options, flows_of(options), Starts::own);
  world.reset({});
  double volume = 0, warm = 0, cold = 0, dissipation = 0, thermal = 0, profile = 0;
  const int n = 4800;
  const double p = world.flow().problem().thermal_diffusivity();
  for (int k = 0; k < n; ++k) {
    std::vector<float> action;
    for (int s = 0; s < 4; ++s) action.push_back(static_cast<float>(std::sin(0.7 * (k / 24) + 2.1 * s)));
    volume -= world.step(action).reward / n;
    const Sample now = convection::sample(Exec(), world.flow(), 0);
    warm += now.nusselt_warm / n, cold += now.nusselt_cold / n, profile += now.profile_heat / n;
    dissipation += now.dissipation / p / n, thermal += now.thermal_dissipation / p / n;
  }
  EXPECT_GE(world.n_steps(), n);
  EXPECT_GT(volume, 1.3);
  EXPECT_GT(std::abs(profile), 0.3);
  EXPECT_NEAR(warm, volume, 0.01 * volume);
  EXPECT_NEAR(cold, volume, 0.01 * volume);
  EXPECT_NEAR(1 + dissipation, volume, 0.01 * volume);
  EXPECT_NEAR(thermal - profile, volume, 0.015 * volume);
}

TEST(ConvectionControl, rewards_the_mean_over_an_interval_whatever_its_pieces) {
  ConvectionControlOptions options = small();
  const auto flows = flows_of(options);
  ConvectionControl whole(options, flows, Starts::own);
  options.interval /= 12;
  ConvectionControl pieces(options, flows, Starts::own);
  whole.reset({}), pieces.reset({});
  const std::vector<float> action{0.5F, -1.0F, 0.2F, 0.3F};
  double sum = 0;
  for (int k = 0; k < 12; ++k) sum += pieces.step(action).reward / 12;
  EXPECT_NEAR(whole.step(action).reward, sum, 1e-10);
}

TEST(ConvectionControl, sees_a_flow_moved_by_a_segment_as_numbers_moved_by_a_segment_and_treats_it_alike) {
  const ConvectionControlOptions options = small();
  FlowStates flows = developed_flows(options, {3}, 40, 1);
  FlowState moved = flows[0];
  for (auto* field : {&moved.u, &moved.w, &moved.b, &moved.p})
    for (auto row = field->begin(); row != field->end(); row += 16) std::rotate(row, row + 12, row + 16);
  flows.push_back(moved);
  const auto shared = std::make_shared<const FlowStates>(flows);
  ConvectionControl first(options, shared, Starts::own), second(options, shared, Starts::own);
  first.reset({0, 0, 0}), second.reset({0, 1, 0});
  std::vector<float> action{0.4F, -0.9F, 0.8F, -0.3F}, seen(36), other(36);
  double difference = 0;
  for (int k = 0; k < 4; ++k) {
    const double reward = first.step(action).reward;
    std::rotate(action.begin(), action.begin() + 3, action.end());
    EXPECT_NEAR(second.step(action).reward, reward, 1e-9);
    std::rotate(action.begin(), action.begin() + 1, action.end());
    first.observe(seen), second.observe(other);
    std::rotate(seen.begin(), seen.begin() + 27, seen.end());
    for (std::size_t i = 0; i < seen.size(); ++i) {
      EXPECT_NEAR(seen[i], other[i], 1e-6);
      difference += std::abs(other[i]);
    }
  }
  EXPECT_GT(difference, 1);
}

/// A mirrored start is the flow seen in a mirror, also after it has gone on.
TEST(ConvectionControl, draws_starts_that_are_moved_or_mirrored_flows) {
  const ConvectionControlOptions options = small();
  const auto flows = flows_of(options);
  ConvectionControl own(options, flows, Starts::own), drawn(options, flows, Starts::drawn);
  std::vector<double> rewards;
  for (int f = 0; f < 2; ++f) {
    own.reset({0, f, 0});
    rewards.push_back(own.step(std::vector<float>(4)).reward);
  }
  bool seen[2] = {};
  std::vector<float> first(36), next(36);
  for (int episode = 0; episode < 8; ++episode) {
    drawn.reset({9, 0, episode});
    drawn.observe(episode == 0 ? first : next);
    if (episode > 0) {
      EXPECT_NE(first, next);
    }
    const double reward = drawn.step(std::vector<float>(4)).reward;
    const int which = std::abs(reward - rewards[0]) < std::abs(reward - rewards[1]) ? 0 : 1;
    EXPECT_NEAR(reward, rewards[which], 1e-9);
    seen[which] = true;
  }
  EXPECT_TRUE(seen[0] && seen[1]);
}

TEST(ConvectionControl, refuses_what_does_not_fit) {
  ConvectionControlOptions options = small();
  const auto flows = flows_of(options, 1);
  ConvectionControl world(options, flows, Starts::own);
  world.reset({});
  EXPECT_THROW((void)world.step(std::vector<float>{0, 0, NAN, 0}), InputError);
  options.cells_z = 14;
  EXPECT_THROW(ConvectionControl(options, flows, Starts::own), InputError);
  options = small();
  options.probes_x = 6;
  EXPECT_THROW(ConvectionControl(options, flows, Starts::own), InputError);
  options = small();
  options.floor.segments = 5, options.probes_x = 5;
  EXPECT_THROW(ConvectionControl(options, nullptr, Starts::own), InputError);
  EXPECT_THROW(ConvectionControl(small(), std::make_shared<const FlowStates>(), Starts::own), InputError);
  ConvectionControl without(small(), nullptr, Starts::own);
  EXPECT_THROW(without.reset({}), InputError);
}

}  // namespace
}  // namespace quintet::environments
