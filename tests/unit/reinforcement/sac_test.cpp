#include "surrogates/reinforcement/sac.hpp"

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/reinforcement/learner.hpp"
#include "surrogates/reinforcement/policy_file.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::reinforcement {
namespace {

using namespace environments;

PolicyShape squashed(int n_observed, int n_actions, std::vector<int> widths) {
  PolicyShape shape;
  shape.n_observed = n_observed, shape.n_actions = n_actions;
  shape.kind = ActionKind::squashed;
  shape.widths = std::move(widths);
  return shape;
}

/// Rows without a pattern for five observations and two actions.
struct Past {
  std::vector<float> observed, action, reward, next;
  std::vector<std::uint8_t> terminated;
  std::vector<double> noise, target;
  explicit Past(int n) {
    for (int i = 0; i < 5 * n; ++i)
      observed.push_back(std::sin(1.7F * i)), next.push_back(std::cos(2.9F * i));
    for (int i = 0; i < 2 * n; ++i)
      action.push_back(std::sin(0.7F * i)), noise.push_back(1.4 * std::sin(2.3 * i));
    for (int i = 0; i < n; ++i) {
      reward.push_back(std::cos(0.4F * i)), terminated.push_back(i % 3 == 0),
          target.push_back(std::sin(1.1 * i));
    }
  }
  [[nodiscard]] Transitions rows() const { return {observed, action, reward, next, terminated}; }
};

/// A network away from its first weights.
SoftActorCritic network_of_five() {
  SoftActorCritic network(squashed(5, 2, {9, 7}), 0.3, 2);
  for (std::size_t i = 0; i < network.parameters().size(); ++i)
    network.parameters()[i] += 0.15F * std::sin(static_cast<float>(i));
  for (std::size_t i = 0; i < network.copies().size(); ++i) network.copies()[i] += 0.2F * std::cos(0.3F * i);
  network.refresh();
  return network;
}

/// Compare a gradient with differences of a loss along directions among numbers first ... last.
void expect_gradient(SoftActorCritic& network, std::size_t first, std::size_t last,
                     const std::vector<float>& gradient, const std::function<double()>& loss) {
  for (int direction = 0; direction < 6; ++direction) {
    const auto step = [&](std::size_t i) { return std::sin(0.9 * i * (direction + 1) + direction); };
    const std::vector<float> base(network.parameters().begin(), network.parameters().end());
    const auto shifted = [&](double h) {
      for (std::size_t i = first; i < last; ++i)
        network.parameters()[i] = static_cast<float>(base[i] + h * step(i));
      network.refresh();
      const double value = loss();
      std::copy(base.begin(), base.end(), network.parameters().begin());
      network.refresh();
      return value;
    };
    double slope = 0;
    for (std::size_t i = first; i < last; ++i) slope += gradient[i] * step(i);
    const double h = 1e-3, difference = (shifted(h) - shifted(-h)) / (2 * h);
    EXPECT_NEAR(slope, difference, 3e-3 * std::max(1.0, std::abs(slope)));
  }
}

TEST(SoftActorCritic, has_the_gradients_of_its_losses) {
  SoftActorCritic network = network_of_five();
  const Past past(11);
  const std::size_t n = network.parameters().size(), n_policy = network.policy_parameters().size();
  std::vector<float> gradient(n), unused(n);
  const double loss = network.critic_loss(past.rows(), past.target, gradient);
  EXPECT_GT(loss, 0.1);
  for (std::size_t i = 0; i < n_policy; ++i) ASSERT_EQ(gradient[i], 0);
  expect_gradient(network, n_policy, n - 1, gradient,
                  [&] { return network.critic_loss(past.rows(), past.target, unused); });

  double values[2];
  for (const bool second : {false, true}) {  // the lesser one of all rows: no kinks between them
    network.parameters()[n - 2] += second ? -6.0F : 3.0F;
    network.refresh();
    gradient.assign(n, 0);
    const auto terms = network.policy_loss(past.rows(), past.noise, -2, gradient);
    values[second] = terms.value;
    for (std::size_t i = n_policy; i + 1 < n; ++i) ASSERT_EQ(gradient[i], 0);
    EXPECT_NEAR(gradient[n - 1], terms.entropy + 2, 1e-6);
    EXPECT_NEAR(terms.total, -network.temperature() * terms.entropy - terms.value, 1e-12);
    expect_gradient(network, 0, n_policy, gradient,
                    [&] { return network.policy_loss(past.rows(), past.noise, -2, unused).total; });
  }
  EXPECT_LT(values[1], values[0] - 0.5);
}

TEST(SoftActorCritic, has_probabilities_that_add_up_to_one) {
  const PolicyShape shape = squashed(2, 1, {4});
  SquashedPolicy policy(shape, 3);
  std::vector<float> weights(policy.first().begin(), policy.first().end());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += 0.3F * std::sin(2.0F * i);
  policy.refresh(weights);
  const int n = 8001;
  std::vector<float> observed, action(n);
  std::vector<double> noise, log_probability(n);
  for (int i = 0; i < n; ++i) {
    observed.insert(observed.end(), {0.4F, -0.8F});
    noise.push_back(-8 + 16.0 * i / (n - 1));
  }
  policy.act(observed, noise, action, log_probability);
  double sum = 0;
  for (int i = 1; i < n; ++i)
    sum +=
        0.5 * (std::exp(log_probability[i]) + std::exp(log_probability[i - 1])) * (action[i] - action[i - 1]);
  EXPECT_NEAR(sum, 1, 2e-3);
  std::vector<float> likeliest(1);
  policy.best(std::vector<float>{0.4F, -0.8F}, likeliest);
  EXPECT_NEAR(likeliest[0], action[n / 2], 1e-6);
}

TEST(SoftActorCritic, expects_a_future_unless_an_episode_terminated) {
  SoftActorCritic network = network_of_five();
  const Past past(9);
  std::vector<double> far(9), near(9);
  network.targets(past.rows(), past.noise, 0.9, far);
  network.targets(past.rows(), past.noise, 0.0, near);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(near[i], past.reward[i]);
    if (past.terminated[i])
      EXPECT_EQ(far[i], past.reward[i]);
    else
      EXPECT_NE(far[i], past.reward[i]);
  }
  std::vector<double> again(9);  // the copies alone tell it: critics may change
  for (std::size_t i = network.policy_parameters().size(); i + 1 < network.parameters().size(); ++i)
    network.parameters()[i] += 0.1F;
  network.refresh();
  network.targets(past.rows(), past.noise, 0.9, again);
  EXPECT_EQ(far, again);
  network.follow(1);
  network.targets(past.rows(), past.noise, 0.9, again);
  EXPECT_NE(far, again);
}

