#include "surrogates/sequence/hindcast/sea/sea_scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/parallel/comm.hpp"
#include "surrogates/sequence/hindcast/pooled_scores.hpp"
#include "surrogates/sequence/hindcast/sea/heat_wave.hpp"
#include "surrogates/sequence/hindcast/sea/seasonal_quantiles.hpp"
#include "surrogates/sequence/reference/climatology.hpp"
#include "tests/unit/sequence/series_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

namespace {

constexpr int weeks = 1200;
constexpr WindowShape shape{4, 3};

/// Modes of that many points, not orthonormal: scores at a point do not ask for it.
std::shared_ptr<const ocean::OceanModes> sea_of(int points, int n_modes) {
  auto modes = std::make_shared<ocean::OceanModes>();
  Deviates deviate(31);
  modes->series.n_modes = n_modes;
  modes->mean.assign(points, 10);
  for (int i = 0; i < points * n_modes; ++i) modes->modes.push_back(deviate());
  return modes;
}

struct Case {
  Hindcasts hindcasts;
  std::vector<SeaAtOrigin> seas;
  SeaScoreOptions options;
};

/// Climatology, damped persistence and a forecast that knows what comes, from 1992 on.
Case weekly_case(int points, int step = 7) {
  auto series = noisy_linear_series(weeks, {0.95, 0.05, -0.05, 0.9}, 1, 3);
  for (int t = 0; t < weeks; ++t) series.time[t] = series.time[0] + step * t;
  MethodOptions options;
  options.names = {"climatology", "damped_persistence"};
  options.references.climatology.trend = 0;
  auto methods = make_methods(options);
  methods.push_back({"seer", "", [&series](const FitData&) -> Forecaster {
                       return [&series](const CoefficientSeries&, const Windows& windows) {
                         const auto truth = targets(series, windows);
                         return Predictive{truth, std::vector<double>(truth.size() * 2, 0.0)};
                       };
                     }});
  OriginOptions origins;
  origins.from = step == 7 ? "1992-01-01" : "";
  origins.every = step == 7 ? 1 : 100;
  auto all = step == 7 ? make_origins(series, origins, shape, Irregular::avoid, 0) : std::vector<Origin>();
  if (step != 7) {  // daily: one origin, as three years are too few for any other
    Origin one;
    one.training = {0, 800};
    one.date = series.time[800];
    one.windows = windows_of(series, shape, {800, weeks}, Irregular::avoid);
    all.push_back(one);
  }
  HindcastRun run(Comm::self(), std::move(all), std::move(methods), Irregular::avoid, {}, [&](const Origin&) {
    return OriginSeries{series, {{1, 0, 0, 1}}, {{}}};
  });
  while (!run.finished()) run.advance();
  Case one;
  one.hindcasts = {{"climatology", "damped_persistence", "seer"}, run.done()};
  const auto normal = verifying_climatology(series, 0, {});
  const SeaAtOrigin sea{sea_of(points, 2),
                        std::make_shared<const CoefficientSeries>(anomalies(series, normal))};
  one.seas.assign(one.hindcasts.origins.size(), sea);
  one.options.leads = {1, 3};
  one.options.area.assign(points, 1.0);
  one.options.warm_up = step == 7 ? 2 : 0;
  one.options.block = 52;
  one.options.climatology = 0;
  one.options.against = 1;
  one.options.least_steps = step == 7 ? 1 : 5;
  return one;
}

const SeaMapRow& map_row(const std::string& name) {
  for (const auto& row : sea_map_rows())
    if (name == row.name) return row;
  throw std::logic_error(name);
}
const HeatWaveRow& wave_row(const std::string& name) {
  for (const auto& row : heat_wave_rows())
    if (name == row.name) return row;
  throw std::logic_error(name);
}

/// phi^T a of a point.
double at_point(const ocean::OceanModes& modes, std::size_t x, const double* a, const double* normal) {
  double sum = 0;
  for (int m = 0; m < modes.n_modes(); ++m)
    sum += modes.modes[m * modes.n_points() + x] * (a[m] - (normal != nullptr ? normal[m] : 0));
  return sum;
}

}  // namespace

