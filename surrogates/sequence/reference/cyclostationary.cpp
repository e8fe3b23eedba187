#include "surrogates/sequence/reference/cyclostationary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <random>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/kernels/rounded_root.hpp"
#include "surrogates/sequence/reference/dense_algebra.hpp"

namespace quintet::sequence {

namespace {

double day_of_phase(int phase) { return phase * year_days / CyclostationaryLim::phases; }

/// E P E^T of [n, n] matrices.
std::vector<double> carried(const double* e, const std::vector<double>& p, int n) {
  std::vector<double> half(p.size(), 0.0), result(p.size(), 0.0);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) half[i * n + j] += e[i * n + k] * p[k * n + j];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) result[i * n + j] += half[i * n + k] * e[j * n + k];
  return result;
}

/// The propagator over `lag` steps for a time of the year, by weighted least squares.
std::vector<double> propagator(const CoefficientSeries& x, const FitData& data, int lag, double step_days,
                               double day, double half_width) {
  const int modes = x.n_modes;
  const auto first = stretches(x.time, data.irregular);
  std::vector<double> now, then;
  int n = 0;
  for (int t = data.rows.begin; t + lag < data.rows.end; ++t) {
    const double weight = season_weight(x.time[t] + 0.5 * lag * step_days - day, half_width);
    if (weight == 0 || first[t + lag] > t) continue;
    const double root = std::sqrt(weight);
    for (int m = 0; m < modes; ++m) {
      now.push_back(root * x.row(t)[m]);
      then.push_back(root * x.row(t + lag)[m]);
    }
    ++n;
  }
  QUINTET_CHECK(n > 2 * modes,
                "cyclostationary_lim: a season of the training has {} pairs of times, and {} modes need more "
                "than {}; train on a longer period, or set cyclostationary.half_width higher",
                n, modes, 2 * modes);
  const auto g = least_squares(std::move(now), then, n, modes, modes, "cyclostationary_lim");
  std::vector<double> result(g.size());
  for (int i = 0; i < modes; ++i)
    for (int j = 0; j < modes; ++j) result[i * modes + j] = g[j * modes + i];
  return result;
}

/// The covariance nearest to a symmetric matrix with its trace: negative eigenvalues are cut, the others
/// scaled.
std::vector<double> positive(std::vector<double> q, int n) {
  const auto eigen = symmetric_eigen(q, n);
  double trace = 0, kept = 0;
  for (const double value : eigen.values) trace += value, kept += std::max(0.0, value);
  const double scale = kept > 0 ? std::max(0.0, trace) / kept : 0;
  std::fill(q.begin(), q.end(), 0.0);
  for (int k = 0; k < n; ++k) {
    const double value = scale * std::max(0.0, eigen.values[k]);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) q[i * n + j] += value * eigen.vectors[i * n + k] * eigen.vectors[j * n + k];
  }
  return q;
}

/// Covariance of anomalies at a time of the year.
std::vector<double> covariance(const CoefficientSeries& x, Rows rows, double day, double half_width) {
  const int n = x.n_modes;
  std::vector<double> sum(std::int64_t{n} * n, 0.0);
  double total = 0;
  for (int t = rows.begin; t < rows.end; ++t) {
    const double weight = season_weight(x.time[t] - day, half_width);
    if (weight == 0) continue;
    total += weight;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) sum[i * n + j] += weight * x.row(t)[i] * x.row(t)[j];
  }
  for (double& value : sum) value /= total;
  return sum;
}

double days_of(const TimeStep& step) { return step.months > 0 ? step.months * year_days / 12 : step.days; }

}  // namespace

void describe(Schema& schema, CyclostationaryOptions& options) {
  schema.text("lag", options.lag.text,
              "Lag of the covariances, a number of steps or a duration; one step, with a warning, where a "
              "mode decorrelates sooner");
  schema
      .number("half_width", options.half_width,
              "Days from the middle of a season at which a time counts half for its operators")
      .at_least(10)
      .at_most(180);
  schema.number("trend", options.trend, "Share of the linear trend in its climatology, as seasonal_trend")
      .at_least(0)
      .at_most(1);
  schema.check([&options] { return options.lag.error("lag"); });
}

CyclostationaryLim::CyclostationaryLim(const FitData& data, const ClimatologyOptions& climatology,
                                       const CyclostationaryOptions& options)
    : modes_(data.series.n_modes) {
  auto own = climatology;
  own.trend = options.trend;
  climatology_ = Climatology(data.series, data.rows, own);
  const auto step = time_step_of(data.series.time);
  step_days_ = days_of(step);
  lag_ = options.lag.in_steps(step);
  const auto x = anomalies(data.series, climatology_);
  fit_operators(x, data, options.half_width);
  fit_noise(x, data.rows, options.half_width);
}

