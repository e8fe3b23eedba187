#include "surrogates/reinforcement/ppo.hpp"

#include <cmath>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "io/config/schema.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "tests/support/cart_pole.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::reinforcement {
namespace {

using namespace environments;

EnvironmentPool cart_poles(int n, int threads, std::uint64_t seed) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int e = 0; e < n; ++e) worlds.push_back(std::make_unique<CartPole>());
  return {std::move(worlds), {n, threads, seed}};
}

PolicyShape of_cart_pole() {
  PolicyShape shape;
  shape.n_observed = 4;
  shape.n_actions = 2;
  shape.kind = ActionKind::choice;
  shape.widths = {32, 32};
  return shape;
}

/// A ring of four places with a hidden number at each, which is seen; the reward is minus the squared
/// distance of the actions from twice the number of the next place. Episodes of `length` steps.
class Ring : public Environment {
 public:
  explicit Ring(int length) : length_(length) {}
  [[nodiscard]] int n_observed() const override { return 4; }
  [[nodiscard]] int n_actions() const override { return 4; }
  void reset(const EpisodeKey& key) override {
    taken_ = 0;
    for (std::size_t i = 0; i < 4; ++i)
      place_[i] = static_cast<float>(std::sin(1.3 * key.episode + 2.7 * key.environment + 1.9 * i));
  }
  Outcome step(std::span<const float> action) override {
    double reward = 0;
    for (std::size_t i = 0; i < 4; ++i) reward -= std::pow(action[i] - 2 * place_[(i + 1) % 4], 2) / 4;
    return {reward, false, ++taken_ >= length_};
  }
  void observe(std::span<float> seen) const override { std::copy(place_, place_ + 4, seen.begin()); }

 private:
  int length_, taken_ = 0;
  float place_[4] = {};
};

EnvironmentPool rings(int n, int threads, std::int64_t first_episode = 0, int length = 5) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int e = 0; e < n; ++e) worlds.push_back(std::make_unique<Ring>(length));
  return {std::move(worlds), {n, threads, 3, first_episode}};
}

PolicyShape of_a_place() {
  PolicyShape shape;
  shape.n_observed = 4;
  shape.n_actions = 1;
  shape.widths = {16};
  return shape;
}

TEST(Ppo, keeps_the_pole_up) {
  auto pool = cart_poles(8, 1, 1);
  ActorCritic network(of_cart_pole(), 1);
  PpoOptions options;
  options.learning_rate = 1e-3;
  options.discount = 0.98, options.trace = 0.9;
  options.minibatch = 256;
  options.epochs = 8;
  options.most_divergence = 1;
  options.weights.entropy = 0.0;
  Ppo ppo(pool, network, options, {}, 64, 1);
  const auto tried = [&] {
    auto judges = cart_poles(32, 1, 99);
    const EpisodeRewards played = play(judges, greedy(network, 1));
    double mean = 0;
    for (const auto& rewards : played.rewards) mean += static_cast<double>(rewards.size()) / 32;
    return mean;
  };
  EXPECT_LT(tried(), 200);  // it has to learn
  double mean = 0;
  int updates = 0;
  while (updates < 300 && mean < 475) {  // 10 to 100 with seeds 1 to 8
    for (int k = 0; k < 10; ++k, ++updates) (void)ppo.update();
    mean = tried();
  }
  EXPECT_GE(mean, 475) << "after " << updates << " updates";
}

TEST(Ppo, lets_agents_at_all_places_share_what_each_learns) {
  auto pool = rings(8, 1);
  ActorCritic network(of_a_place(), 2);
  PpoOptions options;
  options.learning_rate = 3e-3;
  options.discount = 0;
  Ppo ppo(pool, network, options, {4, 0, 1}, 5, 1);
  const double before = ppo.update().mean_reward;
  UpdateRow row;
  for (int k = 0; k < 60; ++k) row = ppo.update();
  EXPECT_LT(before, -1.5);
  auto judges = rings(3, 1, 1000);
  const EpisodeRewards played = play(judges, greedy(network, 4));
  for (int e = 0; e < 3; ++e) EXPECT_GT(played.mean(e), -0.1);
  EXPECT_EQ(row.decisions, 8 * 5 * 4);  // no row is of a reset
  EXPECT_EQ(row.episodes, 8);
}

