#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "surrogates/networks/chain.hpp"
#include "surrogates/reinforcement/actor_critic.hpp"

namespace quintet::reinforcement {

/// A policy of numbers between -1 and 1,
///
///     a = tanh(m(o) + exp(s(o)) e),   e ~ N(0, 1),   s = -1.5 + 3.5 tanh(x(o)),
///
/// m and x the outputs of a network of tanh layers [2 n_actions]: m first. s lies between -5 and 2.
class SquashedPolicy {
 public:
  /// What shape.deviation may be: nine tenths of the range that exp(s) has, on either side of its middle.
  static constexpr double least_deviation = 0.0096, most_deviation = 5.2;

  /// Last weights are a hundredth of the others, so that at first a hardly depends on o. Throws InputError:
  /// another deviation.
  SquashedPolicy(const PolicyShape& shape, std::uint64_t seed);
  [[nodiscard]] static std::uint64_t n_parameters(const PolicyShape& shape);

  [[nodiscard]] const PolicyShape& shape() const { return shape_; }
  /// Take weights from these n_parameters() numbers.
  void refresh(std::span<const float> parameters);
  /// First weights.
  [[nodiscard]] std::span<const float> first() const { return first_; }

  /// Actions [n, n_actions] for what n rows show [n, n_observed] and numbers e [n, n_actions] of a normal
  /// distribution; log pi(a | o) [n] of them.
  void act(std::span<const float> observed, std::span<const double> noise, std::span<float> action,
           std::span<double> log_probability);
  /// tanh m.
  void best(std::span<const float> observed, std::span<float> action);
  /// After act(): add to `gradient` [n_parameters] what follows from dL/da [n, n_actions] and dL/dlog pi [n].
  void gradient(std::span<const float> observed, std::span<const double> noise,
                std::span<const double> by_action, std::span<const double> by_log_probability,
                std::span<float> gradient);

 private:
  PolicyShape shape_;
  networks::Chain<float> chain_;
  networks::Tape<float> tape_;
  std::vector<float> first_;
};

/// Rows of the past: what was seen, done and earned, and seen then.
struct Transitions {
  std::span<const float> observed;           ///< [n, n_observed]
  std::span<const float> action;             ///< [n, n_actions]
  std::span<const float> reward;             ///< [n]
  std::span<const float> next;               ///< [n, n_observed]
  std::span<const std::uint8_t> terminated;  ///< [n] no future follows; an episode that was cut has one
};

/// A squashed policy with twin critics Q_k(o, a) and slow copies of them (Haarnoja et al. 2018, arXiv
/// 1812.05905; the lesser of two critics: Fujimoto et al. 2018).
///
/// Parameters, one flat array: the policy's, both critics', log alpha. The copies are apart.
class SoftActorCritic {
 public:
  SoftActorCritic(const PolicyShape& shape, double temperature, std::uint64_t seed);

  [[nodiscard]] const PolicyShape& shape() const { return policy_.shape(); }
  [[nodiscard]] std::span<float> parameters() { return parameters_; }
  [[nodiscard]] std::span<const float> parameters() const { return parameters_; }
  [[nodiscard]] std::span<const float> policy_parameters() const {
    return std::span<const float>(parameters_).first(critics_);
  }
  [[nodiscard]] std::span<float> copies() { return copies_; }
  [[nodiscard]] std::span<const float> copies() const { return copies_; }
  /// After parameters() or copies() were written to.
  void refresh();
  [[nodiscard]] double temperature() const;  ///< alpha
  [[nodiscard]] SquashedPolicy& policy() { return policy_; }

  /// y = r + discount (1 - terminated) (min_k Q'_k(o', a') - alpha log pi(a' | o')) with a' by `noise`
  /// [n, n_actions] and the copies Q'.
  void targets(const Transitions& rows, std::span<const double> noise, double discount,
               std::span<double> target);
  /// L = sum_k mean (Q_k(o, a) - y)^2; adds dL/dtheta to `gradient` [parameters].
  double critic_loss(const Transitions& rows, std::span<const double> target, std::span<float> gradient);
  struct PolicyTerms {
    double total = 0, value = 0;  ///< L; mean of min_k Q_k
    double entropy = 0;           ///< mean of -log pi
  };
  /// L = mean (alpha log pi(a | o) - min_k Q_k(o, a)) with a by `noise`, and mean (alpha log pi ...) for
  /// alpha: L_alpha = log alpha (mean entropy - wanted). Adds dL/d(policy) and dL_alpha/dlog alpha.
  PolicyTerms policy_loss(const Transitions& rows, std::span<const double> noise, double wanted_entropy,
                          std::span<float> gradient);
  /// copies += rate (critics - copies).
  void follow(double rate);

 private:
  using Critic = networks::Chain<float>;
  /// Q of rows (o, a), [n]; `tape` is left for a gradient.
  void values(const Critic& critic, std::span<const float> observed, std::span<const float> action, int n,
              networks::Tape<float>& tape, std::span<double> q);

  SquashedPolicy policy_;
  std::size_t critics_ = 0, temperature_ = 0;  ///< where critics and log alpha begin
  std::vector<float> parameters_, copies_;
  std::vector<Critic> of_critics_, of_copies_;  ///< two each
  networks::Tape<float> tapes_[2];
  std::vector<float> rows_;  ///< (o, a) of the last values()
};

}  // namespace quintet::reinforcement