void CyclostationaryLim::fit_operators(const CoefficientSeries& x, const FitData& data, double half_width) {
  const auto all_roots = [&](int lag) -> std::optional<std::vector<double>> {
    std::vector<double> table;
    for (int phase = 0; phase < phases; ++phase) {
      const MatrixPowers powers(propagator(x, data, lag, step_days_, day_of_phase(phase), half_width),
                                modes_);
      if (lag > 1 && !powers.has_real_powers()) return std::nullopt;
      const auto root = powers.power(1.0 / lag);
      table.insert(table.end(), root.begin(), root.end());
    }
    return table;
  };
  auto table = all_roots(lag_);
  if (!table) {
    log::warning(
        "cyclostationary_lim: over {} steps some mode is no longer correlated with itself in some season "
        "(the propagator has no real roots); it is fitted over one step",
        lag_);
    table = all_roots(lag_ = 1);
  }
  operators_ = std::move(*table);
}

void CyclostationaryLim::fit_noise(const CoefficientSeries& x, Rows rows, double half_width) {
  for (int phase = 0; phase < phases; ++phase) {
    const double day = day_of_phase(phase);
    const auto before = covariance(x, rows, day - 0.5 * step_days_, half_width);
    auto q = covariance(x, rows, day + 0.5 * step_days_, half_width);
    const auto kept = carried(step_operator(day), before, modes_);
    for (std::size_t i = 0; i < q.size(); ++i) q[i] -= kept[i];
    q = positive(std::move(q), modes_);
    noise_.insert(noise_.end(), q.begin(), q.end());
  }
}

const double* CyclostationaryLim::at(const std::vector<double>& table, double day) const {
  const double share = (day - year_days * std::floor(day / year_days)) / year_days;
  const auto phase = static_cast<std::size_t>(std::lround(share * phases)) % phases;
  return table.data() + phase * modes_ * modes_;
}

std::vector<double> CyclostationaryLim::midways(const CoefficientSeries& known, const Windows& windows,
                                                int i) const {
  std::vector<double> days;
  double before = known.time[windows.origins[i]];
  for (int lead = 0; lead < windows.shape.out; ++lead) {
    days.push_back((before + windows.dates_of(i)[lead]) / 2);
    before = windows.dates_of(i)[lead];
  }
  return days;
}

Predictive CyclostationaryLim::forecast(const CoefficientSeries& known, const Windows& windows) const {
  const int out = windows.shape.out;
  Predictive result;
  std::vector<double> normal(modes_), x(modes_), next(modes_);
  for (int i = 0; i < windows.size(); ++i) {
    const int origin = windows.origins[i];
    climatology_.evaluate(known.time[origin], normal.data());
    for (int m = 0; m < modes_; ++m) x[m] = known.row(origin)[m] - normal[m];
    std::vector<double> p(std::int64_t{modes_} * modes_, 0.0);
    const auto days = midways(known, windows, i);
    for (int lead = 0; lead < out; ++lead) {
      const double* e = step_operator(days[lead]);
      const double* q = noise(days[lead]);
      for (int m = 0; m < modes_; ++m) {
        next[m] = 0;
        for (int n = 0; n < modes_; ++n) next[m] += e[m * modes_ + n] * x[n];
      }
      x = next;
      p = carried(e, p, modes_);
      for (std::size_t j = 0; j < p.size(); ++j) p[j] += q[j];
      climatology_.check_validity(windows.dates_of(i)[lead]);
      climatology_.evaluate(windows.dates_of(i)[lead], normal.data());
      for (int m = 0; m < modes_; ++m) result.mean.push_back(normal[m] + x[m]);
      result.covariance.insert(result.covariance.end(), p.begin(), p.end());
    }
  }
  return result;
}

// Each step's noise is V sqrt(lambda) of standard normal numbers by Box and Muller's formula, which gives
// the same on every machine.
std::vector<double> CyclostationaryLim::members(const CoefficientSeries& known, const Windows& window,
                                                int members, std::uint64_t seed) const {
  const int out = window.shape.out, origin = window.origins.at(0);
  std::mt19937_64 random(seed);
  const auto deviate = [&] {
    const double u = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53, v = (random() >> 11) * 0x1p-53;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  };
  const auto days = midways(known, window, 0);
  std::vector<SymmetricEigen> noises;
  for (const double day : days)
    noises.push_back(
        symmetric_eigen(std::vector<double>(noise(day), noise(day) + std::int64_t{modes_} * modes_), modes_));
  std::vector<double> start(modes_), normal(modes_), result;
  climatology_.evaluate(known.time[origin], normal.data());
  for (int m = 0; m < modes_; ++m) start[m] = known.row(origin)[m] - normal[m];
  for (int k = 0; k < members; ++k) {
    auto x = start;
    for (int lead = 0; lead < out; ++lead) {
      const double* e = step_operator(days[lead]);
      std::vector<double> next(modes_, 0.0);
      for (int m = 0; m < modes_; ++m)
        for (int n = 0; n < modes_; ++n) next[m] += e[m * modes_ + n] * x[n];
      for (int j = 0; j < modes_; ++j) {
        const double drawn = deviate() * rounded_root(noises[lead].values[j]);
        for (int m = 0; m < modes_; ++m) next[m] += noises[lead].vectors[m * modes_ + j] * drawn;
      }
      x = next;
      climatology_.evaluate(window.dates_of(0)[lead], normal.data());
      for (int m = 0; m < modes_; ++m) result.push_back(normal[m] + x[m]);
    }
  }
  return result;
}

}  // namespace quintet::sequence
