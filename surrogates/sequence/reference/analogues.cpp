#include "surrogates/sequence/reference/analogues.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"

namespace quintet::sequence {

namespace {

/// What analogues are searched among.
struct Library {
  LinearForecaster damped;
  Features features;
  AnalogueOptions options;
  int out = 0, modes = 0;
  std::vector<double> scale;   ///< [features] 1/standard deviation
  std::vector<double> states;  ///< [n, features], scaled
  std::vector<double> errors;  ///< [n, out, modes] of damped persistence
  std::vector<double> starts;  ///< [n] (days)
  SeasonalSpread spread;
};

struct Neighbour {
  double distance = 0, weight = 0;
  std::size_t window = 0;
};

/// The nearest states of the season, with their weights.
///
/// w_i = season_weight exp(-d_i^2/<d^2>), then sum w = 1.
std::vector<Neighbour> neighbours(const Library& library, const double* state, double day) {
  const auto width = library.scale.size();
  std::vector<Neighbour> all;
  for (std::size_t i = 0; i < library.starts.size(); ++i) {
    const double season = season_weight(library.starts[i] - day, library.options.half_width);
    if (season == 0) continue;
    double square = 0;
    for (std::size_t j = 0; j < width; ++j) square += std::pow(library.states[i * width + j] - state[j], 2);
    all.push_back({square, season, i});
  }
  const std::size_t wanted = library.options.neighbours;
  QUINTET_CHECK(all.size() >= wanted,
                "analogues: a season of the training has {} windows, fewer than analogues.neighbours: {}; "
                "ask for fewer, or train on a longer period",
                all.size(), wanted);
  std::nth_element(all.begin(), all.begin() + wanted - 1, all.end(),
                   [](const Neighbour& a, const Neighbour& b) {
                     return std::pair(a.distance, a.window) < std::pair(b.distance, b.window);
                   });
  all.resize(wanted);
  double mean = 0, total = 0;
  for (const auto& n : all) mean += n.distance / static_cast<double>(wanted);
  for (auto& n : all) n.weight *= mean > 0 ? std::exp(-n.distance / mean) : 1;
  for (const auto& n : all) total += n.weight;
  for (auto& n : all) n.weight /= total;
  return all;
}

/// Mean errors of neighbours, and half their covariance and half the season's.
void add_window(const Library& library, const std::vector<Neighbour>& near, double day, double* mean,
                std::vector<double>& covariance) {
  const int width = library.out * library.modes, modes = library.modes;
  std::vector<double> shift(width, 0.0);
  for (const auto& n : near)
    for (int p = 0; p < width; ++p) shift[p] += n.weight * library.errors[n.window * width + p];
  for (int p = 0; p < width; ++p) mean[p] += shift[p];
  const double* season = library.spread.at(day);
  const auto first = covariance.size();
  covariance.insert(covariance.end(), season, season + library.spread.size());
  for (std::size_t j = first; j < covariance.size(); ++j) covariance[j] *= 0.5;
  for (const auto& n : near)
    for (int lead = 0; lead < library.out; ++lead)
      for (int a = 0; a < modes; ++a)
        for (int b = 0; b < modes; ++b) {
          const int p = lead * modes + a, q = lead * modes + b;
          covariance[first + (std::int64_t{lead} * modes + a) * modes + b] +=
              0.5 * n.weight * (library.errors[n.window * width + p] - shift[p]) *
              (library.errors[n.window * width + q] - shift[q]);
        }
}

}  // namespace

void describe(Schema& schema, AnalogueOptions& options) {
  schema.integer("neighbours", options.neighbours, "Past states that are looked at").at_least(2);
  schema
      .number("half_width", options.half_width,
              "Days from a forecast's time of the year at which a past state counts half")
      .at_least(5)
      .at_most(180);
  schema.number("trend", options.trend, "Share of the linear trend in its climatology, as seasonal_trend")
      .at_least(0)
      .at_most(1);
}

Forecaster fit_analogues(const FitData& data, const ReferenceOptions& references,
                         const AnalogueOptions& options) {
  auto own = references;
  own.climatology.trend = options.trend;
  auto damped = fit_reference(Reference::damped_persistence, data, own);
  const Features features{.lags = 1, .means = {data.windows.shape.in}, .seasons = 0};
  const int modes = data.series.n_modes, out = data.windows.shape.out, n = data.windows.size();
  auto states = features.of(anomalies(data.series, damped.climatology), data.windows);
  const std::size_t width = features.count(modes);
  std::vector<double> scale(width, 0.0);
  for (std::size_t i = 0; i < states.size(); ++i) scale[i % width] += states[i] * states[i] / n;
  for (double& value : scale) value = value > 0 ? 1 / std::sqrt(value) : 0;
  for (std::size_t i = 0; i < states.size(); ++i) states[i] *= scale[i % width];
  auto errors = targets(data.series, data.windows);
  const auto forecast = damped.forecast(data.series, data.windows);
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= forecast[i];
  auto starts = starts_of(data.series, data.windows);
  SeasonalSpread spread(errors, starts, out, modes, options.half_width);
  const auto library = std::make_shared<const Library>(
      Library{std::move(damped), features, options, out, modes, std::move(scale), std::move(states),
              std::move(errors), std::move(starts), std::move(spread)});
  return [library](const CoefficientSeries& known, const Windows& windows) {
    Predictive result{library->damped.forecast(known, windows), {}};
    auto state = library->features.of(anomalies(known, library->damped.climatology), windows);
    const auto w = library->scale.size();
    for (std::size_t i = 0; i < state.size(); ++i) state[i] *= library->scale[i % w];
    for (int i = 0; i < windows.size(); ++i) {
      const double day = known.time[windows.origins[i]];
      const auto near = neighbours(*library, state.data() + i * w, day);
      double* mean = result.mean.data() + std::int64_t{i} * library->out * library->modes;
      add_window(*library, near, day, mean, result.covariance);
    }
    return result;
  };
}

}  // namespace quintet::sequence
