#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/skill/comparison.hpp"
#include "tests/unit/sequence/series_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

// An ocean that is a linear inverse model, x(t + 1) = G x(t) + noise, about a cycle: G^l x(t) is the best
// forecast that there is. Whoever beats it has seen what it should not have.

namespace {

constexpr int modes = 3, steps = 8;
/// An oscillation of 60 weeks that decays within 25, and a mode that it feeds.
const std::vector<double> g = {0.955, -0.1, 0, 0.1, 0.955, 0, 0.05, 0, 0.9};

double cycle(double day, int m) {
  return (m == 0 ? 10 : 2) * std::cos(2 * std::numbers::pi * day / 365.2425 + m);
}

CoefficientSeries ocean(int n, std::uint64_t seed) {
  auto series = noisy_linear_series(n, g, 1, seed);
  for (int t = 0; t < n; ++t)
    for (int m = 0; m < modes; ++m) series.row(t)[m] += cycle(series.time[t], m);
  return series;
}

/// The cycle and G^l of the last anomaly.
std::vector<double> best(const CoefficientSeries& series, const Windows& windows) {
  std::vector<double> forecast;
  for (int i = 0; i < windows.size(); ++i) {
    const int t = windows.origins[i];
    std::vector<double> x(modes);
    for (int m = 0; m < modes; ++m) x[m] = series.row(t)[m] - cycle(series.time[t], m);
    for (int lead = 1; lead <= steps; ++lead) {
      std::vector<double> next(modes, 0.0);
      for (int a = 0; a < modes; ++a)
        for (int b = 0; b < modes; ++b) next[a] += g[a * modes + b] * x[b];
      x = next;
      for (int m = 0; m < modes; ++m) forecast.push_back(x[m] + cycle(series.time[t + lead], m));
    }
  }
  return forecast;
}

struct Judged {
  std::vector<std::string> names;
  std::vector<Gain> over_best;
  double rmse_best = 0;
  std::vector<double> rmse;
};

/// All references and ensembles on two bases, trained on 48 years, judged on 22.
Judged judge(std::uint64_t seed) {
  const auto series = ocean(4000, seed);
  SplitOptions periods;
  periods.train_until = "2029-12-31", periods.validation_until = "2036-12-31";
  const auto split = make_split(series, {steps, steps}, periods);
  ReferenceOptions options;
  options.climatology.valid_years = 50;
  std::vector<Contender> contenders;
  for (const auto& row : references())
    contenders.push_back({row.name, fit_reference(row.value, {series, split.constants, split.train}, options)
                                        .forecast(series, split.test)});
  for (const auto base : {Reference::seasonal_ridge, Reference::lim}) {
    ForecastOptions ours;
    ours.base = base;
    ours.members = 2;
    ours.training.epochs = 15;
    const auto trained = train_forecast(Comm::self(), series, split, Irregular::avoid, ours, options);
    contenders.push_back({base == Reference::lim ? "networks on lim" : "networks on seasonal_ridge",
                          forecast(trained.model, series, split.test).mean});
  }
  const Comparison comparison(targets(series, split.test), {split.test.size(), steps, modes},
                              subspace_metric(modes, 1), 24);
  const auto optimum = comparison.sample({"best", best(series, split.test)});
  Judged judged;
  judged.rmse_best = comparison.score(optimum).rmse.value;
  for (const auto& contender : contenders) {
    const auto sampled = comparison.sample(contender);
    judged.names.push_back(contender.name);
    judged.over_best.push_back(comparison.gain(sampled, optimum));
    judged.rmse.push_back(comparison.score(sampled).rmse.value);
  }
  return judged;
}

}  // namespace

TEST(linear_ocean, nobody_beats_the_model_that_made_it) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto judged = judge(seed);
    for (std::size_t i = 0; i < judged.names.size(); ++i) {
      const auto& gain = judged.over_best[i];
      EXPECT_LT(gain.rmse.value, 3 * gain.rmse.error) << judged.names[i] << ", seed " << seed;
      for (int lead = 0; lead < steps; ++lead)
        EXPECT_LT(gain.rmse_at[lead].value, 3.5 * gain.rmse_at[lead].error)
            << judged.names[i] << ", lead " << lead + 1 << ", seed " << seed;
      const double ratio = judged.rmse[i] / judged.rmse_best;
      const auto& name = judged.names[i];
      // What 48 years teach of 9 numbers and a cycle; of 300 weights.
      if (name == "lim" || name == "networks on lim") {
        EXPECT_LT(ratio, 1.03) << seed;
      } else if (name == "networks on seasonal_ridge") {
        EXPECT_LT(ratio, 1.06) << seed;
      } else if (name == "climatology" || name == "persistence") {
        EXPECT_EQ(verdict_of(gain.rmse), Verdict::worse) << seed;
      }
    }
  }
}
