#include "surrogates/reinforcement/ppo.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "physics/kernels/random.hpp"
#include "surrogates/training/optimiser.hpp"
#include "surrogates/training/policy_gradient.hpp"

namespace quintet::reinforcement {

namespace {

constexpr std::uint32_t stream_of_order = 0x5503;

/// A random order of n things, of (seed, number) alone (Fisher and Yates).
std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed, std::uint64_t number) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i-- > 1;) {
    double u, unused;
    uniform_pair(seed, stream_of_order, i, number, u, unused);
    std::swap(order[i], order[std::min<std::size_t>(u * (i + 1), i)]);
  }
  return order;
}

double variance(std::span<const double> values) {
  double mean = 0, square = 0;
  for (const double v : values) mean += v / values.size();
  for (const double v : values) square += (v - mean) * (v - mean) / values.size();
  return square;
}

}  // namespace

void describe(Schema& schema, PpoOptions& options) {
  schema.number("discount", options.discount, "gamma: what a reward one decision later counts")
      .at_least(0)
      .below(1);
  schema.number("trace", options.trace, "lambda of the generalised advantages").at_least(0).at_most(1);
  schema.integer("epochs", options.epochs, "Sweeps over what was seen, an update").at_least(1).at_most(1000);
  schema.integer("minibatch", options.minibatch, "Decisions of a step of Adam").at_least(1).at_most(10000000);
  schema.number("learning_rate", options.learning_rate, "Of Adam").above(0).at_most(1);
  schema.number("most_gradient", options.most_gradient, "The norm of a gradient is cut to it").above(0);
  schema
      .number("most_divergence", options.most_divergence,
              "An update ends where the policy has gone so far from that which acted (Kullback and Leibler, "
              "in nats)")
      .above(0);
  schema.number("clip", options.weights.clip, "How far the ratio of probabilities may go from 1")
      .above(0)
      .below(1);
  schema.number("value", options.weights.value, "Weight of the squared error of the expected rewards")
      .at_least(0);
  schema.number("entropy", options.weights.entropy, "Weight of the entropy").at_least(0);
}

Ppo::Ppo(environments::EnvironmentPool& pool, ActorCritic& network, const PpoOptions& options,
         const Agents& agents, int steps, std::uint64_t seed)
    : pool_(pool),
      network_(network),
      options_(options),
      agents_(agents),
      steps_(steps),
      n_rows_(pool.size() * agents.each),
      seed_(seed),
      moment1_(network.parameters().size()),
      moment2_(network.parameters().size()) {
  check_agents(pool, network.shape().n_observed, network.action_size(), agents.each);
  QUINTET_CHECK(steps >= 1, "updates of {} steps; expected at least 1", steps);
  const std::size_t rows = std::int64_t{steps_} * n_rows_, observed = pool.n_observed();
  observed_.resize((rows + n_rows_) * observed);
  action_.resize(rows * network.action_size());
  value_.resize(rows + n_rows_);
  for (auto* numbers : {&former_, &reward_, &target_}) numbers->resize(rows);
  for (auto* marks : {&terminated_, &done_, &dropped_}) marks->resize(rows);
  over_.resize(pool.size());
}

void Ppo::show(const environments::Batch& batch) {
  for (std::size_t e = 0; e < over_.size(); ++e) over_[e] = batch.terminated[e] | batch.truncated[e];
}

