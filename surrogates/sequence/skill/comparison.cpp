#include "surrogates/sequence/skill/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace quintet::sequence {

namespace {

/// a - b, and 0 where they differ by round-off alone: that is no gain.
double difference(double a, double b) {
  constexpr double round_off = 1e-12;
  const double gain = a - b;
  return std::abs(gain) <= round_off * std::max(std::abs(a), std::abs(b)) ? 0 : gain;
}

}  // namespace

const char* verdict_text(Verdict verdict) {
  return verdict == Verdict::better ? "better" : verdict == Verdict::worse ? "worse" : "tie";
}

Verdict verdict_of(const Estimate& gain) {
  if (!(std::abs(gain.value) > 2 * gain.error)) return Verdict::tie;  // and where the error is NaN
  return gain.value > 0 ? Verdict::better : Verdict::worse;
}

Comparison::Comparison(std::vector<double> truth, SampleShape shape, Metric metric, int block, Beside beside)
    : truth_(std::move(truth)),
      shape_(shape),
      metric_(std::move(metric)),
      bootstrap_(shape.n, block),
      beside_(std::move(beside)) {
  // About the mean of all windows, so that differences of squares lose no digits.
  auto y = truth_;
  const std::size_t n = outputs();
  std::vector<double> mean(n, 0.0);
  for (std::size_t i = 0; i < y.size(); ++i) mean[i % n] += y[i] / shape_.n;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] -= mean[i % n];
  const auto sums = bootstrap_.sums(y, outputs());
  for (auto& value : y) value *= value;
  variations_ = bootstrap_.sums(y, outputs());
  for (std::size_t i = 0; i < sums.size(); ++i) variations_[i] -= sums[i] * sums[i] / shape_.n;
  metric_variations_ = summed_variations(truth_, shape_, metric_, bootstrap_, beside_.truncation);
}

Sampled Comparison::sample(const Contender& contender) const {
  Sampled sampled;
  sampled.name = contender.name;
  std::vector<double> errors(truth_.size());
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = std::pow(contender.forecast[i] - truth_[i], 2);
  sampled.errors = bootstrap_.sums(errors, outputs());
  const auto& truncation = beside_.truncation;
  sampled.squares =
      bootstrap_.sums(squared_errors(truth_, contender.forecast, shape_, metric_, truncation), shape_.out);
  if (!beside_.climatology.empty())
    sampled.products = bootstrap_.sums(
        anomaly_products(truth_, contender.forecast, beside_.climatology, shape_, metric_, truncation),
        3 * shape_.out);
  return sampled;
}

double Comparison::truncation_rmse() const {
  return rmse(beside_.truncation.squares, shape_.n, shape_.out, {1, shape_.out});
}

double Comparison::r2(const Sampled& contender, int sample) const {
  const std::size_t first = std::int64_t{sample} * outputs();
  return r2_uniform_of(contender.errors.data() + first, variations_.data() + first, outputs());
}

double Comparison::metric_r2(const Sampled& contender, int sample) const {
  const std::size_t first = std::int64_t{sample} * shape_.out;
  return r2_uniform_of(contender.squares.data() + first, metric_variations_.data() + first, shape_.out);
}

double Comparison::mean_square(const Sampled& contender, Leads leads, int sample) const {
  double sum = 0;
  for (int lead = leads.first - 1; lead < leads.last; ++lead)
    sum += contender.squares[std::int64_t{sample} * shape_.out + lead];
  return sum / shape_.n / (leads.last - leads.first + 1);
}

Score Comparison::score(const Sampled& contender) const {
  const auto rmse_of = [&](Leads leads) {
    return bootstrap_.estimate([&](int sample) { return std::sqrt(mean_square(contender, leads, sample)); });
  };
  Score score;
  score.name = contender.name;
  score.r2 = bootstrap_.estimate([&](int sample) { return r2(contender, sample); });
  score.r2_pooled = bootstrap_.estimate([&](int sample) {
    const std::size_t first = std::int64_t{sample} * outputs();
    return r2_pooled_of(contender.errors.data() + first, variations_.data() + first, outputs());
  });
  score.metric_r2 = bootstrap_.estimate([&](int sample) { return metric_r2(contender, sample); });
  score.rmse = rmse_of({1, shape_.out});
  for (int lead = 1; lead <= shape_.out; ++lead) {
    score.rmse_at.push_back(rmse_of({lead, lead}));
    score.metric_r2_at.push_back(bootstrap_.estimate([&](int sample) {
      const std::size_t at = std::int64_t{sample} * shape_.out + lead - 1;
      return r2_uniform_of(contender.squares.data() + at, metric_variations_.data() + at, 1);
    }));
    if (!contender.products.empty())
      score.correlation_at.push_back(bootstrap_.estimate([&](int sample) {
        return correlation_of(contender.products.data() + 3 * (std::int64_t{sample} * shape_.out + lead - 1));
      }));
  }
  return score;
}

Gain Comparison::gain(const Sampled& contender, const Sampled& reference) const {
  const auto rmse_gain = [&](Leads leads) {
    return bootstrap_.estimate([&](int sample) {
      return difference(std::sqrt(mean_square(reference, leads, sample)),
                        std::sqrt(mean_square(contender, leads, sample)));
    });
  };
  const auto skill = [&](Leads leads) {
    return bootstrap_.estimate([&](int sample) {
      return 1 - mean_square(contender, leads, sample) / mean_square(reference, leads, sample);
    });
  };
  Gain gain{reference.name, rmse_gain({1, shape_.out}), skill({1, shape_.out}), {}, {}, {}, {}};
  gain.r2 = bootstrap_.estimate(
      [&](int sample) { return difference(r2(contender, sample), r2(reference, sample)); });
  gain.metric_r2 = bootstrap_.estimate(
      [&](int sample) { return difference(metric_r2(contender, sample), metric_r2(reference, sample)); });
  for (int lead = 1; lead <= shape_.out; ++lead) {
    gain.rmse_at.push_back(rmse_gain({lead, lead}));
    gain.skill_at.push_back(skill({lead, lead}));
  }
  return gain;
}

}  // namespace quintet::sequence