/// x' = A x + B u with a reward of -(x Q x + R u^2): a damped mass that is to be brought to rest.
class Regulator : public Environment {
 public:
  [[nodiscard]] int n_observed() const override { return 2; }
  [[nodiscard]] int n_actions() const override { return 1; }
  void reset(const EpisodeKey& key) override {
    taken_ = 0;
    for (std::size_t i = 0; i < 2; ++i)
      x_[i] = 0.6 * std::sin(1.0 + 2.7 * i + 3.1 * key.environment + 7.7 * key.episode);
  }
  Outcome step(std::span<const float> action) override {
    const double u = action[0], reward = -(x_[0] * x_[0] + 0.1 * x_[1] * x_[1] + 0.1 * u * u);
    x_[0] = 0.8 * x_[0] + 0.4 * x_[1];
    x_[1] = 0.7 * x_[1] + 0.3 * u;
    return {reward, false, ++taken_ >= 25};
  }
  void observe(std::span<float> seen) const override {
    seen[0] = static_cast<float>(x_[0]), seen[1] = static_cast<float>(x_[1]);
  }

 private:
  int taken_ = 0;
  double x_[2] = {};
};
/// Gain of the best u = -K x with discount 0.9: the discounted equation of Riccati, iterated by hand with
/// numpy.
constexpr double best_gain[2] = {0.95752791, 1.38671555};

