#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>
#include <vector>

#include "io/parallel/comm.hpp"
#include "surrogates/sequence/hindcast/combine.hpp"
#include "tests/unit/sequence/series_cases.hpp"

/// Hindcasts that are fast, of a sea of two modes.
namespace quintet::sequence::hindcasts {

constexpr WindowShape shape{4, 3};
constexpr int weeks = 900;  // to the beginning of 1999

/// A season and anomalies of two coupled modes.
inline CoefficientSeries sea(std::uint64_t seed = 3) {
  auto series = noisy_linear_series(weeks, {0.95, 0.05, -0.05, 0.9}, 1, seed);
  for (int t = 0; t < weeks; ++t)
    series.row(t)[0] += 10 * std::cos(2 * std::numbers::pi * series.time[t] / 365.2425);
  return series;
}

inline MethodOptions methods() {
  MethodOptions options;
  options.analogues.neighbours = 10;
  return options;
}

/// A base, and small networks on it that are trained anew at some origins.
inline MethodOptions with_networks(int every) {
  MethodOptions options;
  options.names = {"damped_persistence"};
  auto& networks = options.networks.emplace();
  networks.every = every;
  networks.forecast.base = Reference::damped_persistence;
  networks.forecast.members = 2;
  networks.forecast.network.nodes = {"4"};
  networks.forecast.training.epochs = 3;
  return options;
}

inline OriginOptions from_1992() {
  OriginOptions options;
  options.from = "1992-01-01";
  return options;
}

inline OriginSeries measured(const CoefficientSeries& series) {
  return {series, {{0.5, 0, 0, 0.5}, {1, 0, 0, 0}}, {{}, {1, 0}}};
}

inline std::vector<OriginForecasts> hindcast(const CoefficientSeries& series, std::vector<Method> methods,
                                             const Comm& comm = Comm::self()) {
  HindcastRun run(comm, make_origins(series, from_1992(), shape, Irregular::avoid, 0), std::move(methods),
                  Irregular::avoid, {}, [&](const Origin&) { return measured(series); });
  while (!run.finished()) run.advance();
  return run.done();
}

/// Hindcasts of sea() by methods(), made once.
inline const std::vector<OriginForecasts>& plain_hindcast() {
  static const auto done = hindcast(sea(), make_methods(methods()));
  return done;
}

/// How many windows whose last step seen is at most `row` are forecast otherwise.
inline int changed_until(int row, const std::vector<OriginForecasts>& a,
                         const std::vector<OriginForecasts>& b) {
  int changed = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (int w = 0; w < a[i].origin.windows.size(); ++w) {
      if (a[i].origin.windows.origins[w] > row) continue;
      const auto width = std::int64_t{a[i].out()} * a[i].modes;
      for (std::size_t k = 0; k < a[i].methods.size(); ++k) {
        const auto first = w * width;
        const auto &x = a[i].methods[k], &y = b[i].methods[k];
        const bool same =
            std::equal(x.mean.begin() + first, x.mean.begin() + first + width, y.mean.begin() + first) &&
            std::equal(x.covariance.begin() + first * a[i].modes,
                       x.covariance.begin() + (first + width) * a[i].modes,
                       y.covariance.begin() + first * a[i].modes);
        if (!same) ++changed;
      }
    }
  return changed;
}

/// Other numbers after a row.
inline CoefficientSeries with_another_future(CoefficientSeries series, int row) {
  for (int t = row + 1; t < series.n_times(); ++t)
    for (int m = 0; m < series.n_modes; ++m) series.row(t)[m] = 50 - 3 * series.row(t)[m];
  return series;
}

/// Hindcasts made by hand: one mode, errors and spreads of two methods as they are given.
inline Hindcasts by_hand(int n_origins, int windows,
                         const std::function<double(int method, int window)>& error, double spread) {
  Hindcasts all{{"a", "b"}, {}};
  for (int i = 0; i < n_origins; ++i) {
    OriginForecasts one;
    one.modes = 1;
    one.grams = {{1}, {1}};
    one.indices = {{}, {1}};
    one.origin.date = ocean::day_of({1990 + i, 1, 1});
    one.origin.windows.shape = {1, 1};
    one.methods.resize(2);
    for (int w = 0; w < windows; ++w) {
      one.origin.windows.origins.push_back(i * windows + w);
      one.origin.windows.memory.push_back(0);
      one.origin.windows.dates.push_back(one.origin.date + 360.0 * w / windows + 1);
      const double truth = std::sin(0.7 * (i * windows + w));
      one.truth.push_back(truth);
      one.normal.push_back(0);
      for (int k = 0; k < 2; ++k) {
        one.methods[k].mean.push_back(truth + error(k, i * windows + w));
        one.methods[k].covariance.push_back(spread * spread);
      }
    }
    all.origins.push_back(std::move(one));
  }
  return all;
}

/// A method that could not be fitted at an origin.
inline void leave_out(OriginForecasts& one, int method) {
  auto& [mean, covariance] = one.methods[method];
  std::fill(mean.begin(), mean.end(), std::nan(""));
  std::fill(covariance.begin(), covariance.end(), std::nan(""));
}

}  // namespace quintet::sequence::hindcasts
