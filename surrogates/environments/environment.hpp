#pragma once

#include <cstdint>
#include <span>

/// Worlds that answer actions with observations and rewards.
namespace quintet::environments {

/// Key that alone determines the random numbers of an episode.
struct EpisodeKey {
  std::uint64_t seed = 0;
  int environment = 0;       ///< its number in the pool
  std::int64_t episode = 0;  ///< 0, 1, ... of this environment
};

/// Outcome of a step.
struct Outcome {
  double reward = 0;
  bool terminated = false;  ///< a state that has no future
  bool truncated = false;   ///< cut by a limit of steps
  [[nodiscard]] bool done() const { return terminated || truncated; }
};

/// One world. Its methods are called by any thread, but by one at a time; what they throw reaches the caller
/// of the pool.
class Environment {
 public:
  virtual ~Environment() = default;
  [[nodiscard]] virtual int n_observed() const = 0;
  [[nodiscard]] virtual int n_actions() const = 0;
  /// Begin an episode.
  virtual void reset(const EpisodeKey& key) = 0;
  /// @param action [n_actions]
  virtual Outcome step(std::span<const float> action) = 0;
  /// @param observation [n_observed] of the state as it is
  virtual void observe(std::span<float> observation) const = 0;
};

}  // namespace quintet::environments