TEST(sea_scores, a_tenth_of_a_season_is_warmer_than_its_quantile) {
  Deviates deviate(5);
  std::vector<double> days, values;
  for (int t = 0; t < 4000; ++t) {
    days.push_back(80000 + 5.0 * t);
    // Twice as much spread in one half of the year.
    values.push_back((1.5 + 0.5 * std::cos(2 * std::numbers::pi * days.back() / year_days)) * deviate());
  }
  const SeasonalQuantiles seasons(days);
  ASSERT_TRUE(seasons.are_known());
  constexpr int phases = SeasonalQuantiles::phases;
  std::vector<double> q(2 * phases);
  seasons.of(values.data(), 1, {0.5, 0.9}, q.data());
  double above[2][2] = {};
  for (int t = 0; t < 4000; ++t) {
    const auto place = season_place(days[t]);
    const bool half = std::cos(2 * std::numbers::pi * days[t] / year_days) > 0;
    for (int k = 0; k < 2; ++k) {
      const double limit =
          (1 - place.share) * q[k * phases + place.before] + place.share * q[k * phases + place.after];
      above[k][half ? 1 : 0] += values[t] > limit ? 1.0 / 2000 : 0;
    }
  }
  for (const int half : {0, 1}) {
    EXPECT_NEAR(above[0][half], 0.5, 0.02);
    EXPECT_NEAR(above[1][half], 0.1, 0.012);
  }
  EXPECT_NEAR(q[phases] / q[phases + phases / 2], 2, 0.4);
}

TEST(sea_scores, quantiles_need_twenty_values) {
  const auto known = [](int years) {
    std::vector<double> days;
    for (int month = 0; month < 12 * years; ++month) days.push_back(80000 + month * year_days / 12);
    return SeasonalQuantiles(days).are_known();
  };
  EXPECT_FALSE(known(13));
  EXPECT_TRUE(known(20));
  // At one time of the year, to the value.
  std::vector<double> days, q(SeasonalQuantiles::phases);
  for (int year = 0; year < 19; ++year) days.push_back(std::ceil(year * year_days));
  const std::vector<double> values(20, 3.0);
  SeasonalQuantiles(days).of(values.data(), 1, {0.9}, q.data());
  EXPECT_TRUE(std::isnan(q[0]));
  days.push_back(std::ceil(19 * year_days));
  SeasonalQuantiles(days).of(values.data(), 1, {0.9}, q.data());
  EXPECT_EQ(q[0], 3.0);
  EXPECT_TRUE(std::isnan(q[SeasonalQuantiles::phases / 2]));
}

TEST(sea_scores, heat_waves_last_five_days_or_a_step) {
  EXPECT_EQ(heat_wave::least_steps({1, 0}), 5);
  EXPECT_EQ(heat_wave::least_steps({2.5, 0}), 2);
  EXPECT_EQ(heat_wave::least_steps({4.9, 0}), 2);
  EXPECT_EQ(heat_wave::least_steps({5, 0}), 1);
  EXPECT_EQ(heat_wave::least_steps({7, 0}), 1);
  EXPECT_EQ(heat_wave::least_steps({0, 1}), 1);
  const std::vector<std::uint8_t> warm = {1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0};
  for (int at = 0; at < 11; ++at) EXPECT_EQ(heat_wave::is_within(warm, at, 5), at >= 5 && at <= 9) << at;
  for (int at = 0; at < 11; ++at) EXPECT_EQ(heat_wave::is_within(warm, at, 1), warm[at] == 1) << at;
}

