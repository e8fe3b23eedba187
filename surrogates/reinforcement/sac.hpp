#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "surrogates/environments/environment_pool.hpp"
#include "surrogates/reinforcement/agents.hpp"
#include "surrogates/reinforcement/soft_actor_critic.hpp"

namespace quintet::reinforcement {

/// Section `training.sac`: what SAC has beside what all methods have.
struct SacOptions {
  std::int64_t replay = 50000;  ///< steps of environments that are remembered
  std::int64_t warmup = 500;    ///< of them with random actions, before learning
  int gradient_steps = 4;       ///< of Adam, for each step of all environments
  double rate = 0.01;           ///< of the copies, a step of Adam
  double entropy = -1;          ///< wanted, for each number of an action (nats)
  double temperature = 0.02;    ///< alpha at first
};
void describe(Schema& schema, SacOptions& options);

/// What all methods of learning have.
struct LearningOptions {
  double discount = 0.99;        ///< gamma
  std::int64_t minibatch = 256;  ///< decisions of a step of Adam
  double learning_rate = 3e-4;
};

/// Record of an update.
struct SacRow {
  double mean_reward = 0;  ///< of the environments, a step
  std::int64_t episodes = 0, steps_of_adam = 0;
  double critic_error = 0, value = 0, entropy = 0;  ///< means over its steps of Adam; NaN without one
  double explained = 0;                             ///< 1 - (error of both critics)/(2 var(target))
  double temperature = 0;
};

/// Soft actor-critic (Haarnoja et al. 2018, arXiv 1812.05905): environments go on under the policy, and after
/// each of their steps Adam descends the losses of critics, policy and temperature on decisions drawn from
/// those that are remembered.
///
/// An update is `steps` steps of all environments. If each ends with all episodes over, its numbers depend on
/// (seed, all that save() writes) alone: so a restart, with a pool whose first episode is that number, goes
/// on to the last bit.
class Sac {
 public:
  /// `pool` and `network` must outlive it. Throws InputError: an asynchronous pool, sizes that do not fit.
  Sac(environments::EnvironmentPool& pool, SoftActorCritic& network, const LearningOptions& learning,
      const SacOptions& options, const Agents& agents, int steps, std::uint64_t seed);

  /// Throws NumericalError where a gradient is not finite.
  SacRow update();
  [[nodiscard]] std::int64_t n_updates() const { return n_updates_; }

  void save(hdf5::Group& group) const;
  void restore(const hdf5::Group& group);

 private:
  void begin();
  void see(const environments::Batch& batch);
  void decide();
  void remember(const environments::Batch& batch, std::span<const std::uint8_t> over);
  void learn(SacRow& row);
  void descend(std::span<float> gradient);

  environments::EnvironmentPool& pool_;
  SoftActorCritic& network_;
  LearningOptions learning_;
  SacOptions options_;
  Agents agents_;
  int steps_;
  std::uint64_t seed_;
  std::int64_t n_updates_ = 0, n_steps_of_adam_ = 0;
  std::int64_t n_seen_ = 0;  ///< steps of environments so far; n_seen_ % replay is written next
  int turn_ = 0;             ///< of this update
  bool started_ = false;
  std::vector<float> moment1_, moment2_;
  /// Remembered, [replay][...] of environments.
  std::vector<float> observed_, action_, reward_, next_;
  std::vector<std::uint8_t> terminated_;
  std::vector<float> now_, chosen_;  ///< seen and decided last [environments][...]
  std::vector<std::uint8_t> over_;   ///< [environments] after the last step
};

}  // namespace quintet::reinforcement