void Ppo::roll_out(UpdateRow& row) {
  const std::size_t o = pool_.n_observed(), a = network_.action_size(), rows = n_rows_;
  const std::size_t each = agents_.each;
  const std::vector<int> ids = all_of(pool_);
  const std::size_t n_actions = network_.shape().n_actions;
  std::vector<float> outputs(rows * n_actions);
  const auto see = [&](const environments::Batch& batch, std::size_t t) {
    for (std::size_t e = 0; e < ids.size(); ++e)
      turn(batch.observations.subspan(e * o, o), agents_.each, &observed_[(t * rows + e * each) * o]);
    network_.evaluate({&observed_[t * rows * o], rows * o}, n_rows_, outputs, {&value_[t * rows], rows});
  };
  if (!started_) {
    pool_.start();
    const auto first = pool_.receive();
    show(first);
    see(first, 0);
    started_ = true;
  } else if (std::all_of(over_.begin(), over_.end(), [](auto done) { return done != 0; })) {
    pool_.send(std::vector<float>(ids.size() * pool_.n_actions()), ids);  // dropped: all are reset
    const auto first = pool_.receive();
    show(first);
    see(first, 0);
  } else {
    std::copy(observed_.end() - (rows * o), observed_.end(), observed_.begin());
    network_.evaluate({observed_.data(), rows * o}, n_rows_, outputs, {value_.data(), rows});
  }
  double returns = 0, rewards = 0;
  std::int64_t n_rewards = 0;
  for (int t = 0; t < steps_; ++t) {
    const std::size_t first = t * rows;
    const auto number = static_cast<std::uint64_t>(n_updates_) * steps_ + t;
    for (std::size_t k = 0; k < rows; ++k)
      former_[first + k] = network_.draw({&outputs[k * n_actions], n_actions}, seed_, k, number,
                                         {&action_[(first + k) * a], a});
    pool_.send({&action_[first * a], rows * a}, ids);
    const auto batch = pool_.receive();
    for (std::size_t e = 0; e < ids.size(); ++e) {
      const bool done = batch.terminated[e] || batch.truncated[e];
      for (std::size_t s = 0; s < each; ++s) {
        const std::size_t k = first + e * each + s;
        reward_[k] = agents_.reward_scale * (batch.reward[e] + agents_.reward_offset);
        terminated_[k] = batch.terminated[e];
        done_[k] = done ? 1 : 0;
        dropped_[k] = over_[e];  // the environment was reset instead
        if (dropped_[k]) done_[k] = 1, reward_[k] = 0;
      }
      if (!over_[e]) rewards += batch.reward[e], ++n_rewards;
      if (!done) continue;
      returns += batch.episode_return[e];
      ++row.episodes;
    }
    show(batch);
    see(batch, t + 1);
  }
  row.mean_reward = n_rewards > 0 ? rewards / n_rewards : 0;
  row.mean_return = row.episodes > 0 ? returns / row.episodes : std::numeric_limits<double>::quiet_NaN();
}

// Proximal policy optimisation (Schulman et al. 2017, algorithm 1): advantages standardised over the
// decisions that count, then epochs of shuffled minibatches.
void Ppo::learn(UpdateRow& row) {
  const std::size_t o = pool_.n_observed(), a = network_.action_size();
  auto advantage = generalised_advantages({steps_, n_rows_, reward_, value_, terminated_, done_},
                                          options_.discount, options_.trace);
  std::vector<std::size_t> kept;
  std::vector<double> targets, errors, standard;
  for (std::size_t k = 0; k < advantage.size(); ++k) {
    target_[k] = advantage[k] + value_[k];
    if (dropped_[k]) continue;
    kept.push_back(k);
    targets.push_back(target_[k]);
    errors.push_back(advantage[k]);
    standard.push_back(advantage[k]);
  }
  row.decisions = kept.size();
  const double spread = variance(targets);
  row.explained = spread > 0 ? 1 - variance(errors) / spread : 0;
  standardise(standard);

  std::vector<float> gradient(network_.parameters().size()), observed, action;
  std::vector<double> former, advantages, values;
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    const auto order = shuffled(kept.size(), seed_, static_cast<std::uint64_t>(n_updates_) * 1000 + epoch);
    LossTerms sums;
    for (std::size_t first = 0; first < order.size(); first += options_.minibatch) {
      const std::size_t n = std::min<std::size_t>(options_.minibatch, order.size() - first);
      observed.clear(), action.clear(), former.clear(), advantages.clear(), values.clear();
      for (std::size_t i = first; i < first + n; ++i) {
        const std::size_t k = kept[order[i]];
        observed.insert(observed.end(), &observed_[k * o], &observed_[k * o] + o);
        action.insert(action.end(), &action_[k * a], &action_[k * a] + a);
        former.push_back(former_[k]), advantages.push_back(standard[order[i]]), values.push_back(target_[k]);
      }
      const LossTerms terms =
          network_.loss({observed, action, former, advantages, values}, options_.weights, gradient);
      const double share = static_cast<double>(n) / order.size();
      sums.total += share * terms.total, sums.objective += share * terms.objective,
          sums.value += share * terms.value;
      sums.entropy += share * terms.entropy, sums.divergence += share * terms.divergence;
      sums.clipped += share * terms.clipped;
      double norm = 0;
      for (const float g : gradient) norm += double{g} * g;
      norm = std::sqrt(norm);
      if (!std::isfinite(norm)) throw_not_finite(kept);
      if (norm > options_.most_gradient)
        for (float& g : gradient) g = static_cast<float>(g * (options_.most_gradient / norm));
      optimiser_step<float>({.epsilon = 1e-5}, ++n_steps_of_adam_, options_.learning_rate,
                            {network_.parameters(), gradient, {moment1_, moment2_}});
      network_.refresh();
    }
    row.loss = sums;
    row.sweeps = epoch + 1;
    if (sums.divergence > options_.most_divergence) break;
  }
}

