#include "surrogates/reinforcement/soft_actor_critic.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/log/error.hpp"
#include "surrogates/reinforcement/dense_layers.hpp"

namespace quintet::reinforcement {

using networks::Keep;

namespace {

constexpr double middle_of_log_deviation = -1.5, half_range = 3.5;

std::vector<networks::LayerSpec> policy_layers(const PolicyShape& shape, std::size_t& place) {
  return tanh_layers("observed", shape.n_observed, shape.widths, 2 * shape.n_actions, place);
}

std::vector<networks::LayerSpec> critic_layers(const PolicyShape& shape, std::size_t place) {
  return tanh_layers("observed and action", shape.n_observed + shape.n_actions, shape.widths, 1, place);
}

std::size_t critic_size(const PolicyShape& shape) {
  std::size_t n = 0;
  static_cast<void>(
      tanh_layers("observed and action", shape.n_observed + shape.n_actions, shape.widths, 1, n));
  return n;
}

networks::Chain<float> policy_chain(const PolicyShape& shape) {
  QUINTET_CHECK(shape.n_observed >= 1 && shape.n_actions >= 1, "a policy of {} observations and {} actions",
                shape.n_observed, shape.n_actions);
  std::size_t place = 0;
  return {"observed", shape.n_observed, policy_layers(shape, place)};
}

/// log(1 - tanh(u)^2) without cancellation.
double log_slope_of_tanh(double u) {
  const double x = std::abs(u);
  return 2 * (std::numbers::ln2 - x - std::log1p(std::exp(-2 * x)));
}

}  // namespace

SquashedPolicy::SquashedPolicy(const PolicyShape& shape, std::uint64_t seed)
    : shape_(shape), chain_(policy_chain(shape)), first_(n_parameters(shape)) {
  std::size_t place = 0;
  draw_weights(policy_layers(shape, place), 0.01, seed, first_);
  QUINTET_CHECK(shape.deviation >= least_deviation && shape.deviation <= most_deviation,
                "a policy's first deviation of {:g}; expected {:g} to {:g}", shape.deviation, least_deviation,
                most_deviation);
  const double wanted = (std::log(shape.deviation) - middle_of_log_deviation) / half_range;
  std::fill(first_.end() - shape.n_actions, first_.end(), static_cast<float>(std::atanh(wanted)));
  refresh(first_);
}

std::uint64_t SquashedPolicy::n_parameters(const PolicyShape& shape) {
  std::size_t n = 0;
  static_cast<void>(policy_layers(shape, n));
  return n;
}

void SquashedPolicy::refresh(std::span<const float> parameters) { chain_.refresh(parameters.data()); }

void SquashedPolicy::act(std::span<const float> observed, std::span<const double> noise,
                         std::span<float> action, std::span<double> log_probability) {
  const std::size_t a = shape_.n_actions;
  const int n = static_cast<int>(log_probability.size());
  chain_.forward({observed.data(), shape_.n_observed}, n, Keep::gradient, tape_);
  for (std::size_t row = 0; row < log_probability.size(); ++row) {
    const float* const out = tape_.layers.back().y.data() + row * chain_.stride();
    double sum = 0;
    for (std::size_t i = 0; i < a; ++i) {
      const double e = noise[row * a + i];
      const double s = middle_of_log_deviation + half_range * std::tanh(double{out[a + i]});
      const double u = out[i] + std::exp(s) * e;
      action[row * a + i] = static_cast<float>(std::tanh(u));
      sum -= 0.5 * e * e + s + 0.5 * std::log(2 * std::numbers::pi) + log_slope_of_tanh(u);
    }
    log_probability[row] = sum;
  }
}

void SquashedPolicy::best(std::span<const float> observed, std::span<float> action) {
  const std::size_t a = shape_.n_actions, n = action.size() / a;
  chain_.forward({observed.data(), shape_.n_observed}, static_cast<int>(n), Keep::gradient, tape_);
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t i = 0; i < a; ++i)
      action[row * a + i] = std::tanh(tape_.layers.back().y[row * chain_.stride() + i]);
}