TEST(sea_scores, a_point_has_the_scores_of_an_index_there) {
  auto one = weekly_case(70);  // a whole set of lanes and a part of one
  const auto& modes = *one.seas[0].modes;
  for (const std::size_t x : {std::size_t{0}, std::size_t{63}, std::size_t{64}, std::size_t{69}}) {
    for (auto& origin : one.hindcasts.origins) {
      origin.grams.assign(2, {1, 0, 0, 1});
      origin.indices = {{}, {modes.modes[x], modes.modes[70 + x]}};
    }
    const PooledScores index(one.hindcasts, 2, 52);
    const SeaScores sea(Comm::self(), one.hindcasts, one.seas, one.options);
    ASSERT_EQ(sea.n_windows(), index.n_windows());
    for (int method = 0; method < 2; ++method) {
      const auto sums = index.sums(method, 1, start_seasons()[0]);
      for (int i = 0; i < 2; ++i) {
        const int lead = one.options.leads[i];
        for (const char* name : {"rmse", "acc", "crps"}) {
          const double expected = index.score(sums, score_row(name), {lead, lead}).value;
          if (method == 0 && std::string(name) == "acc") continue;  // of anomalies of nothing but round-off
          EXPECT_NEAR(sea.map(map_row(name), method, i)[x], expected, 1e-11) << name << x;
        }
        const auto gain =
            index.gain(sums, index.sums(1, 1, start_seasons()[0]), score_row("rmse"), {lead, lead});
        EXPECT_NEAR(sea.map(map_row("rmse_gain"), method, i)[x], gain.value, 1e-11);
        // Blocks with and without overlap: errors of errors are a quarter with some six blocks.
        if (method == 0) {
          EXPECT_GT(sea.gain_error(method, i)[x], 0.3 * gain.error);
          EXPECT_LT(sea.gain_error(method, i)[x], 3 * gain.error);
        } else {
          EXPECT_EQ(sea.gain_error(method, i)[x], 0);
        }
      }
    }
    EXPECT_NEAR(sea.map(map_row("crps_skill"), 1, 0)[x],
                1 - sea.map(map_row("crps"), 1, 0)[x] / sea.map(map_row("crps"), 0, 0)[x], 1e-12);
  }
}

TEST(sea_scores, heat_waves_are_those_of_plain_counts) {
  for (const int step : {7, 1}) {
    const auto one = weekly_case(5, step);
    const SeaScores sea(Comm::self(), one.hindcasts, one.seas, one.options);
    const auto& modes = *one.seas[0].modes;
    const auto& record = *one.seas[0].anomalies;
    const int least = one.options.least_steps, lead = 3, method = 1;
    double hits = 0, misses = 0, alarms = 0, brier = 0, n = 0;
    for (std::size_t x = 0; x < 5; ++x) {
      std::vector<double> values;
      for (int t = 0; t < record.n_times(); ++t) values.push_back(at_point(modes, x, record.row(t), nullptr));
      std::vector<double> q(SeasonalQuantiles::phases);
      SeasonalQuantiles(record.time).of(values.data(), 1, {0.9}, q.data());
      const auto limit = [&](double day) {
        const auto place = season_place(day);
        return (1 - place.share) * q[place.before] + place.share * q[place.after];
      };
      for (const auto& place : judged_windows(one.hindcasts, one.options.warm_up)) {
        const auto& from = one.hindcasts.origins[place.origin];
        const int origin = from.origin.windows.origins[place.window];
        std::vector<std::uint8_t> truth, forecast;
        for (int row = origin - least + 2; row <= origin; ++row)
          truth.push_back(values[row] > limit(record.time[row]));
        forecast = truth;
        double mean = 0;
        for (int k = 0; k < 3; ++k) {
          const auto at = (std::int64_t{place.window} * 3 + k) * 2;
          const double day = from.origin.windows.dates_of(place.window)[k];
          truth.push_back(at_point(modes, x, from.truth.data() + at, from.normal.data() + at) > limit(day));
          mean = at_point(modes, x, from.methods[method].mean.data() + at, from.normal.data() + at);
          forecast.push_back(mean > limit(day));
        }
        const auto is_within = [&](const std::vector<std::uint8_t>& warm) {
          int run = 0, longest = 0;
          for (int k = static_cast<int>(warm.size()) - 1; k >= 0 && warm[k] != 0; --k) longest = ++run;
          return longest >= least;  // the last lead ends the window
        };
        const bool came = is_within(truth), said = is_within(forecast);
        hits += came && said ? 1 : 0, misses += came && !said ? 1 : 0, alarms += !came && said ? 1 : 0;
        const auto at = (std::int64_t{place.window} * 3 + lead - 1) * 4;
        double variance = 0;
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b)
            variance += modes.modes[a * 5 + x] * from.methods[method].covariance[at + 2 * a + b] *
                        modes.modes[b * 5 + x];
        const double day = from.origin.windows.dates_of(place.window)[lead - 1];
        const double p = 0.5 * std::erfc((limit(day) - mean) / std::sqrt(2 * variance));
        brier += std::pow(p - truth.back(), 2), n += 1;
      }
    }
    ASSERT_GT(hits, 5) << step;
    ASSERT_GT(misses, 5) << step;
    EXPECT_NEAR(sea.heat_waves(wave_row("hit_rate"), method, 1).value, hits / (hits + misses), 1e-12);
    EXPECT_NEAR(sea.heat_waves(wave_row("false_alarm_ratio"), method, 1).value, alarms / (hits + alarms),
                1e-12);
    EXPECT_NEAR(sea.heat_waves(wave_row("frequency_bias"), method, 1).value,
                (hits + alarms) / (hits + misses), 1e-12);
    EXPECT_NEAR(sea.heat_waves(wave_row("brier"), method, 1).value, brier / n, 1e-12);
  }
}