EnvironmentPool regulators(int n, int threads, std::int64_t first_episode = 0) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int e = 0; e < n; ++e) worlds.push_back(std::make_unique<Regulator>());
  return {std::move(worlds), {n, threads, 3, first_episode}};
}

/// Discounted return of whole episodes, mean over environments.
double discounted(const Act& act) {
  auto pool = regulators(40, 1, 1000);
  double sum = 0;
  for (const auto& rewards : play(pool, act).rewards) {
    double weight = 1.0 / 40;
    for (const float reward : rewards) sum += weight * reward, weight *= 0.9;
  }
  return sum;
}

TEST(Sac, finds_the_gain_of_riccati) {
  auto pool = regulators(8, 1);
  SoftActorCritic network(squashed(2, 1, {32, 32}), 0.05, 1);
  SacOptions options;
  options.warmup = 400, options.gradient_steps = 2;
  Sac sac(pool, network, {0.9, 128, 1e-3}, options, {1, 0, 1}, 25, 1);
  for (int k = 0; k < 120; ++k) (void)sac.update();
  const auto parameters = network.policy_parameters();
  const Act learned = acting({network.shape(), {parameters.begin(), parameters.end()}, {}}, 1);
  const Act best = [](std::span<const float> seen, std::span<float> actions) {
    for (std::size_t e = 0; e < actions.size(); ++e)
      actions[e] = static_cast<float>(-best_gain[0] * seen[2 * e] - best_gain[1] * seen[2 * e + 1]);
  };
  const Act none = [](std::span<const float>, std::span<float> actions) {
    std::fill(actions.begin(), actions.end(), 0.0F);
  };
  const double reached = discounted(learned), possible = discounted(best);
  EXPECT_GT(reached, 1.1 * possible);  // both negative
  EXPECT_LT(discounted(none), 1.3 * possible);
  for (const int i : {0, 1}) {
    std::vector<float> seen{0, 0, 0, 0}, actions(2);
    seen[i] = 0.2F, seen[2 + i] = -0.2F;
    learned(seen, actions);
    EXPECT_NEAR((actions[1] - actions[0]) / 0.4, best_gain[i], 0.25 * best_gain[i]);
  }
}

/// A ring of four places as four agents see it: the number of the next place is what its action should be.
class TargetRing : public Environment {
 public:
  [[nodiscard]] int n_observed() const override { return 4; }
  [[nodiscard]] int n_actions() const override { return 4; }
  void reset(const EpisodeKey& key) override {
    taken_ = 0;
    for (std::size_t i = 0; i < 4; ++i)
      place_[i] = static_cast<float>(0.8 * std::sin(1.3 * key.episode + 2.7 * key.environment + 1.9 * i));
  }
  Outcome step(std::span<const float> action) override {
    double reward = 0;
    for (std::size_t i = 0; i < 4; ++i) reward -= std::pow(action[i] - place_[(i + 1) % 4], 2);
    return {reward, false, ++taken_ >= 5};
  }
  void observe(std::span<float> seen) const override { std::copy(place_, place_ + 4, seen.begin()); }

 private:
  int taken_ = 0;
  float place_[4] = {};
};

EnvironmentPool target_rings(int n, int threads, std::int64_t first_episode = 0) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int e = 0; e < n; ++e) worlds.push_back(std::make_unique<TargetRing>());
  return {std::move(worlds), {n, threads, 3, first_episode}};
}