/// Say whether rewards or steps were too large. Rewards whose squares float32 does not hold were.
void Ppo::throw_not_finite(std::span<const std::size_t> kept) const {
  constexpr double most = 1e19;
  double largest = 0;
  for (const std::size_t k : kept) largest = std::max(largest, std::abs(reward_[k]));
  throw NumericalError(fmt::format(
      "update {} of the policy: its gradient is not finite; {}", n_updates_ + 1,
      largest > most
          ? fmt::format("a reward was {:.3g} times what rewards are measured in: one that grows less "
                        "steeply helps",
                        largest)
          : "a smaller learning_rate helps"));
}

UpdateRow Ppo::update() {
  UpdateRow row;
  roll_out(row);
  learn(row);
  ++n_updates_;
  return row;
}

void Ppo::save(hdf5::Group& group) const {
  const auto write = [&](const char* name, std::span<const float> values, const char* text) {
    group.write<float>(name, values, {values.size()}, {"1", {"parameter"}, text});
  };
  write("parameters", network_.parameters(), "Weights of policy and value, logarithms of deviations");
  write("moment1", moment1_, "Adam's mean gradients");
  write("moment2", moment2_, "Adam's mean squared gradients");
  group.set_attribute("updates", n_updates_);
  group.set_attribute("steps_of_adam", n_steps_of_adam_);
}

void Ppo::restore(const hdf5::Group& group) {
  const hdf5::Shape shape{moment1_.size()};
  const auto parameters = group.read<float>("parameters", shape);
  std::copy(parameters.begin(), parameters.end(), network_.parameters().begin());
  network_.refresh();
  moment1_ = group.read<float>("moment1", shape);
  moment2_ = group.read<float>("moment2", shape);
  n_updates_ = group.integer_attribute("updates");
  n_steps_of_adam_ = group.integer_attribute("steps_of_adam");
}

double EpisodeRewards::mean(int environment) const {
  const auto& one = rewards[environment];
  return std::accumulate(one.begin(), one.end(), 0.0) / one.size();
}

EpisodeRewards play(environments::EnvironmentPool& pool, const Act& act) {
  const std::size_t o = pool.n_observed(), a = pool.n_actions();
  EpisodeRewards result;
  result.rewards.resize(pool.size());
  std::vector<int> ids = all_of(pool);
  pool.start();
  auto batch = pool.receive();
  std::vector<std::uint8_t> over(pool.size());
  std::vector<float> actions(pool.size() * a);
  // All go on until the last has ended; what the others do after their end does not count.
  while (std::count(over.begin(), over.end(), 0) > 0) {
    act({batch.observations.data(), pool.size() * o}, actions);
    pool.send(actions, ids);
    batch = pool.receive();
    for (std::size_t e = 0; e < over.size(); ++e) {
      if (over[e]) continue;
      result.rewards[e].push_back(batch.reward[e]);
      over[e] = batch.terminated[e] | batch.truncated[e];
    }
  }
  return result;
}

Act greedy(ActorCritic& network, int agents) {
  return [&network, agents](std::span<const float> observed, std::span<float> actions) {
    const std::size_t o = network.shape().n_observed, n = observed.size() / o, rows = n * agents,
                      outs = network.shape().n_actions, a = network.action_size();
    const auto seen = turned(observed, network.shape().n_observed, agents);
    std::vector<float> outputs(rows * outs);
    std::vector<double> values(rows);
    network.evaluate(seen, rows, outputs, values);
    for (std::size_t k = 0; k < rows; ++k)
      network.best({&outputs[k * outs], outs}, actions.subspan(k * a, a));
  };
}

}  // namespace quintet::reinforcement
