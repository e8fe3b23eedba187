#include "surrogates/reinforcement/sac.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/config/schema.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "physics/kernels/random.hpp"
#include "surrogates/training/optimiser.hpp"

namespace quintet::reinforcement {

namespace {

constexpr std::uint32_t stream_of_exploration = 0x5504, stream_of_rows = 0x5505, stream_of_targets = 0x5506,
                        stream_of_losses = 0x5507;

/// Normal numbers of (seed, stream, place, number) alone.
std::vector<double> normal_numbers(std::size_t n, std::uint64_t seed, std::uint32_t stream,
                                   std::uint64_t number) {
  std::vector<double> result(n);
  double unused;
  for (std::size_t i = 0; i < n; ++i) normal_pair(seed, stream, i, number, result[i], unused);
  return result;
}

}  // namespace

void describe(Schema& schema, SacOptions& options) {
  schema.integer("replay", options.replay, "Steps of environments that are remembered; checkpoints have them")
      .at_least(1)
      .at_most(10000000);
  schema
      .integer("warmup", options.warmup, "Steps of environments with random actions, before learning begins")
      .at_least(0)
      .at_most(10000000);
  schema.integer("gradient_steps", options.gradient_steps, "Steps of Adam for each step of all environments")
      .at_least(1)
      .at_most(10000);
  schema.number("rate", options.rate, "Part by which copies of the critics approach them, a step of Adam")
      .above(0)
      .at_most(1);
  schema
      .number(
          "entropy", options.entropy,
          "Entropy of the policy for each number of an action, in nats, which the temperature keeps; at most "
          "ln 2 = 0.69, that of any number from -1 to 1 alike")
      .at_least(-20)
      .at_most(0.69);
  schema.number("temperature", options.temperature, "Weight of the entropy at first").above(0).at_most(1e6);
}

Sac::Sac(environments::EnvironmentPool& pool, SoftActorCritic& network, const LearningOptions& learning,
         const SacOptions& options, const Agents& agents, int steps, std::uint64_t seed)
    : pool_(pool),
      network_(network),
      learning_(learning),
      options_(options),
      agents_(agents),
      steps_(steps),
      seed_(seed),
      moment1_(network.parameters().size()),
      moment2_(network.parameters().size()) {
  const PolicyShape& shape = network.shape();
  check_agents(pool, shape.n_observed, shape.n_actions, agents.each);
  QUINTET_CHECK(steps >= 1, "updates of {} steps; expected at least 1", steps);
  now_.resize(std::int64_t{pool.size()} * pool.n_observed());
  chosen_.resize(std::int64_t{pool.size()} * pool.n_actions());
  over_.resize(pool.size());
}

void Sac::see(const environments::Batch& batch) {
  std::copy(batch.observations.begin(), batch.observations.end(), now_.begin());
  for (std::size_t e = 0; e < over_.size(); ++e) over_[e] = batch.terminated[e] | batch.truncated[e];
}

/// Resets where all episodes are over.
void Sac::begin() {
  if (!started_)
    pool_.start();
  else if (std::all_of(over_.begin(), over_.end(), [](auto done) { return done != 0; }))
    pool_.send(std::vector<float>(chosen_.size()), all_of(pool_));  // dropped
  else
    return;
  started_ = true;
  see(pool_.receive());
}

void Sac::decide() {
  const std::size_t a = network_.shape().n_actions, rows = over_.size() * agents_.each;
  const auto number = static_cast<std::uint64_t>(n_updates_) * steps_ + turn_;
  if (n_seen_ < options_.warmup) {
    double u, unused;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      uniform_pair(seed_, stream_of_exploration, i, number, u, unused);
      chosen_[i] = static_cast<float>(2 * u - 1);
    }
    return;
  }
  const auto seen = turned(now_, pool_.n_observed(), agents_.each);
  std::vector<double> log_probability(rows);
  network_.policy().act(seen, normal_numbers(rows * a, seed_, stream_of_exploration, number), chosen_,
                        log_probability);
}

/// What environments answered; not of those that were reset.
void Sac::remember(const environments::Batch& batch, std::span<const std::uint8_t> over) {
  const std::size_t o = pool_.n_observed(), a = pool_.n_actions();
  for (std::size_t e = 0; e < over.size(); ++e) {
    if (over[e]) continue;
    const auto k = static_cast<std::size_t>(n_seen_++ % options_.replay);
    if (reward_.size() <= k) {
      observed_.resize((k + 1) * o), next_.resize((k + 1) * o), action_.resize((k + 1) * a);
      reward_.resize(k + 1), terminated_.resize(k + 1);
    }
    std::copy_n(now_.begin() + e * o, o, observed_.begin() + k * o);
    std::copy_n(chosen_.begin() + e * a, a, action_.begin() + k * a);
    std::copy_n(batch.observations.begin() + e * o, o, next_.begin() + k * o);
    reward_[k] = static_cast<float>(agents_.reward_scale * (batch.reward[e] + agents_.reward_offset));
    terminated_[k] = batch.terminated[e];
  }
}

SacRow Sac::update() {
  SacRow row;
  begin();
  double rewards = 0;
  std::int64_t n = 0;
  for (turn_ = 0; turn_ < steps_; ++turn_) {
    decide();
    const auto over = over_;
    pool_.send(chosen_, all_of(pool_));
    const auto batch = pool_.receive();
    for (std::size_t e = 0; e < over.size(); ++e) {
      if (!over[e]) rewards += batch.reward[e], ++n;
      row.episodes += batch.terminated[e] | batch.truncated[e];
    }
    remember(batch, over);
    see(batch);
    if (n_seen_ >= options_.warmup) learn(row);
  }
  row.mean_reward = n > 0 ? rewards / static_cast<double>(n) : 0;
  row.temperature = network_.temperature();
  const auto steps = static_cast<double>(row.steps_of_adam);
  for (double* mean : {&row.critic_error, &row.value, &row.entropy, &row.explained})
    *mean = steps > 0 ? *mean / steps : std::numeric_limits<double>::quiet_NaN();
  ++n_updates_;
  return row;
}

