#include "surrogates/sequence/skill/comparison.hpp"

#include <cmath>
#include <utility>

namespace quintet::sequence {

const char* verdict_text(Verdict verdict) {
  return verdict == Verdict::better ? "better" : verdict == Verdict::worse ? "worse" : "tie";
}

Verdict verdict_of(const Estimate& gain) {
  if (!(std::abs(gain.value) > 2 * gain.error)) return Verdict::tie;  // and where the error is NaN
  return gain.value > 0 ? Verdict::better : Verdict::worse;
}

Comparison::Comparison(std::vector<double> truth, SampleShape shape, Metric metric, int block)
    : truth_(std::move(truth)), shape_(shape), metric_(std::move(metric)), bootstrap_(shape.n, block) {}

Score Comparison::score(const Contender& contender) const {
  const auto squares = squared_errors(truth_, contender.forecast, shape_, metric_);
  const auto rmse_of = [&](Leads leads) {
    return bootstrap_.estimate(
        [&](const double* counts) { return rmse(squares, shape_.n, shape_.out, leads, counts); });
  };
  Score score;
  score.name = contender.name;
  score.r2 = bootstrap_.estimate(
      [&](const double* counts) { return r2_uniform(truth_, contender.forecast, shape_, counts); });
  score.r2_pooled = bootstrap_.estimate(
      [&](const double* counts) { return sequence::r2_pooled(truth_, contender.forecast, shape_, counts); });
  score.rmse = rmse_of({1, shape_.out});
  for (int lead = 1; lead <= shape_.out; ++lead) {
    score.rmse_at.push_back(rmse_of({lead, lead}));
    if (!contender.climatology.empty())
      score.correlation_at.push_back(bootstrap_.estimate([&](const double* counts) {
        return anomaly_correlation(truth_, contender.forecast, contender.climatology, shape_, metric_, lead,
                                   counts);
      }));
  }
  return score;
}

Gain Comparison::gain(const Contender& contender, const Contender& reference) const {
  const auto ours = squared_errors(truth_, contender.forecast, shape_, metric_);
  const auto theirs = squared_errors(truth_, reference.forecast, shape_, metric_);
  const auto both = [&](Leads leads, const double* counts) {
    return std::pair(rmse(ours, shape_.n, shape_.out, leads, counts),
                     rmse(theirs, shape_.n, shape_.out, leads, counts));
  };
  const auto rmse_gain = [&](Leads leads) {
    return bootstrap_.estimate([&](const double* counts) {
      const auto [a, b] = both(leads, counts);
      return b - a;
    });
  };
  const auto skill = [&](Leads leads) {
    return bootstrap_.estimate([&](const double* counts) {
      const auto [a, b] = both(leads, counts);
      return 1 - a * a / (b * b);
    });
  };
  Gain gain{reference.name, rmse_gain({1, shape_.out}), skill({1, shape_.out}), {}, {}, {}};
  gain.r2 = bootstrap_.estimate([&](const double* counts) {
    return r2_uniform(truth_, contender.forecast, shape_, counts) -
           r2_uniform(truth_, reference.forecast, shape_, counts);
  });
  for (int lead = 1; lead <= shape_.out; ++lead) {
    gain.rmse_at.push_back(rmse_gain({lead, lead}));
    gain.skill_at.push_back(skill({lead, lead}));
  }
  return gain;
}

}  // namespace quintet::sequence
