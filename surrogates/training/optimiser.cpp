#include "surrogates/training/optimiser.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "physics/kernels/pack.hpp"
#include "surrogates/training/split_bf16.hpp"

namespace quintet {

namespace {

int two(const OptimiserOptions&) { return 2; }
int of_momentum(const OptimiserOptions& options) { return options.momentum > 0 ? 1 : 0; }

constexpr OptimiserRow rows[] = {
    {OptimiserKind::adam,
     "adam",
     two,
     {"moment1", "moment2"},
     {"Adam's mean of the gradient", "Adam's mean of the squared gradient"}},
    {OptimiserKind::adamw,
     "adamw",
     two,
     {"moment1", "moment2"},
     {"Adam's mean of the gradient", "Adam's mean of the squared gradient"}},
    {OptimiserKind::sgd,
     "sgd",
     of_momentum,
     {"velocity", nullptr},
     {"sum of gradients that decays by momentum", nullptr}},
};

/// Numbers that stay in the first-level cache from one pass over them to the next.
constexpr std::size_t block = 2048;

template <class Real>
using Pointers = std::array<Real*, 4>;  ///< theta, gradient, two states

/// `formula` on packs of all arrays; the last, shorter one goes through packs of its own, so that its bits
/// are those it would have in a longer slice. Numbers are fetched a page ahead, which the processor does not
/// do. By value: else stores may change what is pointed to, and each pack reads it again.
template <class Real, class Formula>
void by_packs(std::size_t n, const Pointers<Real> arrays, const Formula formula) {
  constexpr std::size_t w = pack_width<Real>, page = 4096 / sizeof(Real);
  const std::size_t whole = n / w * w, rest = n - whole;
  for (std::size_t i = 0; i < whole; i += w) {
    for (Real* const array : arrays)
      if (array) __builtin_prefetch(array + i + page, 1);
    formula(arrays[0] + i, arrays[1] + i, arrays[2] ? arrays[2] + i : nullptr,
            arrays[3] ? arrays[3] + i : nullptr);
  }
  if (rest == 0) return;
  Real last[4][w] = {};
  for (std::size_t a = 0; a < 4; ++a)
    if (arrays[a]) std::copy_n(arrays[a] + whole, rest, last[a]);
  formula(last[0], last[1], last[2], last[3]);
  for (std::size_t a = 0; a < 4; ++a)
    if (arrays[a]) std::copy_n(last[a], rest, arrays[a] + whole);
}

template <class Real>
Pack<Real> root_of(Pack<Real> v) {
  if constexpr (pack_width < Real >> 1) {
    Pack<Real> root = v;
    for (int lane = 0; lane < pack_width<Real>; ++lane) root[lane] = std::sqrt(v[lane]);
    return root;
  } else {
    return std::sqrt(v);
  }
}

/// A pack's step of Adam.
template <class Real>
struct Adam {
  Adam(const OptimiserOptions& options, std::int64_t t, double learning_rate)
      : b1(static_cast<Real>(options.beta1)),
        b2(static_cast<Real>(options.beta2)),
        c1(static_cast<Real>(1 - options.beta1)),
        c2(static_cast<Real>(1 - options.beta2)),
        rate(static_cast<Real>(learning_rate / (1 - std::pow(options.beta1, t)))),
        root(static_cast<Real>(1 / std::sqrt(1 - std::pow(options.beta2, t)))),
        epsilon(static_cast<Real>(options.epsilon)) {}
  void operator()(Real* theta, Real* gradient, Real* moment1, Real* moment2) const {
    const Pack<Real> g = load<Real>(gradient);
    const Pack<Real> m = b1 * load<Real>(moment1) + c1 * g;
    const Pack<Real> v = b2 * load<Real>(moment2) + c2 * g * g;
    store<Real>(moment1, m);
    store<Real>(moment2, v);
    store<Real>(theta, load<Real>(theta) - rate * m / (root_of<Real>(v) * root + epsilon));
    store<Real>(gradient, Pack<Real>{});
  }
  Real b1, b2, c1, c2, rate, root, epsilon;
};

/// Two sweeps over a block, so that no compiler joins a product and the sum after it into one rounding.
template <class Real>
void sgd_step(const OptimiserOptions& options, double learning_rate, std::size_t n,
              const Pointers<Real>& arrays) {
  const Real rate = learning_rate, momentum = options.momentum;
  const auto [theta, gradient, velocity, none] = arrays;
  if (velocity) {
    for (std::size_t i = 0; i < n; ++i) velocity[i] *= momentum;
    for (std::size_t i = 0; i < n; ++i) velocity[i] += gradient[i];
    for (std::size_t i = 0; i < n; ++i) gradient[i] = velocity[i];
  }
  for (std::size_t i = 0; i < n; ++i) gradient[i] *= rate;
  for (std::size_t i = 0; i < n; ++i) theta[i] -= gradient[i];
  std::fill_n(gradient, n, Real(0));
}

/// A step of as many numbers as stay in the first-level cache.
template <class Real>
class BlockStep {
 public:
  BlockStep(const OptimiserOptions& options, std::int64_t t, double learning_rate)
      : options_(options),
        learning_rate_(learning_rate),
        adam_(options, t, learning_rate),
        clip_(options.clip),
        keep_(1 - learning_rate * options.weight_decay),
        n_states_(n_states(options)) {}

