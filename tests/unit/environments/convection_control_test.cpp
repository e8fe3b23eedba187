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
  options.actuators = {{false, {4, 0.75, 0.5}}};
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
      const std::size_t id = ids[k];
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
    for (int s = 0; s < 4; ++s) action.push_back(std::sin(0.7 * (k / 24) + 2.1 * s));
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

TEST(ConvectionControl, rewards_what_a_formula_says) {
  const auto flows = flows_of(small());
  const std::vector<float> actions[] = {{0.5F, -1.0F, 0.2F, 0.3F}, {0.5F, -1.0F, 0.2F, 0.3F}, {0, 0, 0, 0}};
  const auto rewards = [&](const std::string& formula) {
    ConvectionControlOptions options = small();
    options.reward = formula;
    ConvectionControl world(options, flows, Starts::own);
    std::vector<double> result;
    for (int episode = 0; episode < 2; ++episode) {  // the second as the first: nothing is left of the floor
      world.reset({});
      for (const auto& action : actions) result.push_back(world.step(action).reward);
      EXPECT_EQ(world.nusselt().size(), 3);
    }
    return result;
  };
  const auto nusselt = rewards("-nusselt"), energy = rewards("energy"), heating = rewards("heating"),
             change = rewards("change"), all = rewards("-nusselt + 2*energy - heating^2 - 3*change");
  for (int k = 0; k < 6; ++k)
    EXPECT_NEAR(all[k], nusselt[k] + 2 * energy[k] - heating[k] * heating[k] - 3 * change[k], 1e-14);
  // by hand: the same floor twice, then none; a' = a, its root mean square lies between that of the segments
  // and that of the blends
  EXPECT_EQ(heating[0], heating[1]);
  EXPECT_EQ(heating[2], 0);
  EXPECT_EQ(change[1], 0);
  EXPECT_EQ(change[0], heating[0]);
  EXPECT_EQ(change[2], heating[0]);
  EXPECT_GT(heating[0], 0.3 * 0.75);
  EXPECT_LT(heating[0], std::sqrt((0.25 + 1 + 0.04 + 0.09) / 4) * 0.75);
  EXPECT_EQ(std::vector<double>(energy.begin(), energy.begin() + 3),
            std::vector<double>(energy.begin() + 3, energy.end()));
  // a step an action: the mean of both ends
  ConvectionControlOptions options = small();
  options.interval = options.most_dt = 1e-3, options.reward = "energy";
  ConvectionControl world(options, flows, Starts::own);
  world.reset({});
  const double before = convection::sample(Exec(), world.flow(), 0).kinetic_energy;
  const double reward = world.step(actions[0]).reward;
  EXPECT_NEAR(reward, (before + convection::sample(Exec(), world.flow(), 0).kinetic_energy) / 2, 1e-15);
  EXPECT_THROW(rewards("-nuselt"), InputError);
  EXPECT_THROW(rewards("log(energy)"), InputError);            // of conduction: -inf
  EXPECT_THROW(rewards("-nusselt/(change > 0)"), InputError);  // of conduction: -inf
  EXPECT_THROW(rewards("1/(nusselt < 1.01)"), InputError);     // met in the first action
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

/// A closed box, heated at its sides or plates, with both heated walls set.
ConvectionControlOptions closed(convection::Heated heated) {
  ConvectionControlOptions options = small();
  options.problem.rayleigh = 2e4;
  options.problem.sides = convection::Sides::no_slip, options.problem.heated = heated;
  options.aspect_ratio = 1.2;
  options.spacing_x = convection::Spacing::tanh, options.by_modes = true;
  options.actuators = {{false, {3, 0.4, 0.5}}, {true, {2, 0.3, 0.5}}};
  options.sensed = {Sensed::w, Sensed::b};
  options.probes_x = 3, options.probes_z = 2;
  return options;
}

/// Wall fluxes and dissipations have the same mean over a long time as what is carried.
TEST(ConvectionControl, of_a_closed_box_has_rewards_that_the_exact_relations_share) {
  for (const auto heated : {convection::Heated::plates, convection::Heated::sides}) {
    ConvectionControlOptions options = closed(heated);
    options.interval = 0.5, options.most_dt = 0.0625, options.actions = 1 << 20;
    const auto means = [&](const std::string& formula) {
      options.reward = formula;
      ConvectionControl world(options, flows_of(options, 20), Starts::own);
      EXPECT_EQ(world.n_actions(), 5);
      EXPECT_EQ(world.n_observed(), 12);
      world.reset({});
      double sum = 0;
      const int n = 1200;
      for (int k = 0; k < n; ++k) {
        std::vector<float> action;
        for (int s = 0; s < 5; ++s) action.push_back(std::sin(0.7 * (k / 8) + 2.1 * s));
        sum += world.step(action).reward / n;
      }
      return sum;
    };
    const double nusselt = means("nusselt");
    EXPECT_GT(nusselt, 1.2);
    EXPECT_NEAR(means("nusselt_warm"), nusselt, 0.01 * nusselt);
    EXPECT_NEAR(means("nusselt_cold"), nusselt, 0.01 * nusselt);
    if (heated == convection::Heated::plates) {
      EXPECT_NEAR(1 + means("dissipation") * std::sqrt(2e4), nusselt, 0.01 * nusselt);
    }
  }
}

/// An action reaches its own wall and segment alone.
TEST(ConvectionControl, of_a_closed_box_sets_each_wall_by_its_own_numbers) {
  ConvectionControlOptions options = closed(convection::Heated::sides);
  options.interval = 1e-3;
  ConvectionControl world(options, flows_of(options, 1), Starts::own);
  world.reset({});
  (void)world.step(std::vector<float>{1, 0, -1, 0, 0});
  EXPECT_NEAR(world.profiles()[0].front(), 0.4, 1e-7);
  EXPECT_NEAR(world.profiles()[0].back(), -0.4, 1e-7);
  for (const double value : world.profiles()[1]) EXPECT_EQ(value, 0);
  (void)world.step(std::vector<float>{0, 0, 0, 1, -1});
  for (const double value : world.profiles()[0]) EXPECT_EQ(value, 0);
  EXPECT_NEAR(world.profiles()[1].front(), 0.3, 1e-7);
  EXPECT_EQ(world.flow().walls().cold.size(), 12U);
}

/// Where heat is conducted probes of b see 0, next to walls too.
TEST(ConvectionControl, of_a_closed_box_sees_nothing_of_conduction) {
  for (const auto heated : {convection::Heated::plates, convection::Heated::sides}) {
    ConvectionControlOptions options = closed(heated);
    options.spacing_x = options.spacing_z = convection::Spacing::uniform;
    options.start.noise = 0;
    options.probes_x = 4, options.probes_z = 4;
    ConvectionControl world(options, flows_of(options, 0), Starts::own);
    world.reset({});
    std::vector<float> seen(world.n_observed(), 1);
    world.observe(seen);
    for (const float value : seen) EXPECT_NEAR(value, 0, 1e-6);
  }
}

TEST(ConvectionControl, refuses_actuators_that_do_not_fit) {
  ConvectionControlOptions options = closed(convection::Heated::sides);
  options.actuators[1].cold = false;
  EXPECT_THROW(ConvectionControl(options, nullptr, Starts::own), InputError);
  options.actuators.clear();
  EXPECT_THROW(ConvectionControl(options, nullptr, Starts::own), InputError);
  options = small();  // one policy decides for floor and ceiling at each place
  options.actuators.push_back({true, {2, 0.5, 0.5}});
  EXPECT_THROW(ConvectionControl(options, nullptr, Starts::own), InputError);
  options.actuators[1].heating.segments = 4;
  const ConvectionControl world(options, nullptr, Starts::own);
  EXPECT_EQ(world.options().agents(), 4);
  EXPECT_EQ(world.options().place_of(1, 2), 5);
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
  options.actuators[0].heating.segments = 5, options.probes_x = 5;
  EXPECT_THROW(ConvectionControl(options, nullptr, Starts::own), InputError);
  EXPECT_THROW(ConvectionControl(small(), std::make_shared<const FlowStates>(), Starts::own), InputError);
  ConvectionControl without(small(), nullptr, Starts::own);
  EXPECT_THROW(without.reset({}), InputError);
}

}  // namespace
}  // namespace quintet::environments
