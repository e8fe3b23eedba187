#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "surrogates/sequence/forecast/rolling_origins.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/sequence/series_cases.hpp"
#include "tests/verification/sequence/weekly_coefficients.hpp"

using namespace quintet;
using namespace quintet::sequence;

// Networks stay where they forecast what is not linear, and go where nothing but noise is left to learn.

namespace {

constexpr int out = 4;

/// Weekly states of Lorenz's convection (1963), a tenth of its unit of time apart: no noise, and what follows
/// depends on products of the state, which nothing linear sees.
CoefficientSeries convection(int n, double start) {
  std::array<double, 3> x = {start, 1, 20};
  const auto rate = [](const std::array<double, 3>& s) {
    return std::array<double, 3>{10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8.0 / 3 * s[2]};
  };
  const auto moved = [](const std::array<double, 3>& s, const std::array<double, 3>& by, double h) {
    return std::array<double, 3>{s[0] + h * by[0], s[1] + h * by[1], s[2] + h * by[2]};
  };
  const auto week = [&] {
    constexpr double h = 0.01;
    for (int step = 0; step < 10; ++step) {
      const auto a = rate(x), b = rate(moved(x, a, h / 2)), c = rate(moved(x, b, h / 2)),
                 d = rate(moved(x, c, h));
      for (int i = 0; i < 3; ++i) x[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    }
  };
  for (int t = 0; t < 100; ++t) week();
  return series_of(n, 3, ocean::day_of({1981, 10, 29}), 7, [&](double, int m) {
    if (m == 0) week();
    return x[m];
  });
}

ForecastOptions options() {
  ForecastOptions options;
  options.base = Reference::damped_persistence;
  options.network.nodes = {"8"};
  options.training.epochs = 20;
  options.training.learning_rate = 3e-3;
  options.training.weight_decay = 0;
  return options;
}

/// They learn fast what is there to be learned.
ForecastOptions eager() {
  auto eager = options();
  eager.training.learning_rate = 1e-2;
  eager.training.batch = 16;
  return eager;
}

NetworksTrial trial_of(const CoefficientSeries& series, const ForecastOptions& options,
                       const Comm& comm = Comm::self()) {
  return try_networks(
      comm,
      {series, {0, series.n_times()}, {8, out}, Irregular::avoid, subspace_metric(series.n_modes, 1), 24, {}},
      options, {});
}

}  // namespace

TEST(networks_trial, keeps_networks_of_a_record_that_is_not_linear) {
  for (const double start : {1.0, 2.0, 3.0}) {
    const auto trial = trial_of(convection(1000, start), eager());
    EXPECT_TRUE(trial.earned()) << start << ": " << trial.gain.value << " +- " << trial.gain.error;
    EXPECT_EQ(trial.origins.size(), 5U);
    EXPECT_EQ(trial.networks, 2);
  }
}

TEST(networks_trial, leaves_the_base_of_a_linear_record) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    auto of = options();
    of.base = Reference::lim;
    const auto trial = trial_of(noisy_linear_series(1000, {0.955, -0.1, 0.1, 0.955}, 1, seed), of);
    EXPECT_FALSE(trial.earned()) << seed << ": " << trial.gain.value << " +- " << trial.gain.error;
    EXPECT_TRUE(std::isfinite(trial.gain.error));
  }
}

// Networks on these coefficients were worse than their base on the weeks of 2015-18.
TEST(networks_trial, leaves_the_base_of_the_weekly_coefficients) {
  NEEDS_COEFFICIENTS(series);
  const auto period = rows_between(series, series.time.front(), ocean::day_of({2011, 12, 31}));

  const auto trial = try_networks(
      Comm::world(),
      {series, period, {8, 8}, Irregular::avoid, subspace_metric(series.n_modes, sea_points), 24, {}}, {},
      {});

  EXPECT_EQ(trial.origins.size(), 5U);
  EXPECT_FALSE(trial.earned()) << trial.gain.value << " +- " << trial.gain.error;
}