/// Numbers after some updates of four agents, whose memory (25 steps) is overwritten after the third.
std::vector<float> learned_by_sac(int threads, int updates, const std::string& save_at,
                                  const std::string& from) {
  std::optional<hdf5::File> file;
  std::int64_t done = 0;
  if (!from.empty()) {
    file = hdf5::File::open(Comm::self(), from);
    done = file->root().open_group("sac").integer_attribute("updates");
  }
  auto pool = target_rings(2, threads, done);
  SacOptions options;
  options.warmup = 10, options.replay = 25, options.gradient_steps = 2;
  const auto learner = make_sac(pool, squashed(4, 1, {8}), {0.9, 16, 1e-3}, options, {4, 0.5, 2}, 5, 1);
  if (file) learner->restore(file->root().open_group("sac"));
  std::vector<float> told;
  while (learner->n_updates() < updates) {
    const auto row = learner->learn();
    told = learner->policy();
    told.push_back(static_cast<float>(row.mean_reward));
    told.insert(told.end(), row.numbers.begin(), row.numbers.end());
  }
  if (!save_at.empty()) {
    hdf5::File out = hdf5::File::create(Comm::self(), save_at);
    hdf5::Group group = out.root().group("sac");
    learner->save(group);
    out.close();
  }
  return told;
}

TEST(Sac, is_bitwise_the_same_on_any_threads_and_restarted) {
  const Scratch scratch("sac");
  const auto whole = learned_by_sac(1, 7, "", "");
  EXPECT_EQ(whole, learned_by_sac(2, 7, "", ""));
  for (const int half : {2, 4}) {  // before and after the memory is full
    (void)learned_by_sac(2, half, scratch / "half.h5", "");
    EXPECT_EQ(whole, learned_by_sac(1, 7, "", scratch / "half.h5")) << half;
  }
}

TEST(Sac, refuses_what_does_not_fit) {
  auto pool = target_rings(2, 1);
  SoftActorCritic network(squashed(4, 1, {8}), 0.1, 1), other(squashed(3, 1, {8}), 0.1, 1);
  EXPECT_THROW(Sac(pool, network, {}, {}, {1, 0, 1}, 5, 1), InputError);  // one number for four
  EXPECT_THROW(Sac(pool, other, {}, {}, {4, 0, 1}, 5, 1), InputError);
  EXPECT_THROW(Sac(pool, network, {}, {}, {4, 0, 1}, 0, 1), InputError);
  EXPECT_NO_THROW(Sac(pool, network, {}, {}, {4, 0, 1}, 5, 1));
  EXPECT_THROW(SoftActorCritic(squashed(4, 1, {8}), 0, 1), InputError);
  SacOptions options;
  options.warmup = 0;
  Sac wild(pool, network, {0.9, 16, 1e30}, options, {4, 0, 1}, 5, 1);
  EXPECT_THROW(
      {
        for (int k = 0; k < 3; ++k) (void)wild.update();
      },
      NumericalError);
}

TEST(Sac, writes_policies_that_act_as_they_did) {
  const Scratch scratch("sac");
  SquashedPolicy policy(squashed(4, 2, {8}), 5);
  std::vector<float> weights(policy.first().begin(), policy.first().end());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += 0.2F * std::sin(1.0F * i);
  policy.refresh(weights);
  const std::string path = scratch / "policy.h5";
  save_policy(Comm::self(), path, {policy.shape(), weights, {{"interval", 2}}}, hdf5::current_provenance());
  const PolicyFile read = load_policy(Comm::self(), path);
  EXPECT_EQ(read.shape.kind, ActionKind::squashed);
  const std::vector<float> seen{0.3F, -0.2F, 0.9F, 0.1F};
  std::vector<float> before(2), after(2);
  policy.best(seen, before);
  acting(read, 1)(seen, after);
  EXPECT_EQ(before, after);
  EXPECT_NE(before[0], before[1]);
}

}  // namespace
}  // namespace quintet::reinforcement