TEST(sea_scores, who_knows_what_comes_misses_nothing_and_who_knows_nothing_has_no_skill) {
  const auto one = weekly_case(40);
  const SeaScores sea(Comm::self(), one.hindcasts, one.seas, one.options);
  for (const int i : {0, 1}) {
    EXPECT_EQ(sea.heat_waves(wave_row("hit_rate"), 2, i).value, 1);
    EXPECT_EQ(sea.heat_waves(wave_row("false_alarm_ratio"), 2, i).value, 0);
    EXPECT_EQ(sea.heat_waves(wave_row("frequency_bias"), 2, i).value, 1);
    EXPECT_EQ(sea.heat_waves(wave_row("brier"), 2, i).value, 0);
    EXPECT_EQ(sea.heat_waves(wave_row("hit_rate"), 0, i).value, 0);
    const auto none = sea.heat_waves(wave_row("brier_skill"), 0, i);
    EXPECT_NEAR(none.value, 0, 0.08);
    EXPECT_GT(none.error, 0);
    const auto gain = sea.difference(wave_row("brier_skill"), 2, 2, i);
    EXPECT_EQ(gain.value, 0);
    EXPECT_EQ(gain.error, 0);
    EXPECT_GT(sea.heat_waves(wave_row("brier_skill"), 1, i).value, 0.05);
    for (const double skill : sea.map(map_row("warm_brier_skill"), 2, i)) EXPECT_EQ(skill, 1);
    for (const double skill : sea.map(map_row("rpss"), 2, i)) EXPECT_EQ(skill, 1);
    for (const double rmse : sea.map(map_row("rmse"), 2, i)) EXPECT_NEAR(rmse, 0, 1e-12);
  }
}

