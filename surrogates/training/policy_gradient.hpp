#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

/// Functions common to all policies that are learned from rewards.
namespace quintet {

/// PPO's objective of one decision and its derivative by log pi.
struct ClippedTerm {
  double value = 0, by_log_probability = 0;
};

/// min(rho A, clip(rho, 1 - eps, 1 + eps) A) with the ratio of probabilities rho = pi/pi_old and the
/// advantage A. Where the clipped term is the smaller one, it does not depend on pi. Source: Schulman et al.
/// 2017 (arXiv 1707.06347), equation 7.
[[nodiscard]] inline ClippedTerm clipped_term(double log_probability, double former, double advantage,
                                              double clip) {
  const double ratio = std::exp(log_probability - former), free = ratio * advantage;
  const double least = 1 - clip, most = 1 + clip;
  const double clipped = (ratio < least ? least : ratio > most ? most : ratio) * advantage;
  return free <= clipped ? ClippedTerm{free, free} : ClippedTerm{clipped, 0.0};
}

/// Subtract the mean of values and divide by their deviation; equal values become 0.
void standardise(std::span<double> values);

/// Input of generalised advantages; [T, N] of N series of T steps.
struct Rewards {
  int steps = 0, series = 0;
  std::span<const double> reward;
  std::span<const double>
      value;  ///< [T + 1, N] V of the state before each step, and of the one after the last
  std::span<const std::uint8_t> terminated;  ///< a step into a state without a future
  std::span<const std::uint8_t> done;        ///< terminated, or cut: the next step belongs to another episode
};

/// Generalised advantage estimates [T, N],
///
///     delta_t = r_t + gamma V_{t+1} - V_t,   A_t = delta_t + gamma lambda A_{t+1},
///
/// with V_{t+1} = 0 after a terminated step, and A_{t+1} = 0 after one that is done. Source: Schulman et al.
/// 2016 (ICLR, arXiv 1506.02438), equation 16.
[[nodiscard]] std::vector<double> generalised_advantages(const Rewards& rewards, double discount,
                                                         double trace);

}  // namespace quintet
