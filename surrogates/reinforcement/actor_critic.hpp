#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "surrogates/networks/chain.hpp"

namespace quintet::reinforcement {

/// Kind of an agent's decisions.
enum class ActionKind {
  choice,      ///< one of n
  continuous,  ///< n numbers
  squashed     ///< n numbers between -1 and 1 (SquashedPolicy)
};

/// Shape of a policy.
struct PolicyShape {
  int n_observed = 0;
  int n_actions = 0;  ///< choices, or numbers
  ActionKind kind = ActionKind::continuous;
  std::vector<int> widths{64, 64};  ///< hidden units, of both networks
  double deviation = 0.5;           ///< of continuous actions at first
};

/// Decisions that were made, and what came of them: rows for the loss.
struct Decisions {
  std::span<const float> observed;       ///< [n, n_observed]
  std::span<const float> action;         ///< [n, 1] number of the choice, or [n, n_actions]
  std::span<const double> former;        ///< [n] log probability under the policy that drew them
  std::span<const double> advantage;     ///< [n]
  std::span<const double> value_target;  ///< [n]
};

/// Weights of the terms of PPO's loss.
struct LossWeights {
  double clip = 0.2;
  double value = 0.5;  ///< of the squared error of V
  double entropy = 0;  ///< of the entropy
};

/// Means over rows.
struct LossTerms {
  double total = 0, objective = 0, value = 0, entropy = 0;
  double divergence = 0;  ///< estimate of KL(pi_old, pi): (rho - 1) - log rho
  double clipped = 0;     ///< part of the rows whose ratio is clipped
};

/// A policy pi(a | o) and the value V(o) that it expects, each a network of tanh layers of its own. Choices:
/// softmax of the outputs. Numbers: independent normal distributions about the outputs, with deviations
/// exp(s_i) that do not depend on o.
///
/// Parameters, one flat array: the policy's layers, the value's, s [n_actions].
class ActorCritic {
 public:
  /// Weights are normal with variance 1/n_in, those of the last layer of the policy a hundredth of it, so
  /// that at first it hardly depends on what is observed.
  ActorCritic(const PolicyShape& shape, std::uint64_t seed);

  /// Numbers of parameters(), without making a network.
  [[nodiscard]] static std::uint64_t n_parameters(const PolicyShape& shape);
  [[nodiscard]] const PolicyShape& shape() const { return shape_; }
  /// Numbers of an action as an environment takes it: 1 for a choice.
  [[nodiscard]] int action_size() const { return shape_.kind == ActionKind::choice ? 1 : shape_.n_actions; }
  [[nodiscard]] std::span<float> parameters() { return parameters_; }
  [[nodiscard]] std::span<const float> parameters() const { return parameters_; }
  /// After parameters() was written to.
  void refresh();

  /// Evaluate the policy on n observations: logits, or means, [n, n_actions]; and V [n].
  void evaluate(std::span<const float> observed, int n, std::span<float> outputs, std::span<double> values);
  /// Draw an action from `outputs` [n_actions] by the uniform or normal numbers of (seed, id, step); returns
  /// its log probability.
  double draw(std::span<const float> outputs, std::uint64_t seed, std::uint64_t id, std::uint64_t step,
              std::span<float> action) const;
  /// The likeliest action.
  void best(std::span<const float> outputs, std::span<float> action) const;

  /// PPO's loss, a mean over rows,
  ///
  ///     L = -min(rho A, clip(rho) A) + c_v (V - V_target)^2 - c_s S,
  ///
  /// S the entropy. Adds dL/dtheta to `gradient` [parameters] unless that is empty. Source: Schulman et al.
  /// 2017 (arXiv 1707.06347), equation 9.
  LossTerms loss(const Decisions& rows, const LossWeights& weights, std::span<float> gradient);

 private:
  /// log pi(a | outputs); with what the loss needs of it.
  struct Decided {
    double log_probability = 0, entropy = 0;
  };
  [[nodiscard]] Decided decide(const float* outputs, const float* action,
                               std::vector<double>& probability) const;

  PolicyShape shape_;
  std::vector<float> parameters_;
  std::size_t deviations_ = 0;  ///< where s begins
  networks::Chain<float> policy_, value_;
  networks::Tape<float> policy_tape_, value_tape_;
};

}  // namespace quintet::reinforcement