void SquashedPolicy::gradient(std::span<const float> observed, std::span<const double> noise,
                              std::span<const double> by_action, std::span<const double> by_log_probability,
                              std::span<float> gradient) {
  const std::size_t a = shape_.n_actions, stride = chain_.stride();
  auto& last = tape_.layers.back();
  for (std::size_t row = 0; row < by_log_probability.size(); ++row) {
    const float* const out = last.y.data() + row * stride;
    float* const bar = last.y_bar.data() + row * stride;
    std::fill_n(bar, stride, 0.0F);  // padding, too
    for (std::size_t i = 0; i < a; ++i) {
      const double e = noise[row * a + i], squash = std::tanh(double{out[a + i]});
      const double deviation = std::exp(middle_of_log_deviation + half_range * squash);
      const double t = std::tanh(out[i] + deviation * e);
      const double by_u = by_log_probability[row] * 2 * t + by_action[row * a + i] * (1 - t * t);
      const double by_s = by_u * deviation * e - by_log_probability[row];
      bar[i] = static_cast<float>(by_u);
      bar[a + i] = static_cast<float>(by_s * half_range * (1 - squash * squash));
    }
  }
  chain_.gradient({observed.data(), shape_.n_observed}, tape_, gradient.data());
}

SoftActorCritic::SoftActorCritic(const PolicyShape& shape, double temperature, std::uint64_t seed)
    : policy_(shape, seed), critics_(SquashedPolicy::n_parameters(shape)) {
  QUINTET_CHECK(temperature > 0, "a temperature of {}; expected above 0", temperature);
  const std::size_t size = critic_size(shape);
  temperature_ = critics_ + 2 * size;
  parameters_.assign(temperature_ + 1, 0.0F);
  std::copy(policy_.first().begin(), policy_.first().end(), parameters_.begin());
  for (std::size_t k = 0; k < 2; ++k) {
    // The same place for both kinds: a copy's numbers lie as its critic's, from `critics_` on.
    const auto layers = critic_layers(shape, critics_ + k * size);
    draw_weights(layers, 1.0, seed, parameters_);
    of_critics_.emplace_back("observed and action", shape.n_observed + shape.n_actions, layers);
    of_copies_.emplace_back("observed and action", shape.n_observed + shape.n_actions,
                            critic_layers(shape, k * size));
  }
  parameters_.back() = static_cast<float>(std::log(temperature));
  copies_.assign(parameters_.begin() + static_cast<std::ptrdiff_t>(critics_), parameters_.end() - 1);
  refresh();
}

void SoftActorCritic::refresh() {
  policy_.refresh(policy_parameters());
  for (auto& critic : of_critics_) critic.refresh(parameters_.data());
  for (auto& copy : of_copies_) copy.refresh(copies_.data());
}

double SoftActorCritic::temperature() const { return std::exp(double{parameters_[temperature_]}); }

void SoftActorCritic::values(const Critic& critic, std::span<const float> observed,
                             std::span<const float> action, int n, networks::Tape<float>& tape,
                             std::span<double> q) {
  const std::size_t o = shape().n_observed, a = shape().n_actions;
  rows_.resize(static_cast<std::size_t>(n) * (o + a));
  for (std::size_t row = 0; row < q.size(); ++row) {
    std::copy_n(observed.begin() + row * o, o, rows_.begin() + row * (o + a));
    std::copy_n(action.begin() + row * a, a, rows_.begin() + row * (o + a) + o);
  }
  critic.forward({rows_.data(), static_cast<int>(o + a)}, n, Keep::gradient, tape);
  for (std::size_t row = 0; row < q.size(); ++row) q[row] = tape.layers.back().y[row * critic.stride()];
}

void SoftActorCritic::targets(const Transitions& rows, std::span<const double> noise, double discount,
                              std::span<double> target) {
  const std::size_t n = target.size();
  std::vector<float> action(noise.size());
  std::vector<double> log_probability(n), q[2] = {std::vector<double>(n), std::vector<double>(n)};
  policy_.act(rows.next, noise, action, log_probability);
  for (std::size_t k = 0; k < 2; ++k)
    values(of_copies_[k], rows.next, action, static_cast<int>(n), tapes_[k], q[k]);
  const double alpha = temperature();
  for (std::size_t i = 0; i < n; ++i) {
    const double future = std::min(q[0][i], q[1][i]) - alpha * log_probability[i];
    target[i] = rows.reward[i] + (rows.terminated[i] ? 0.0 : discount * future);
  }
}

