#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quintet {

/// How a learning rate goes on.
enum class RateKind { constant, exponential, step, cosine, plateau };

/// Learning rate over the steps t of a training, from 0.
///
/// With k = t - warmup_steps, and K the steps that are left after the warm-up:
///
///     constant, plateau    start
///     exponential, step    max(stop, start factor^(k/interval)), k/interval rounded down unless smooth
///     cosine               stop + (start - stop) (1 + cos(pi min(k/K, 1)))/2
///     while k < 0          start (warmup_factor + (1 - warmup_factor) t/warmup_steps)
///
/// A plateau is lowered by who watches the losses (LeastLoss). Sources: Loshchilov and Hutter 2017 (ICLR),
/// equation 5 (cosine); Goyal et al. 2017 (1706.02677), section 2.2 (warm-up).
struct RateCurve {
  RateKind kind = RateKind::exponential;
  double start = 1e-3, stop = 0;
  double factor = 1;          ///< of each reduction
  std::int64_t interval = 1;  ///< steps between reductions
  bool smooth = false;        ///< at every step
  std::int64_t steps = 0;     ///< of the training, warm-up included
  std::int64_t warmup_steps = 0;
  double warmup_factor = 0;  ///< of start, at step 0
};

/// One row a kind.
struct RateRow {
  RateKind value;
  const char *name, *doc;
  double (*rate)(const RateCurve& curve, double k);
};
[[nodiscard]] std::span<const RateRow> rate_rows();
/// Names and values of these kinds, for Schema::choice; and what they are, for its text.
[[nodiscard]] std::vector<std::pair<std::string, RateKind>> rate_choices(
    std::initializer_list<RateKind> kinds);
[[nodiscard]] std::string describe_rates(std::initializer_list<RateKind> kinds);

/// Learning rate of step t, from 0; and that of the curve alone, which is `start` during the warm-up.
[[nodiscard]] double rate_at(const RateCurve& curve, std::int64_t t);
[[nodiscard]] double rate_without_warmup(const RateCurve& curve, std::int64_t t);

}  // namespace quintet