TEST(networks_trial, two_standard_errors_are_asked_for) {
  NetworksTrial trial;
  trial.gain = {0.21, 0.1};
  EXPECT_TRUE(trial.earned());
  trial.gain = {0.19, 0.1};
  EXPECT_FALSE(trial.earned());
  trial.gain = {0.21, std::nan("")};
  EXPECT_FALSE(trial.earned());
}

TEST(networks_trial, of_the_best_of_several_more_is_asked_for) {
  EXPECT_EQ(NetworksTrial::margin(1), 2);
  EXPECT_NEAR(NetworksTrial::margin(3), 2.4284, 1e-4);  // 1 - Phi(z) = 0.0227501/3
  NetworksTrial trial;
  trial.gain = {0.243, 0.1};
  EXPECT_TRUE(trial.earned(3));
  trial.gain = {0.242, 0.1};
  EXPECT_FALSE(trial.earned(3));
  EXPECT_TRUE(trial.earned(2));
}

TEST(networks_trial, origins_follow_each_other_and_see_nothing_after_them) {
  const auto series = noisy_linear_series(1000, {0.9}, 1, 1);
  const auto splits = rolling_origins(series, {100, 900}, {8, out}, Irregular::avoid, 4);
  ASSERT_EQ(splits.size(), 4U);
  EXPECT_EQ(splits[0].test_rows.begin, 500);
  EXPECT_EQ(splits[3].test_rows.end, 900);
  for (std::size_t k = 0; k < 4; ++k) {
    const auto& split = splits[k];
    EXPECT_EQ(split.constants.begin, 100);
    EXPECT_EQ(split.constants.end, split.validation_rows.begin);
    EXPECT_EQ(split.validation_rows.end, split.test_rows.begin);
    EXPECT_EQ(split.test_rows.size(), 100);
    if (k > 0) {
      EXPECT_EQ(split.test_rows.begin, splits[k - 1].test_rows.end);
    }
    EXPECT_LT(split.validation.dates.back(), split.test.dates.front());
  }
  // A change after the period changes nothing.
  auto other = series;
  for (int t = 900; t < 1000; ++t) other.row(t)[0] = 1e3;
  const auto judge = [](const CoefficientSeries& of) {
    auto quick = options();
    quick.training.epochs = 1;
    return try_networks(Comm::self(),
                        {of, {100, 900}, {8, out}, Irregular::avoid, subspace_metric(1, 1), 8, {}}, quick, {})
        .gain.value;
  };
  EXPECT_EQ(judge(series), judge(other));
}

TEST(networks_trial, of_a_short_record_decides_for_the_base) {
  auto quick = options();
  quick.training.epochs = 1;
  const auto trial = trial_of(convection(100, 1), quick);
  EXPECT_LT(trial.origins.size(), 3U);
  EXPECT_TRUE(std::isnan(trial.gain.error));
  EXPECT_FALSE(trial.earned());
}

TEST(networks_trial, ranks_share_the_origins_and_a_checkpoint_keeps_what_they_found) {
  auto quick = options();
  quick.training.epochs = 2;
  const auto series = convection(600, 1);
  const auto alone = trial_of(series, quick), shared = trial_of(series, quick, Comm::world());
  EXPECT_EQ(alone.gain.value, shared.gain.value);
  EXPECT_EQ(alone.gain.error, shared.gain.error);
  const Scratch scratch("trial");
  const auto path = scratch / "trial.h5";
  {
    auto file = hdf5::File::create(Comm::self(), path);
    write_trial(file.root(), alone);
    file.close();
  }
  const auto file = hdf5::File::open(Comm::self(), path);
  const auto read = read_trial(file.root());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->origins.size(), alone.origins.size());
  EXPECT_EQ(read->origins[2].networks_rmse, alone.origins[2].networks_rmse);
  EXPECT_EQ(read->gain.error, alone.gain.error);
  EXPECT_EQ(read->networks, 2);
}