double SoftActorCritic::critic_loss(const Transitions& rows, std::span<const double> target,
                                    std::span<float> gradient) {
  const std::size_t n = target.size();
  std::vector<double> q(n);
  double loss = 0;
  for (std::size_t k = 0; k < 2; ++k) {
    const Critic& critic = of_critics_[k];
    values(critic, rows.observed, rows.action, static_cast<int>(n), tapes_[k], q);
    auto& last = tapes_[k].layers.back();
    for (std::size_t i = 0; i < n; ++i) {
      const double error = q[i] - target[i];
      loss += error * error / static_cast<double>(n);
      std::fill_n(last.y_bar.data() + i * critic.stride(), critic.stride(), 0.0F);
      last.y_bar[i * critic.stride()] = static_cast<float>(2 * error / static_cast<double>(n));
    }
    critic.gradient({rows_.data(), shape().n_observed + shape().n_actions}, tapes_[k], gradient.data());
  }
  return loss;
}

SoftActorCritic::PolicyTerms SoftActorCritic::policy_loss(const Transitions& rows,
                                                          std::span<const double> noise,
                                                          double wanted_entropy, std::span<float> gradient) {
  const std::size_t o = shape().n_observed, a = shape().n_actions, n = noise.size() / a;
  const double alpha = temperature(), scale = 1.0 / static_cast<double>(n);
  std::vector<float> action(noise.size());
  std::vector<double> log_probability(n), q[2] = {std::vector<double>(n), std::vector<double>(n)};
  policy_.act(rows.observed, noise, action, log_probability);
  for (std::size_t k = 0; k < 2; ++k)
    values(of_critics_[k], rows.observed, action, static_cast<int>(n), tapes_[k], q[k]);
  PolicyTerms terms;
  for (std::size_t i = 0; i < n; ++i) {
    terms.value += scale * std::min(q[0][i], q[1][i]);
    terms.entropy -= scale * log_probability[i];
  }
  terms.total = -alpha * terms.entropy - terms.value;
  // dL/da through the lesser critic of each row; gradients of the critics' own numbers are not kept.
  const int stride = padded(static_cast<int>(o + a), pack_width<float>);
  std::vector<double> by_action(noise.size()), by_log_probability(n, scale * alpha);
  std::vector<float> unused(parameters_.size());
  for (std::size_t k = 0; k < 2; ++k) {
    const Critic& critic = of_critics_[k];
    auto& last = tapes_[k].layers.back();
    AlignedVector<float> by_row(n * static_cast<std::size_t>(stride));
    for (std::size_t i = 0; i < n; ++i) {
      const bool lesser = k == 0 ? q[0][i] <= q[1][i] : q[1][i] < q[0][i];
      std::fill_n(last.y_bar.data() + i * critic.stride(), critic.stride(), 0.0F);
      last.y_bar[i * critic.stride()] = lesser ? static_cast<float>(-scale) : 0.0F;
    }
    critic.gradient({rows_.data(), static_cast<int>(o + a)}, tapes_[k], unused.data(),
                    {by_row.data(), stride});
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < a; ++j) by_action[i * a + j] += by_row[i * stride + o + j];
  }
  policy_.gradient(rows.observed, noise, by_action, by_log_probability, gradient);
  gradient[temperature_] += static_cast<float>(terms.entropy - wanted_entropy);
  return terms;
}

void SoftActorCritic::follow(double rate) {
  for (std::size_t i = 0; i < copies_.size(); ++i)
    copies_[i] += static_cast<float>(rate) * (parameters_[critics_ + i] - copies_[i]);
  for (auto& copy : of_copies_) copy.refresh(copies_.data());
}

}  // namespace quintet::reinforcement