// Algorithm 1 of Haarnoja et al.: critics, policy and temperature in one step of Adam, then the copies of the
// critics.
void Sac::learn(SacRow& row) {
  const std::size_t o = pool_.n_observed(), a = network_.shape().n_actions, each = agents_.each;
  const std::size_t n = learning_.minibatch, remembered = reward_.size();
  std::vector<float> observed(n * o), next(n * o), action(n * a), reward(n), gradient(moment1_.size());
  std::vector<float> all(each * o);
  std::vector<std::uint8_t> terminated(n);
  std::vector<double> target(n);
  for (int step = 0; step < options_.gradient_steps; ++step) {
    const auto number = static_cast<std::uint64_t>(n_steps_of_adam_);
    for (std::size_t i = 0; i < n; ++i) {
      double which, whose;
      uniform_pair(seed_, stream_of_rows, i, number, which, whose);
      const auto k =
          std::min(static_cast<std::size_t>(which * static_cast<double>(remembered)), remembered - 1);
      const auto s = std::min(static_cast<std::size_t>(whose * static_cast<double>(each)), each - 1);
      const auto as_seen = [&](const std::vector<float>& from, float* to) {  // by agent s
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(k * o);
        std::rotate_copy(begin, begin + static_cast<std::ptrdiff_t>(s * (o / each)),
                         begin + static_cast<std::ptrdiff_t>(o), to);
      };
      as_seen(observed_, &observed[i * o]);
      as_seen(next_, &next[i * o]);
      std::copy_n(action_.begin() + (k * each + s) * a, a, action.begin() + i * a);
      reward[i] = reward_[k], terminated[i] = terminated_[k];
    }
    const Transitions rows{observed, action, reward, next, terminated};
    network_.targets(rows, normal_numbers(n * a, seed_, stream_of_targets, number), learning_.discount,
                     target);
    const double error = network_.critic_loss(rows, target, gradient);
    const auto terms = network_.policy_loss(rows, normal_numbers(n * a, seed_, stream_of_losses, number),
                                            options_.entropy * static_cast<double>(a), gradient);
    descend(gradient);
    network_.follow(options_.rate);
    double mean = 0, square = 0;
    for (const double y : target) mean += y / static_cast<double>(n);
    for (const double y : target) square += (y - mean) * (y - mean) / static_cast<double>(n);
    row.critic_error += error, row.value += terms.value, row.entropy += terms.entropy;
    row.explained += square > 0 ? 1 - error / (2 * square) : 0;
    ++row.steps_of_adam;
  }
}

void Sac::descend(std::span<float> gradient) {
  for (const float g : gradient)
    if (!std::isfinite(g))
      throw NumericalError(fmt::format(
          "update {} of the policy: its gradient is not finite; a smaller learning_rate helps, or a "
          "reward that grows less steeply",
          n_updates_ + 1));
  optimiser_step<float>({}, ++n_steps_of_adam_, learning_.learning_rate,
                        {network_.parameters(), gradient, {moment1_, moment2_}});
  network_.refresh();
}

void Sac::save(hdf5::Group& group) const {
  const auto write = [&](const char* name, std::span<const float> values, const char* text) {
    group.write<float>(name, values, {values.size()}, {"1", {"number"}, text});
  };
  write("parameters", network_.parameters(), "Weights of policy and critics, logarithm of the temperature");
  write("copies", network_.copies(), "Weights of the slow critics");
  write("moment1", moment1_, "Adam's mean gradients");
  write("moment2", moment2_, "Adam's mean squared gradients");
  write("observed", observed_, "Seen, of each step that is remembered");
  write("action", action_, "Done then");
  write("reward", reward_, "Earned by it, as it is learned from");
  write("next", next_, "Seen after it");
  const std::vector<float> ends(terminated_.begin(), terminated_.end());
  write("terminated", ends, "1: no future follows");
  group.set_attribute("updates", n_updates_);
  group.set_attribute("steps_of_adam", n_steps_of_adam_);
  group.set_attribute("steps_seen", n_seen_);
}

void Sac::restore(const hdf5::Group& group) {
  const auto into = [&](const char* name, std::span<float> to) {
    const auto values = group.read<float>(name, {to.size()});
    std::copy(values.begin(), values.end(), to.begin());
  };
  into("parameters", network_.parameters());
  into("copies", network_.copies());
  into("moment1", moment1_);
  into("moment2", moment2_);
  network_.refresh();
  n_updates_ = group.integer_attribute("updates");
  n_steps_of_adam_ = group.integer_attribute("steps_of_adam");
  n_seen_ = group.integer_attribute("steps_seen");
  const std::size_t n = std::min(n_seen_, options_.replay), o = pool_.n_observed(), a = pool_.n_actions();
  observed_ = group.read<float>("observed", {n * o});
  action_ = group.read<float>("action", {n * a});
  reward_ = group.read<float>("reward", {n});
  next_ = group.read<float>("next", {n * o});
  const auto ends = group.read<float>("terminated", {n});
  terminated_.assign(ends.begin(), ends.end());
}

}  // namespace quintet::reinforcement
