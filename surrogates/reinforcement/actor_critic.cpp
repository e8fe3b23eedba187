#include "surrogates/reinforcement/actor_critic.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/log/error.hpp"
#include "physics/kernels/random.hpp"
#include "surrogates/reinforcement/dense_layers.hpp"
#include "surrogates/training/policy_gradient.hpp"

namespace quintet::reinforcement {

using networks::Chain;
using networks::Keep;
using networks::LayerSpec;

namespace {

constexpr std::uint32_t stream_of_actions = 0x5502;

std::vector<LayerSpec> layers_of(const PolicyShape& shape, int n_out, std::size_t& place) {
  return tanh_layers("observed", shape.n_observed, shape.widths, n_out, place);
}

PolicyShape checked(const PolicyShape& shape) {
  QUINTET_CHECK(shape.n_observed >= 1 && shape.n_actions >= 1, "a policy of {} observations and {} actions",
                shape.n_observed, shape.n_actions);
  for (const int width : shape.widths)
    QUINTET_CHECK(width >= 1 && width <= 100000, "a layer of {} units; expected 1 to 100000", width);
  if (shape.kind == ActionKind::squashed) throw InternalError("a squashed policy is a SquashedPolicy");
  QUINTET_CHECK(shape.deviation > 0, "a deviation of actions of {}; expected above 0", shape.deviation);
  return shape;
}

}  // namespace

ActorCritic::ActorCritic(const PolicyShape& shape, std::uint64_t seed)
    : shape_(checked(shape)),
      policy_("observed", shape.n_observed, layers_of(shape, shape.n_actions, deviations_)),
      value_("observed", shape.n_observed, layers_of(shape, 1, deviations_)) {
  parameters_.assign(n_parameters(shape), 0.0F);
  std::size_t place = 0;
  draw_weights(layers_of(shape, shape.n_actions, place), 0.01, seed, parameters_);
  draw_weights(layers_of(shape, 1, place), 1.0, seed, parameters_);
  std::fill(parameters_.begin() + deviations_, parameters_.end(),
            static_cast<float>(std::log(shape.deviation)));
  refresh();
}

std::uint64_t ActorCritic::n_parameters(const PolicyShape& shape) {
  std::size_t n = 0;
  static_cast<void>(layers_of(shape, shape.n_actions, n));
  static_cast<void>(layers_of(shape, 1, n));
  return n + (shape.kind == ActionKind::continuous ? static_cast<std::size_t>(shape.n_actions) : 0);
}

void ActorCritic::refresh() {
  policy_.refresh(parameters_.data());
  value_.refresh(parameters_.data());
}

void ActorCritic::evaluate(std::span<const float> observed, int n, std::span<float> outputs,
                           std::span<double> values) {
  policy_.forward({observed.data(), shape_.n_observed}, n, Keep::gradient, policy_tape_);
  value_.forward({observed.data(), shape_.n_observed}, n, Keep::gradient, value_tape_);
  for (int row = 0; row < n; ++row) {
    const float* const from = policy_tape_.layers.back().y.data() + std::int64_t{row} * policy_.stride();
    std::copy_n(from, shape_.n_actions, outputs.begin() + std::int64_t{row} * shape_.n_actions);
    values[row] = value_tape_.layers.back().y[std::int64_t{row} * value_.stride()];
  }
}

ActorCritic::Decided ActorCritic::decide(const float* outputs, const float* action,
                                         std::vector<double>& probability) const {
  Decided result;
  const std::size_t n = shape_.n_actions;
  probability.resize(n);
  if (shape_.kind == ActionKind::continuous) {
    for (std::size_t i = 0; i < n; ++i) {
      const double s = parameters_[deviations_ + i],
                   from_mean = (double{action[i]} - outputs[i]) / std::exp(s);
      const double normaliser = s + 0.5 * std::log(2 * std::numbers::pi);
      result.log_probability -= 0.5 * from_mean * from_mean + normaliser;
      result.entropy += normaliser + 0.5;
    }
    return result;
  }
  const double largest = *std::max_element(outputs, outputs + n);
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += std::exp(outputs[i] - largest);
  for (std::size_t i = 0; i < n; ++i) {
    const double log_probability = outputs[i] - largest - std::log(total);
    probability[i] = std::exp(log_probability);
    result.entropy -= probability[i] * log_probability;
    if (static_cast<std::size_t>(action[0]) == i) result.log_probability = log_probability;
  }
  return result;
}

double ActorCritic::draw(std::span<const float> outputs, std::uint64_t seed, std::uint64_t id,
                         std::uint64_t step, std::span<float> action) const {
  std::vector<double> probability;
  const std::uint64_t n = shape_.n_actions;
  if (shape_.kind == ActionKind::continuous) {
    for (std::size_t i = 0; i < n; ++i) {
      double x, unused;
      normal_pair(seed, stream_of_actions, id * n + i, step, x, unused);
      action[i] = static_cast<float>(outputs[i] + std::exp(parameters_[deviations_ + i]) * x);
    }
  } else {
    action[0] = 0;
    static_cast<void>(decide(outputs.data(), action.data(), probability));
    double rest, unused;
    uniform_pair(seed, stream_of_actions, id, step, rest, unused);
    std::size_t choice = 0;
    while (choice + 1 < n && rest >= probability[choice]) rest -= probability[choice++];
    action[0] = choice;
  }
  return decide(outputs.data(), action.data(), probability).log_probability;
}

void ActorCritic::best(std::span<const float> outputs, std::span<float> action) const {
  if (shape_.kind == ActionKind::continuous)
    std::copy(outputs.begin(), outputs.end(), action.begin());
  else
    action[0] = std::max_element(outputs.begin(), outputs.end()) - outputs.begin();
}

LossTerms ActorCritic::loss(const Decisions& rows, const LossWeights& weights, std::span<float> gradient) {
  const int n = rows.former.size(), n_actions = shape_.n_actions;
  const double scale = 1.0 / n;
  policy_.forward({rows.observed.data(), shape_.n_observed}, n, Keep::gradient, policy_tape_);
  value_.forward({rows.observed.data(), shape_.n_observed}, n, Keep::gradient, value_tape_);
  auto &of_policy = policy_tape_.layers.back(), &of_value = value_tape_.layers.back();
  LossTerms terms;
  std::vector<double> probability, by_deviation(n_actions);
  for (int row = 0; row < n; ++row) {
    const std::size_t k = row;
    const float* const outputs = of_policy.y.data() + std::int64_t{row} * policy_.stride();
    const float* const action = rows.action.data() + std::int64_t{row} * action_size();
    const Decided now = decide(outputs, action, probability);
    const ClippedTerm term =
        clipped_term(now.log_probability, rows.former[k], rows.advantage[k], weights.clip);
    const double log_ratio = now.log_probability - rows.former[k];
    const std::size_t value_at = k * value_.stride();
    const double error = of_value.y[value_at] - rows.value_target[k];
    terms.objective += scale * term.value;
    terms.value += scale * error * error;
    terms.entropy += scale * now.entropy;
    terms.divergence += scale * (std::expm1(log_ratio) - log_ratio);
    terms.clipped += std::abs(std::expm1(log_ratio)) > weights.clip ? scale : 0.0;
    if (gradient.empty()) continue;
    // Padding of the last pack stays 0.
    float* const bar = of_policy.y_bar.data() + std::int64_t{row} * policy_.stride();
    std::fill_n(bar, policy_.stride(), 0.0F);
    const double by_log = -scale * term.by_log_probability;
    for (int i = 0; i < n_actions; ++i) {
      const std::size_t a = i;
      if (shape_.kind == ActionKind::continuous) {
        const double deviation = std::exp(double{parameters_[deviations_ + a]});
        const double from_mean = (double{action[i]} - outputs[i]) / deviation;
        bar[i] = static_cast<float>(by_log * from_mean / deviation);
        by_deviation[a] += by_log * (from_mean * from_mean - 1) - scale * weights.entropy;
      } else {
        const double p = probability[a], taken = static_cast<int>(action[0]) == i ? 1.0 : 0.0;
        const double of_entropy = p > 0 ? p * (std::log(p) + now.entropy) : 0.0;
        bar[i] = static_cast<float>(by_log * (taken - p) + scale * weights.entropy * of_entropy);
      }
    }
    float* const value_bar = of_value.y_bar.data() + value_at;
    std::fill_n(value_bar, value_.stride(), 0.0F);
    value_bar[0] = static_cast<float>(2 * scale * weights.value * error);
  }
  terms.total = -terms.objective + weights.value * terms.value - weights.entropy * terms.entropy;
  if (gradient.empty()) return terms;
  policy_.gradient({rows.observed.data(), shape_.n_observed}, policy_tape_, gradient.data());
  value_.gradient({rows.observed.data(), shape_.n_observed}, value_tape_, gradient.data());
  if (shape_.kind == ActionKind::continuous)
    for (std::size_t i = 0; i < by_deviation.size(); ++i)
      gradient[deviations_ + i] += static_cast<float>(by_deviation[i]);
  return terms;
}

}  // namespace quintet::reinforcement