TEST(Ppo, leaves_out_what_resets_drop_and_counts_episodes) {
  auto pool = rings(2, 1, 0, 3);
  ActorCritic network(of_a_place(), 2);
  Ppo ppo(pool, network, {}, {4, 0, 1}, 10, 1);
  const UpdateRow row = ppo.update();  // 3 steps, a reset, 3 steps, a reset, 2 steps
  EXPECT_EQ(row.decisions, 2 * 8 * 4);
  EXPECT_EQ(row.episodes, 4);
}

std::vector<float> learned(int threads, int updates, const std::string& save_at,
                           const std::string& go_on_from) {
  std::int64_t done = 0;
  std::optional<hdf5::File> file;
  if (!go_on_from.empty()) {
    file = hdf5::File::open(Comm::self(), go_on_from);
    done = file->root().open_group("ppo").integer_attribute("updates");
  }
  auto pool = rings(5, threads, done);
  ActorCritic network(of_a_place(), 2);
  PpoOptions options;
  options.minibatch = 32;
  Ppo ppo(pool, network, options, {4, 0, 1}, 5, 1);
  if (file) ppo.restore(file->root().open_group("ppo"));
  while (ppo.n_updates() < updates) (void)ppo.update();
  if (!save_at.empty()) {
    hdf5::File out = hdf5::File::create(Comm::self(), save_at);
    hdf5::Group group = out.root().group("ppo");
    ppo.save(group);
    out.close();
  }
  return {network.parameters().begin(), network.parameters().end()};
}

TEST(Ppo, is_bitwise_the_same_on_any_threads_and_restarted) {
  const Scratch scratch("reinforcement");
  const auto whole = learned(1, 7, "", "");
  EXPECT_EQ(whole, learned(2, 7, "", ""));
  EXPECT_EQ(whole, learned(3, 7, "", ""));
  (void)learned(2, 4, scratch / "half.h5", "");
  EXPECT_EQ(whole, learned(1, 7, "", scratch / "half.h5"));
}

/// What ends two updates with rewards `scale` times as large; "" if nothing does.
std::string end_with(double scale, double learning_rate) {
  auto pool = rings(2, 1);
  ActorCritic network(of_a_place(), 2);
  PpoOptions options;
  options.learning_rate = learning_rate;
  Ppo ppo(pool, network, options, {4, 0, scale}, 5, 1);
  try {
    for (int k = 0; k < 2; ++k) (void)ppo.update();
  } catch (const NumericalError& error) {
    return error.what();
  }
  return "";
}

TEST(Ppo, says_whether_rewards_or_steps_were_too_large) {
  EXPECT_EQ(end_with(1, 3e-4), "");
  EXPECT_EQ(end_with(1e36, 3e-4), "");
  const std::string by_rewards = end_with(1e60, 3e-4), by_steps = end_with(1, 1e30);
  EXPECT_NE(by_rewards.find("update 1 of the policy: its gradient is not finite; a reward was"),
            std::string::npos)
      << by_rewards;
  EXPECT_NE(by_steps.find("its gradient is not finite; a smaller learning_rate helps"), std::string::npos)
      << by_steps;
}

TEST(Ppo, refuses_what_does_not_fit) {
  ActorCritic network(of_a_place(), 2);
  auto pool = rings(2, 1);
  EXPECT_THROW(Ppo(pool, network, {}, {3, 0, 1}, 5, 1), InputError);  // 3 agents of 4 numbers
  EXPECT_THROW(Ppo(pool, network, {}, {2, 0, 1}, 5, 1), InputError);  // 2 actions of 4
  EXPECT_THROW(Ppo(pool, network, {}, {4, 0, 1}, 0, 1), InputError);
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int e = 0; e < 3; ++e) worlds.push_back(std::make_unique<Ring>(4));
  EnvironmentPool asynchronous(std::move(worlds), {2, 1, 1});
  EXPECT_THROW(Ppo(asynchronous, network, {}, {4, 0, 1}, 5, 1), InputError);
}

}  // namespace
}  // namespace quintet::reinforcement
