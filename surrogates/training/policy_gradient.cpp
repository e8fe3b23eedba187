#include "surrogates/training/policy_gradient.hpp"

namespace quintet {

void standardise(std::span<double> values) {
  double mean = 0, square = 0;
  const double n = values.size();
  for (const double a : values) mean += a / n;
  for (const double a : values) square += (a - mean) * (a - mean) / n;
  const double deviation = std::sqrt(square);
  for (double& a : values) a = deviation > 1e-12 ? (a - mean) / deviation : 0.0;
}

std::vector<double> generalised_advantages(const Rewards& rewards, double discount, double trace) {
  const std::size_t n = rewards.series;
  std::vector<double> advantage(rewards.reward.size());
  for (std::size_t t = rewards.steps; t-- > 0;)
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t at = t * n + k;
      const double next = rewards.terminated[at] ? 0.0 : rewards.value[at + n];
      const double later = rewards.done[at] || at + n >= advantage.size() ? 0.0 : advantage[at + n];
      advantage[at] = rewards.reward[at] + discount * next - rewards.value[at] + discount * trace * later;
    }
  return advantage;
}

}  // namespace quintet