  using States = std::array<Real*, 2>;
  [[nodiscard]] States states(const std::array<std::span<Real>, 2>& all, std::size_t from) const {
    return {n_states_ > 0 ? all[0].data() + from : nullptr, n_states_ > 1 ? all[1].data() + from : nullptr};
  }
  void operator()(std::size_t length, Real* theta, Real* gradient, const States& states) const {
    const Pointers<Real> arrays{theta, gradient, states[0], states[1]};
    if (options_.clip > 0)
      for (std::size_t i = 0; i < length; ++i) {
        const Real g = gradient[i];
        gradient[i] = g > clip_ ? clip_ : (g < -clip_ ? -clip_ : g);
      }
    switch (options_.kind) {
      case OptimiserKind::adamw:
        if (keep_ != 1)
          for (std::size_t i = 0; i < length; ++i) theta[i] *= keep_;
        [[fallthrough]];
      case OptimiserKind::adam:
        by_packs<Real>(length, arrays, adam_);
        break;
      case OptimiserKind::sgd:
        sgd_step<Real>(options_, learning_rate_, length, arrays);
        break;
    }
  }

 private:
  const OptimiserOptions& options_;
  double learning_rate_;
  Adam<Real> adam_;
  Real clip_, keep_;
  int n_states_;
};

}  // namespace

std::span<const OptimiserRow> optimisers() { return rows; }
const OptimiserRow& optimiser_row(OptimiserKind kind) { return row_of(rows, kind); }

void describe_clip_norm(Schema& schema, double& clip_norm) {
  schema
      .number("clip_norm", clip_norm,
              "Largest norm of the gradient of all parameters together: a longer one is shortened; 0: any. "
              "Of a training on a GPU the arrays are then the host's")
      .at_least(0);
}

void describe(Schema& schema, OptimiserOptions& options) {
  schema.choice("kind", options.kind, choices_of(rows),
                "adam; adamw: and weights decay; sgd: the gradient, or its sum that decays by momentum");
  schema.number("beta1", options.beta1, "Of the mean gradient (adam, adamw)").at_least(0).below(1);
  schema.number("beta2", options.beta2, "Of the mean squared gradient (adam, adamw)").at_least(0).below(1);
  schema.number("epsilon", options.epsilon, "Beside the root of the mean square (adam, adamw)").above(0);
  schema.number("clip", options.clip, "Largest component of the gradient; 0: any").at_least(0);
  describe_clip_norm(schema, options.clip_norm);
  schema.number("weight_decay", options.weight_decay, "Of parameters, a step and learning rate (adamw)")
      .at_least(0);
  schema.number("momentum", options.momentum, "Of the sum of gradients (sgd)").at_least(0).below(1);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.weight_decay > 0 && options.kind != OptimiserKind::adamw)
      return "weight_decay is for kind: adamw";
    if (options.momentum > 0 && options.kind != OptimiserKind::sgd) return "momentum is for kind: sgd";
    return std::nullopt;
  });
}

template <class Real>
void optimiser_step(const OptimiserOptions& options, std::int64_t t, double learning_rate,
                    const OptimiserSlices<Real>& slices) {
  const BlockStep<Real> step(options, t, learning_rate);
  for (std::size_t from = 0; from < slices.theta.size(); from += block)
    step(std::min(block, slices.theta.size() - from), slices.theta.data() + from,
         slices.gradient.data() + from, step.states(slices.states, from));
}

void optimiser_step(const OptimiserOptions& options, std::int64_t t, double learning_rate,
                    const SplitSlices& slices) {
  const BlockStep<float> step(options, t, learning_rate);
  alignas(64) std::array<float, block> theta;
  for (std::size_t from = 0; from < slices.high.size(); from += block) {
    const std::size_t length = std::min(block, slices.high.size() - from);
    std::uint16_t* const high = slices.high.data() + from;
    std::int16_t* const low = slices.low.data() + from;
    for (std::size_t i = 0; i < length; ++i) theta[i] = joined(high[i], low[i]);
    step(length, theta.data(), slices.gradient.data() + from, step.states(slices.states, from));
    for (std::size_t i = 0; i < length; ++i) high[i] = high_half(theta[i]);
    for (std::size_t i = 0; i < length; ++i) low[i] = low_half(theta[i]);
  }
}

template void optimiser_step(const OptimiserOptions&, std::int64_t, double, const OptimiserSlices<float>&);
template void optimiser_step(const OptimiserOptions&, std::int64_t, double, const OptimiserSlices<double>&);

}  // namespace quintet
