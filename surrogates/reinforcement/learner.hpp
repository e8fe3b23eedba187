#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "surrogates/reinforcement/ppo.hpp"
#include "surrogates/reinforcement/sac.hpp"

namespace quintet::reinforcement {

/// A method that learns a policy of numbers, with its networks.
class Learner {
 public:
  virtual ~Learner() = default;
  /// Numbers of an update beside its mean reward.
  [[nodiscard]] virtual const std::vector<std::string>& columns() const = 0;
  /// One update: the mean reward of its steps, and columns().
  struct Learned {
    double mean_reward = 0;
    std::vector<double> numbers;
  };
  virtual Learned learn() = 0;
  [[nodiscard]] virtual std::int64_t n_updates() const = 0;
  /// The policy as its file has it.
  [[nodiscard]] virtual PolicyShape shape() const = 0;
  [[nodiscard]] virtual std::vector<float> policy() const = 0;
  /// All ranks go on with root's networks: processors of other kinds may round otherwise. Collective.
  virtual void agree(const Comm& comm) = 0;
  virtual void save(hdf5::Group& group) const = 0;
  virtual void restore(const hdf5::Group& group) = 0;
};

/// Arguments as those of Ppo and Sac. The pool must outlive it.
[[nodiscard]] std::unique_ptr<Learner> make_ppo(environments::EnvironmentPool& pool, const PolicyShape& shape,
                                                const PpoOptions& options, const Agents& agents, int steps,
                                                std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Learner> make_sac(environments::EnvironmentPool& pool, const PolicyShape& shape,
                                                const LearningOptions& learning, const SacOptions& options,
                                                const Agents& agents, int steps, std::uint64_t seed);

}  // namespace quintet::reinforcement
