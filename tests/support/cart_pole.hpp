#pragma once

#include <array>

#include "surrogates/environments/environment.hpp"

namespace quintet::environments {

/// A pole on a cart that is pushed left (action 0) or right (1) by 10 N each 0.02 s; reward 1 a step. The
/// episode terminates where |x| > 2.4 m or |theta| > 12 degrees, and is truncated after 500 steps.
///
///     t = (F + m l theta'^2 sin theta)/M
///     theta'' = (g sin theta - t cos theta)/(l (4/3 - m cos^2 theta/M)),   x'' = t - m l theta'' cos theta/M
///
/// with m = 0.1 kg, M = 1.1 kg, l = 0.5 m, g = 9.8 m/s^2 and explicit Euler steps: all as CartPole-v1 of
/// gymnasium. State and observation: x (m), x' (m/s), theta (rad), theta' (rad/s), at first uniform in
/// +-0.05. Source: Barto, Sutton & Anderson 1983, IEEE Trans. Syst. Man Cybern. SMC-13, 834.
class CartPole : public Environment {
 public:
  static constexpr int most_steps = 500;

  [[nodiscard]] int n_observed() const override { return 4; }
  [[nodiscard]] int n_actions() const override { return 1; }
  void reset(const EpisodeKey& key) override;
  /// Throws InputError unless the action is 0 or 1.
  Outcome step(std::span<const float> action) override;
  void observe(std::span<float> observation) const override;

  /// Begin an episode in this state.
  void set_state(const std::array<double, 4>& state);
  [[nodiscard]] const std::array<double, 4>& state() const { return state_; }

 private:
  std::array<double, 4> state_{};
  int steps_ = 0;
};

}  // namespace quintet::environments
