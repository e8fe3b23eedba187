#pragma once

#include <functional>
#include <span>
#include <vector>

#include "surrogates/environments/environment_pool.hpp"

namespace quintet::reinforcement {

/// How decisions are made of what a pool of environments shows.
struct Agents {
  /// Agents that share one policy in each environment, with the same reward. An observation is as many equal
  /// blocks; agent s sees them from block s on, round the ring, and decides component s of the action. So a
  /// policy of one component acts alike at all places of a periodic world, and learns from all of them.
  /// Source: Vignon et al. 2023, Phys. Fluids 35, 065146.
  int each = 1;
  double reward_offset = 0, reward_scale = 1;  ///< learned from: scale (reward + offset)
};
/// Throws InputError: an asynchronous pool, a policy of `n_observed` and `action_size` numbers that does not
/// fit as many agents.
void check_agents(const environments::EnvironmentPool& pool, int n_observed, int action_size, int agents);
/// Compute what each agent sees of one observation: its blocks from the agent's own on. [agents, n_observed]
void turn(std::span<const float> observed, int agents, float* seen);
/// The same of n observations one after the other. [n, agents, n_observed]
[[nodiscard]] std::vector<float> turned(std::span<const float> observed, int n_observed, int agents);
/// Actions [n, n_actions] for what n environments show [n, n_observed].
using Act = std::function<void(std::span<const float> observed, std::span<float> actions)>;
/// Numbers of all environments.
[[nodiscard]] std::vector<int> all_of(const environments::EnvironmentPool& pool);

}  // namespace quintet::reinforcement
