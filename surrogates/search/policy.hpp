#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "surrogates/search/space.hpp"

namespace quintet::search {

/// A candidate as the policy drew it, and what came of it. Arrays are [gene].
struct Episode {
  Genes genes;
  std::vector<double> log_probability;  ///< of each decision under the policy that drew it
  std::vector<double> value;            ///< V before each decision, of the policy that drew it
  double reward = 0;
};

/// Weights of the terms of PPO's loss.
struct PpoOptions {
  double clip = 0.2;
  double value = 0.5;     ///< of the squared error of V
  double entropy = 0.05;  ///< of the entropy
};

/// A distribution over candidates, decided gene by gene, with the value expected before each decision. [G]
/// genes with C_g choices, H hidden units:
///
///     h_g = tanh(e_g + sum_{j<g} U_{j, a_j}),   pi(a_g | a_<g) = softmax(W_g h_g + b_g),   V_g = v_g . h_g +
///     c_g.
///
/// Parameters, one flat array: e [G, H], U [sum C, H], W [sum C, H], b [sum C], v [G, H], c [G]. The network
/// is the neural autoregressive distribution estimator of Larochelle and Murray 2011 (AISTATS) with an offset
/// for each gene.
class Policy {
 public:
  /// Small random e and U; W, b, v and c are zero, so that all candidates are equally likely at first.
  Policy(const Space& space, int hidden, std::uint64_t seed);

  [[nodiscard]] std::span<double> parameters() { return parameters_; }
  [[nodiscard]] std::span<const double> parameters() const { return parameters_; }

  /// Draw a candidate. Its reward is left 0.
  [[nodiscard]] Episode draw(Draws& draws) const;
  /// Probabilities of all choices of gene g after those of `genes` before it [C_g].
  [[nodiscard]] std::vector<double> probabilities(const Genes& genes, int g) const;

  /// PPO's loss over T = episodes x genes decisions with advantages A_t, probability ratios rho_t = pi /
  /// pi_old:
  ///
  ///     L = 1/T sum_t [-min(rho_t A_t, clip(rho_t, 1 - eps, 1 + eps) A_t) + c_v (V_t - R_t)^2 - c_s S_t],
  ///
  /// S the entropy of the decision's distribution. Adds dL/dtheta to `gradient` unless that is empty.
  /// Source: Schulman et al. 2017 (arXiv 1707.06347), equations 7 and 9.
  /// @param advantage [episodes, genes]
  double ppo_loss(std::span<const Episode> episodes, std::span<const double> advantage,
                  const PpoOptions& options, std::span<double> gradient) const;

 private:
  struct Pass;
  /// The state before decision g, given the sum of e_g and of U over earlier decisions.
  void decide(int g, const std::vector<double>& sum, Pass& pass) const;
  [[nodiscard]] const double* u_row(int g, int choice) const;

  int genes_, hidden_;
  std::vector<int> choices_, first_;   ///< C_g, and the number of gene g's first choice among all
  std::size_t e_, u_, w_, b_, v_, c_;  ///< where the parts begin
  std::vector<double> parameters_;
};

/// A_t = R - V_t (undiscounted, a reward at the end alone), made to have mean 0 and deviation 1 over all
/// decisions. Where all are equal they are 0.
[[nodiscard]] std::vector<double> standardised_advantages(std::span<const Episode> episodes);

}  // namespace quintet::search
