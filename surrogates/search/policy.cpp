#include "surrogates/search/policy.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "surrogates/training/policy_gradient.hpp"

namespace quintet::search {

/// State known before one decision.
struct Policy::Pass {
  std::vector<double> h, probability, log_probability;
  double value = 0, entropy = 0;
};

Policy::Policy(const Space& space, int hidden, std::uint64_t seed)
    : genes_(space.n_genes()), hidden_(hidden) {
  QUINTET_CHECK(hidden >= 1, "a policy of {} hidden units; expected at least 1", hidden);
  int total = 0;
  for (const auto& gene : space.genes()) {
    first_.push_back(total);
    choices_.push_back(gene.choices.size());
    total += choices_.back();
  }
  const std::size_t n = genes_, width = hidden, all = total;
  e_ = 0;
  u_ = e_ + n * width;
  w_ = u_ + all * width;
  b_ = w_ + all * width;
  v_ = b_ + all;
  c_ = v_ + n * width;
  parameters_.assign(c_ + n, 0.0);
  Draws draws(seed, Stream::policy, 0);
  for (std::size_t i = e_; i < w_; ++i) parameters_[i] = draws.uniform() - 0.5;
}

const double* Policy::u_row(int g, int choice) const {
  return &parameters_[u_ + std::int64_t{first_[g] + choice} * hidden_];
}

void Policy::decide(int g, const std::vector<double>& sum, Pass& pass) const {
  const std::size_t width = hidden_, gene = g;
  const std::size_t n = choices_[gene], first = first_[gene];
  pass.h.resize(width);
  pass.value = parameters_[c_ + gene];
  for (std::size_t i = 0; i < width; ++i) {
    pass.h[i] = std::tanh(sum[i] + parameters_[e_ + gene * width + i]);
    pass.value += parameters_[v_ + gene * width + i] * pass.h[i];
  }
  pass.log_probability.assign(n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    double logit = parameters_[b_ + first + k];
    for (std::size_t i = 0; i < width; ++i) logit += parameters_[w_ + (first + k) * width + i] * pass.h[i];
    pass.log_probability[k] = logit;
  }
  const double largest = *std::max_element(pass.log_probability.begin(), pass.log_probability.end());
  double total = 0;
  for (const double logit : pass.log_probability) total += std::exp(logit - largest);
  const double log_total = largest + std::log(total);
  pass.probability.resize(n);
  pass.entropy = 0;
  for (std::size_t k = 0; k < n; ++k) {
    pass.log_probability[k] -= log_total;
    pass.probability[k] = std::exp(pass.log_probability[k]);
    pass.entropy -= pass.probability[k] * pass.log_probability[k];
  }
}

Episode Policy::draw(Draws& draws) const {
  Episode episode;
  Pass pass;
  std::vector<double> sum(hidden_, 0.0);
  for (int g = 0; g < genes_; ++g) {
    decide(g, sum, pass);
    double rest = draws.uniform();
    int choice = 0;
    while (choice + 1 < choices_[g] && rest >= pass.probability[choice]) rest -= pass.probability[choice++];
    episode.genes.push_back(choice);
    episode.log_probability.push_back(pass.log_probability[choice]);
    episode.value.push_back(pass.value);
    const double* row = u_row(g, choice);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += row[i];
  }
  return episode;
}

std::vector<double> Policy::probabilities(const Genes& genes, int g) const {
  std::vector<double> sum(hidden_, 0.0);
  for (int j = 0; j < g; ++j)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += u_row(j, genes[j])[i];
  Pass pass;
  decide(g, sum, pass);
  return pass.probability;
}

double Policy::ppo_loss(std::span<const Episode> episodes, std::span<const double> advantage,
                        const PpoOptions& options, std::span<double> gradient) const {
  const std::size_t width = hidden_, n_genes = genes_;
  const double scale = 1 / static_cast<double>(episodes.size() * n_genes);
  double loss = 0;
  Pass pass;
  std::vector<double> sum(width), dh(width), later(width);
  std::vector<std::vector<double>> dz(n_genes, std::vector<double>(width));  // of each decision's sum
  for (std::size_t n = 0; n < episodes.size(); ++n) {
    const Episode& episode = episodes[n];
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t g = 0; g < n_genes; ++g) {
      const int choice = episode.genes[g];
      const std::size_t taken = choice, first = first_[g];
      decide(g, sum, pass);
      const double a = advantage[n * n_genes + g];
      const ClippedTerm term =
          clipped_term(pass.log_probability[taken], episode.log_probability[g], a, options.clip);
      const double error = pass.value - episode.reward;
      loss += scale * (-term.value + options.value * error * error - options.entropy * pass.entropy);
      if (!gradient.empty()) {
        const double d_log = -scale * term.by_log_probability;
        const double d_value = 2 * scale * options.value * error;
        for (std::size_t i = 0; i < width; ++i) {
          dh[i] = d_value * parameters_[v_ + g * width + i];
          gradient[v_ + g * width + i] += d_value * pass.h[i];
        }
        gradient[c_ + g] += d_value;
        for (std::size_t k = 0; k < pass.probability.size(); ++k) {
          const double p = pass.probability[k];
          const double d_logit = d_log * ((k == taken ? 1.0 : 0.0) - p) +
                                 scale * options.entropy * p * (pass.log_probability[k] + pass.entropy);
          gradient[b_ + first + k] += d_logit;
          for (std::size_t i = 0; i < width; ++i) {
            gradient[w_ + (first + k) * width + i] += d_logit * pass.h[i];
            dh[i] += d_logit * parameters_[w_ + (first + k) * width + i];
          }
        }
        for (std::size_t i = 0; i < width; ++i) dz[g][i] = dh[i] * (1 - pass.h[i] * pass.h[i]);
      }
      const double* row = u_row(g, choice);
      for (std::size_t i = 0; i < width; ++i) sum[i] += row[i];
    }
    if (gradient.empty()) continue;
    std::fill(later.begin(), later.end(), 0.0);  // of all decisions after g
    for (std::size_t g = n_genes; g-- > 0;) {
      const std::size_t row = u_ + (first_[g] + episode.genes[g]) * width;
      for (std::size_t i = 0; i < width; ++i) {
        gradient[row + i] += later[i];
        gradient[e_ + g * width + i] += dz[g][i];
        later[i] += dz[g][i];
      }
    }
  }
  return loss;
}

std::vector<double> standardised_advantages(std::span<const Episode> episodes) {
  std::vector<double> advantage;
  for (const auto& episode : episodes)
    for (const double value : episode.value) advantage.push_back(episode.reward - value);
  standardise(advantage);
  return advantage;
}

}  // namespace quintet::search