TEST(sea_scores, probabilities_of_an_honest_forecast_come_as_often_as_they_say) {
  const auto one = weekly_case(40);
  const SeaScores sea(Comm::self(), one.hindcasts, one.seas, one.options);
  double share = 0;
  for (const auto& bin : sea.reliability(1, 0)) {
    share += bin.share;
    if (bin.share < 0.03) continue;
    ASSERT_GT(bin.frequency.error, 0);
    EXPECT_NEAR(bin.frequency.value, bin.probability, 4 * bin.frequency.error + 0.02) << bin.probability;
  }
  EXPECT_NEAR(share, 1, 1e-12);
  // One that is twice as sure as it may be is seen.
  auto bold = one;
  for (auto& origin : bold.hindcasts.origins)
    for (auto& value : origin.methods[1].covariance) value /= 16;
  const SeaScores other(Comm::self(), bold.hindcasts, bold.seas, bold.options);
  const auto last = other.reliability(1, 1).back();
  EXPECT_LT(last.frequency.value, last.probability - 4 * last.frequency.error);
}

TEST(sea_scores, are_the_same_to_the_bit_on_any_number_of_ranks) {
  if (Comm::world().size() == 1) GTEST_SKIP() << "compares ranks";
  auto one = weekly_case(2100);  // three groups
  one.options.draws = 20;
  for (std::size_t x = 0; x < one.options.area.size(); ++x) one.options.area[x] = 1 + 0.3 * std::sin(x);
  const SeaScores alone(Comm::self(), one.hindcasts, one.seas, one.options),
      shared(Comm::world(), one.hindcasts, one.seas, one.options);
  for (int method = 0; method < 3; ++method)
    for (const int i : {0, 1}) {
      for (const auto& row : sea_map_rows()) {
        const auto a = alone.map(row, method, i), b = shared.map(row, method, i);
        for (std::size_t x = 0; x < a.size(); ++x)
          ASSERT_TRUE(a[x] == b[x] || (std::isnan(a[x]) && std::isnan(b[x]))) << row.name << x;
      }
      for (const auto& row : heat_wave_rows()) {
        const auto a = alone.heat_waves(row, method, i), b = shared.heat_waves(row, method, i);
        EXPECT_TRUE(a.value == b.value || std::isnan(a.value)) << row.name;
        EXPECT_TRUE(a.error == b.error || std::isnan(a.error)) << row.name;
      }
      const auto a = alone.gain_error(method, i), b = shared.gain_error(method, i);
      EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
    }
}

TEST(sea_scores, a_point_does_not_depend_on_the_points_beside_it) {
  const auto whole = weekly_case(200);
  auto part = whole;
  auto modes = std::make_shared<ocean::OceanModes>(*whole.seas[0].modes);
  modes->mean.resize(37);  // points 100 to 136
  modes->modes.clear();
  for (int m = 0; m < 2; ++m)
    for (int x = 100; x < 137; ++x) modes->modes.push_back(whole.seas[0].modes->modes[m * 200 + x]);
  for (auto& sea : part.seas) sea.modes = modes;
  part.options.area.resize(37);
  const SeaScores a(Comm::self(), whole.hindcasts, whole.seas, whole.options),
      b(Comm::self(), part.hindcasts, part.seas, part.options);
  for (const auto& row : sea_map_rows())
    for (int x = 0; x < 37; ++x) EXPECT_EQ(a.map(row, 1, 1)[100 + x], b.map(row, 1, 1)[x]) << row.name;
}

TEST(sea_scores, a_method_that_could_not_be_fitted_has_no_scores) {
  auto one = weekly_case(3);
  one.hindcasts.origins[4].methods[1].mean.assign(one.hindcasts.origins[4].methods[1].mean.size(),
                                                  std::nan(""));
  one.options.against = 0;
  const SeaScores sea(Comm::self(), one.hindcasts, one.seas, one.options);
  for (const auto& row : sea_map_rows()) EXPECT_TRUE(std::isnan(sea.map(row, 1, 0)[1])) << row.name;
  EXPECT_TRUE(std::isnan(sea.gain_error(1, 0)[1]));
  EXPECT_GT(sea.gain_error(2, 0)[1], 0);
  for (const auto& row : heat_wave_rows())
    EXPECT_TRUE(std::isnan(sea.heat_waves(row, 1, 0).value)) << row.name;
  EXPECT_FALSE(std::isnan(sea.heat_waves(wave_row("brier"), 2, 0).value));
}
