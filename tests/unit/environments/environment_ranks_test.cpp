#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/environments/convection_control.hpp"
#include "surrogates/environments/environment_pool.hpp"
#include "tests/support/cart_pole.hpp"

namespace quintet::environments {
namespace {

ConvectionControlOptions cavity() {
  ConvectionControlOptions options;
  options.problem.sides = convection::Sides::no_slip, options.problem.heated = convection::Heated::sides;
  options.aspect_ratio = 1, options.cells_x = 16, options.cells_z = 12;
  options.actuators = {{false, {3, 0.4, 0.5}}};
  options.sensed = {Sensed::w, Sensed::b};
  options.probes_x = 2, options.probes_z = 2, options.actions = 4;
  return options;
}

/// All that a pool of n cavities tells in some turns, with resets among them.
std::vector<double> told(int n, const std::shared_ptr<const FlowStates>& flows,
                         const std::shared_ptr<const Comm>& comm) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int e = 0; e < n; ++e)
    worlds.push_back(std::make_unique<ConvectionControl>(cavity(), flows, Starts::drawn));
  EnvironmentPool pool(std::move(worlds), {n, 1, 5, 0, comm});
  pool.start();
  std::vector<double> all;
  for (int turn = 0; turn < 9; ++turn) {
    const Batch batch = pool.receive();
    all.insert(all.end(), batch.observations.begin(), batch.observations.end());
    all.insert(all.end(), batch.reward.begin(), batch.reward.end());
    all.insert(all.end(), batch.episode_return.begin(), batch.episode_return.end());
    all.insert(all.end(), batch.truncated.begin(), batch.truncated.end());
    all.insert(all.end(), batch.episode_length.begin(), batch.episode_length.end());
    std::vector<float> actions;
    std::vector<int> ids;
    for (int e = n - 1; e >= 0; --e) {  // another order than that of the ranks
      ids.push_back(e);
      for (int s = 0; s < 3; ++s) actions.push_back(std::sin(1.3F * s + e + turn));
    }
    pool.send(actions, ids);
  }
  (void)pool.receive();
  return all;
}

TEST(EnvironmentRanks, share_a_pool_that_is_bitwise_that_of_one) {
  const auto flows = std::make_shared<const FlowStates>(developed_flows(cavity(), {1, 2}, 5, 1));
  for (const int n : {1, 4, 5}) {
    const auto alone = told(n, flows, nullptr),
               together = told(n, flows, std::make_shared<const Comm>(Comm::world()));
    ASSERT_EQ(alone.size(), together.size());
    for (std::size_t i = 0; i < alone.size(); ++i) ASSERT_EQ(alone[i], together[i]) << n << ": " << i;
  }
}

TEST(EnvironmentRanks, refuse_to_share_an_asynchronous_pool) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int e = 0; e < 2; ++e) worlds.push_back(std::make_unique<CartPole>());
  const auto comm = std::make_shared<const Comm>(Comm::world());
  if (comm->size() == 1) GTEST_SKIP() << "one rank";
  EXPECT_THROW(EnvironmentPool(std::move(worlds), {1, 1, 5, 0, comm}), InputError);
}

}  // namespace
}  // namespace quintet::environments
