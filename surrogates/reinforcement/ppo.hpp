#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "surrogates/environments/environment_pool.hpp"
#include "surrogates/reinforcement/actor_critic.hpp"
#include "surrogates/reinforcement/agents.hpp"

namespace quintet::reinforcement {

/// How a policy follows from rewards.
struct PpoOptions {
  double discount = 0.99;         ///< gamma
  double trace = 0.95;            ///< lambda of the advantages
  int epochs = 10;                ///< sweeps over what was seen, an update
  std::int64_t minibatch = 256;   ///< decisions of a step
  double learning_rate = 3e-4;    ///< of Adam
  double most_gradient = 0.5;     ///< the gradient's norm is cut to it
  double most_divergence = 0.05;  ///< an update ends early where KL(pi_old, pi) of a sweep passes it
  LossWeights weights;
};
void describe(Schema& schema, PpoOptions& options);

/// Record of an update.
struct UpdateRow {
  double mean_reward = 0;     ///< of the environments, a step
  double mean_return = 0;     ///< of the episodes that ended; not a number where none did
  std::int64_t episodes = 0;  ///< that ended
  std::int64_t decisions = 0;
  LossTerms loss;  ///< of the last sweep
  int sweeps = 0;
  double explained = 0;  ///< 1 - var(target - V)/var(target), before learning
};

/// Proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347) on a synchronous pool: all
/// environments go some steps under the policy, then Adam descends the clipped loss over shuffled minibatches
/// with standardised generalised advantages.
///
/// An update begins with a reset where all episodes have ended. If every update does, its numbers depend on
/// (seed, parameters, moments, number of the update) alone, not on the number of threads: so a restart, with
/// a pool whose first episode is that number, goes on to the last bit.
class Ppo {
 public:
  /// `pool` and `network` must outlive it. Throws InputError: an asynchronous pool, sizes that do not fit.
  Ppo(environments::EnvironmentPool& pool, ActorCritic& network, const PpoOptions& options,
      const Agents& agents, int steps, std::uint64_t seed);

  /// Throws NumericalError where the gradient is not finite: by rewards too large for float32, or by too
  /// large a learning_rate.
  UpdateRow update();
  [[nodiscard]] std::int64_t n_updates() const { return n_updates_; }

  void save(hdf5::Group& group) const;
  void restore(const hdf5::Group& group);

 private:
  void show(const environments::Batch& batch);
  void roll_out(UpdateRow& row);
  void learn(UpdateRow& row);
  [[noreturn]] void throw_not_finite(std::span<const std::size_t> kept) const;

  environments::EnvironmentPool& pool_;
  ActorCritic& network_;
  PpoOptions options_;
  Agents agents_;
  int steps_, n_rows_;  ///< of an update; agents of all environments
  std::uint64_t seed_;
  std::int64_t n_updates_ = 0, n_steps_of_adam_ = 0;
  bool started_ = false;
  std::vector<float> moment1_, moment2_;
  // What is seen: [steps + 1, n_rows, ...] of observations and values, [steps, n_rows] of the rest.
  std::vector<float> observed_, action_;
  std::vector<double> former_, value_, reward_, target_;
  std::vector<std::uint8_t> terminated_, done_, dropped_;
  std::vector<std::uint8_t> over_;  ///< [environments] after the last step
};

/// Mean reward a step and of whole episodes under the likeliest actions, or `act`.
///
/// One episode of each environment of a fresh synchronous pool. `act` gives the actions of all environments
/// [n, n_actions] for what they show [n, n_observed].
struct EpisodeRewards {
  std::vector<std::vector<float>> rewards;  ///< [environment][step]
  [[nodiscard]] double mean(int environment) const;
};
[[nodiscard]] EpisodeRewards play(environments::EnvironmentPool& pool, const Act& act);
/// The likeliest actions of a policy.
[[nodiscard]] Act greedy(ActorCritic& network, int agents);

}  // namespace quintet::reinforcement
