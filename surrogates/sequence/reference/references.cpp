#include "surrogates/sequence/reference/references.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/sequence/reference/dense_algebra.hpp"

namespace quintet::sequence {

namespace {

/// A forecaster of no weights yet.
LinearForecaster blank(Climatology climatology, Features features, int out) {
  LinearForecaster f;
  const std::size_t modes = climatology.n_modes();
  f.weights.assign(std::int64_t{features.count(climatology.n_modes())} * out * modes, 0.0);
  f.offset.assign(out * modes, 0.0);
  f.climatology = std::move(climatology);
  f.features = std::move(features);
  f.out = out;
  return f;
}

/// Weight of mode `from` of the last state for lead l (0 first) of mode `to`.
double& weight(LinearForecaster& f, int from, int lead, int to) {
  const int modes = f.climatology.n_modes();
  return f.weights[(std::int64_t{from} * f.out + lead) * modes + to];
}

Climatology climatology_of(const FitData& data, const ReferenceOptions& options) {
  return {data.series, data.rows, options.climatology};
}

LinearForecaster fit_climatology(const FitData& data, const ReferenceOptions& options) {
  return blank(climatology_of(data, options), {.lags = 0}, data.windows.shape.out);
}

LinearForecaster persist(Climatology climatology, int out) {
  auto f = blank(std::move(climatology), {}, out);
  for (int m = 0; m < f.climatology.n_modes(); ++m)
    for (int lead = 0; lead < out; ++lead) weight(f, m, lead, m) = 1;
  return f;
}

LinearForecaster fit_persistence(const FitData& data, const ReferenceOptions&) {
  return persist(Climatology(data.series.n_modes), data.windows.shape.out);
}

LinearForecaster fit_anomaly_persistence(const FitData& data, const ReferenceOptions& options) {
  return persist(climatology_of(data, options), data.windows.shape.out);
}

/// Call visit(x(t), x(t + lag)) for the pairs of rows that no gap separates; returns their number.
template <class Visit>
int for_each_pair(const CoefficientSeries& series, Rows rows, int lag, Irregular irregular,
                  const Visit& visit) {
  const auto first = stretches(series.time, irregular);
  int n = 0;
  for (int t = rows.begin; t + lag < rows.end; ++t)
    if (first[t + lag] <= t) visit(series.row(t), series.row(t + lag)), ++n;
  QUINTET_CHECK(
      n > series.n_modes,
      "training has {} pairs of times {} steps apart, and {} modes need more; train on a longer period, "
      "or on fewer modes",
      n, lag, series.n_modes);
  return n;
}

/// x(t + l, m) = d(l, m) x(t, m), d by least squares for each lead and mode.
LinearForecaster fit_damped(const FitData& data, const ReferenceOptions& options) {
  auto f = blank(climatology_of(data, options), {}, data.windows.shape.out);
  const int modes = data.series.n_modes;
  const auto x = anomalies(data.series, f.climatology);
  for (int lead = 0; lead < f.out; ++lead) {
    std::vector<double> lagged(modes, 0.0), square(modes, 0.0);
    for_each_pair(x, data.rows, lead + 1, data.irregular, [&](const double* now, const double* then) {
      for (int m = 0; m < modes; ++m) lagged[m] += now[m] * then[m], square[m] += now[m] * now[m];
    });
    for (int m = 0; m < modes; ++m) weight(f, m, lead, m) = square[m] > 0 ? lagged[m] / square[m] : 0;
  }
  return f;
}

/// x(t + l) = G^(l/lag) x(t) (Penland and Sardeshmukh 1995). A mode that forgets within `lag` steps may leave
/// G a negative eigenvalue, which has no real root: then the lag is 1, where powers are whole.
LinearForecaster fit_lim(const FitData& data, const ReferenceOptions& options) {
  auto f = blank(climatology_of(data, options), {}, data.windows.shape.out);
  const int modes = data.series.n_modes;
  const auto x = anomalies(data.series, f.climatology);
  const auto powers_of = [&](int lag) {
    return MatrixPowers(lim_propagator(x, data.rows, lag, data.irregular), modes);
  };
  int lag = options.lim_lag.in_steps(time_step_of(data.series.time));
  auto powers = powers_of(lag);
  if (lag > 1 && !powers.has_real_powers()) {
    log::warning(
        "lim: over {} steps some mode is no longer correlated with itself (the propagator has no real "
        "roots); it is fitted over "
        "one step",
        lag);
    powers = powers_of(lag = 1);
  }
  for (int lead = 0; lead < f.out; ++lead) {
    const auto g = powers.power(static_cast<double>(lead + 1) / lag);
    for (int to = 0; to < modes; ++to)
      for (int from = 0; from < modes; ++from) weight(f, from, lead, to) = g[std::int64_t{to} * modes + from];
  }
  return f;
}

/// Means of the columns of a [n, k] matrix, which are taken off.
std::vector<double> centre(std::vector<double>& x, int n, int k) {
  std::vector<double> mean(k, 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < k; ++j) mean[j] += x[std::int64_t{i} * k + j] / n;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < k; ++j) x[std::int64_t{i} * k + j] -= mean[j];
  return mean;
}

/// Add to a forecaster what ridge regression makes of its errors on the training windows.
///
/// Features and errors are centred; the penalty of feature j is absolute + relative n var_j.
void regress(LinearForecaster& f, Features features, const FitData& data, double absolute, double relative,
             const char* name) {
  f.name = name;
  const int modes = data.series.n_modes, width = f.out * modes, n = data.windows.size(),
            k = features.count(modes);
  auto y = targets(data.series, data.windows);
  const auto base = f.forecast(data.series, data.windows);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] -= base[i];
  auto x = features.of(anomalies(data.series, f.climatology), data.windows);
  const auto x_mean = centre(x, n, k), y_mean = centre(y, n, width);
  std::vector<double> penalty(k, absolute);
  for (int j = 0; j < k; ++j)
    for (int i = 0; i < n; ++i)
      penalty[j] += relative * x[std::int64_t{i} * k + j] * x[std::int64_t{i} * k + j];
  const auto w = ridge(x, y, penalty, n, k, width, name);

  auto sum = blank(f.climatology, std::move(features), f.out);
  sum.weights = w;
  // The base sees the last state alone, which stands first among the features.
  for (std::size_t i = 0; i < f.weights.size(); ++i) sum.weights[i] += f.weights[i];
  for (int p = 0; p < width; ++p) {
    sum.offset[p] = f.offset[p] + y_mean[p];
    for (int j = 0; j < k; ++j) sum.offset[p] -= x_mean[j] * w[std::int64_t{j} * width + p];
  }
  f = std::move(sum);
}

LinearForecaster fit_ridge(const FitData& data, const ReferenceOptions& options) {
  auto f = fit_climatology(data, options);
  regress(f, {.lags = data.windows.shape.in}, data, options.ridge_alpha, 0, "ridge");
  return f;
}

LinearForecaster fit_raw_linear(const FitData& data, const ReferenceOptions&) {
  auto f = blank(Climatology(data.series.n_modes), {.lags = 0}, data.windows.shape.out);
  regress(f, {.lags = data.windows.shape.in}, data, 0, 0, "raw_linear");
  return f;
}

LinearForecaster fit_seasonal_ridge(const FitData& data, const ReferenceOptions& options) {
  auto own = options;
  own.climatology.trend = options.seasonal_trend;
  auto f = fit_damped(data, own);
  const auto& seasonal = options.seasonal;
  const auto step = time_step_of(data.series.time);
  regress(f,
          {.lags = std::min(seasonal.lags.in_steps(step), data.windows.shape.in),
           .means = steps_of(seasonal.means, step),
           .seasons = seasonal.seasons},
          data, 0, seasonal.alpha, "seasonal_ridge");
  return f;
}

/// The features of one member among those of all: lags 0 ... `lags` - 1, some of the means, some harmonics.
std::vector<int> columns_of(const Features& all, int modes, int lags, const std::vector<bool>& means,
                            int seasons) {
  std::vector<int> columns;
  const auto take = [&](int block) {
    for (int m = 0; m < modes; ++m) columns.push_back(block * modes + m);
  };
  for (int lag = 0; lag < lags; ++lag) take(lag);
  const int n_means = all.means.size();
  for (int k = 0; k < n_means; ++k)
    if (means[k]) take(all.lags + k);
  for (int h = 0; h < 2 * seasons; ++h) take(all.lags + n_means + h);
  return columns;
}

/// Normal equations of a regression of many features, of which parts are solved: X^T X and X^T Y.
struct NormalEquations {
  std::vector<double> square, right;  ///< [k, k], [k, width]
  int k = 0, width = 0;

  /// Add `share` of the ridge regression on some columns to weights [k, width].
  void add(std::vector<double>& weights, const std::vector<int>& columns, double alpha, double share) const {
    const auto n = columns.size();
    std::vector<double> a(n * n), b(n * width);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t row = columns[i];
      for (std::size_t j = 0; j < n; ++j) a[i * n + j] = square[row * k + columns[j]];
      a[i * (n + 1)] *= 1 + alpha;
      std::copy_n(right.begin() + row * width, width, b.begin() + i * width);
    }
    const auto solved = solve_positive(std::move(a), b, static_cast<int>(n), width);
    QUINTET_CHECK(solved,
                  "ridge_ensemble: the training does not determine a regression of {} numbers; train on a "
                  "longer period, or raise references.ridge_ensemble.alphas",
                  n);
    for (std::size_t i = 0; i < n; ++i)
      for (int p = 0; p < width; ++p)
        weights[std::int64_t{columns[i]} * width + p] += share * (*solved)[i * width + p];
  }
};

/// Spans of ridge_ensemble in steps of a record.
struct EnsembleSpans {
  std::vector<int> lags;            ///< ascending, different, none longer than the window
  Features all;                     ///< what any member sees
  std::vector<bool> few_are_taken;  ///< [means] those of seasonal_ridge
};

EnsembleSpans spans_of(const FitData& data, const ReferenceOptions& options) {
  const auto step = time_step_of(data.series.time);
  EnsembleSpans spans;
  for (const auto& span : options.ensemble.lags)
    spans.lags.push_back(std::min(Span(span).in_steps(step), data.windows.shape.in));
  std::sort(spans.lags.begin(), spans.lags.end());
  spans.lags.erase(std::unique(spans.lags.begin(), spans.lags.end()), spans.lags.end());
  spans.all = {.lags = spans.lags.back(),
               .means = steps_of(options.seasonal.means, step),
               .seasons = options.seasonal.seasons};
  spans.few_are_taken.assign(spans.all.means.size(), true);
  for (const auto mean : steps_of(options.ensemble.more_means, step)) {
    const bool known =
        std::find(spans.all.means.begin(), spans.all.means.end(), mean) != spans.all.means.end();
    if (mean < 2 || known) continue;  // the last state itself, or there already
    spans.all.means.push_back(mean);
    spans.few_are_taken.push_back(false);
  }
  return spans;
}

/// The mean of ridge regressions as seasonal_ridge is one, over lags, memories, harmonics of the year and
/// penalties: it is again one affine map, of the features of all.
///
/// No member is chosen. Where members differ by what they make of noise, the mean has less of it than each.
LinearForecaster fit_ridge_ensemble(const FitData& data, const ReferenceOptions& options) {
  auto own = options;
  own.climatology.trend = options.seasonal_trend;
  auto f = fit_damped(data, own);
  const auto spans = spans_of(data, options);
  const int modes = data.series.n_modes, width = f.out * modes, n = data.windows.size(),
            k = spans.all.count(modes);
  auto y = targets(data.series, data.windows);
  const auto base = f.forecast(data.series, data.windows);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] -= base[i];
  auto x = spans.all.of(anomalies(data.series, f.climatology), data.windows);
  const auto x_mean = centre(x, n, k), y_mean = centre(y, n, width);
  const NormalEquations equations{transposed_product(x, x, n, k, k), transposed_product(x, y, n, k, width), k,
                                  width};
  std::vector<std::vector<int>> members;
  const std::vector<bool> all_are_taken(spans.all.means.size(), true);
  for (const int lags : spans.lags)
    for (int seasons = std::min(1, spans.all.seasons); seasons <= spans.all.seasons; ++seasons) {
      members.push_back(columns_of(spans.all, modes, lags, spans.few_are_taken, seasons));
      if (spans.few_are_taken != all_are_taken)
        members.push_back(columns_of(spans.all, modes, lags, all_are_taken, seasons));
    }
  auto sum = blank(f.climatology, spans.all, f.out);
  const auto& alphas = options.ensemble.alphas;
  const double share = 1 / static_cast<double>(members.size() * alphas.size());
  for (const auto& columns : members)
    for (const double alpha : alphas) equations.add(sum.weights, columns, alpha, share);
  for (int p = 0; p < width; ++p) {
    sum.offset[p] = f.offset[p] + y_mean[p];
    for (int j = 0; j < k; ++j) sum.offset[p] -= x_mean[j] * sum.weights[std::int64_t{j} * width + p];
  }
  for (std::size_t i = 0; i < f.weights.size(); ++i) sum.weights[i] += f.weights[i];
  return sum;
}

/// a(t + 1) = A a(t) + b by least squares, iterated: the dynamic mode decomposition of (a, 1).
LinearForecaster fit_dmd(const FitData& data, const ReferenceOptions&) {
  const int modes = data.series.n_modes, k = modes + 1;
  std::vector<double> x, y;
  const int n =
      for_each_pair(data.series, data.rows, 1, data.irregular, [&](const double* now, const double* then) {
        x.insert(x.end(), now, now + modes);
        x.push_back(1);
        y.insert(y.end(), then, then + modes);
      });
  const auto step = least_squares(std::move(x), y, n, k, modes, "dmd");  // [k, modes]
  auto f = blank(Climatology(modes), {}, data.windows.shape.out);
  std::vector<double> map(std::int64_t{k} * modes, 0.0);  // of (a, 1) to the state, [k, modes]
  for (int m = 0; m < modes; ++m) map[std::int64_t{m} * (modes + 1)] = 1;
  for (int lead = 0; lead < f.out; ++lead) {
    auto next = product(map, step, k, modes, modes);
    for (int m = 0; m < modes; ++m)
      next[std::int64_t{modes} * modes + m] += step[std::int64_t{modes} * modes + m];
    map = std::move(next);
    for (int to = 0; to < modes; ++to) {
      for (int from = 0; from < modes; ++from)
        weight(f, from, lead, to) = map[std::int64_t{from} * modes + to];
      f.offset[lead * modes + to] = map[std::int64_t{modes} * modes + to];
    }
  }
  return f;
}

/// Dynamic mode decomposition of states delayed by 0 ... d - 1 steps, in their leading r singular vectors U:
/// h(t + l) = U A^l U^T h(t), A = U^T H' H^+ U (Arbabi and Mezic 2017).
LinearForecaster fit_hankel_dmd(const FitData& data, const ReferenceOptions& options) {
  const int modes = data.series.n_modes, d = data.windows.shape.in, k = d * modes;
  std::vector<double> now, then;  // [n, k], the latest state first
  const auto append = [&](std::vector<double>& rows, int t) {
    for (int lag = 0; lag < d; ++lag)
      rows.insert(rows.end(), data.series.row(t - lag), data.series.row(t - lag) + modes);
  };
  const auto first = stretches(data.series.time, data.irregular);
  int n = 0;
  for (int t = data.rows.begin + d - 1; t + 1 < data.rows.end; ++t)
    if (first[t + 1] <= t - d + 1) append(now, t), append(then, t + 1), ++n;
  const int r = std::min(options.hankel_rank, k);
  QUINTET_CHECK(n >= k, "hankel_dmd: {} windows of training for {} delayed numbers", n, k);
  std::vector<double> transposed_now(now.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < k; ++j) transposed_now[std::int64_t{j} * n + i] = now[std::int64_t{i} * k + j];
  const auto u = left_singular_vectors(transposed_now, k, n, r);  // [k, r]
  const auto z = product(now, u, n, k, r), z_next = product(then, u, n, k, r);
  const auto step = least_squares(z, z_next, n, r, r, "hankel_dmd");  // z(t + 1) = z(t) step

  auto f = blank(Climatology(modes), {.lags = d}, data.windows.shape.out);
  std::vector<double> back(std::int64_t{r} * modes);  // of z to the latest state
  for (int j = 0; j < r; ++j)
    for (int m = 0; m < modes; ++m) back[std::int64_t{j} * modes + m] = u[std::int64_t{m} * r + j];
  auto map = u;  // of h(t) to z(t + l)
  for (int lead = 0; lead < f.out; ++lead) {
    map = product(map, step, k, r, r);
    const auto w = product(map, back, k, r, modes);
    for (int j = 0; j < k; ++j)
      for (int m = 0; m < modes; ++m)
        f.weights[(std::int64_t{j} * f.out + lead) * modes + m] = w[std::int64_t{j} * modes + m];
  }
  return f;
}

}  // namespace

std::vector<double> lim_propagator(const CoefficientSeries& x, Rows rows, int lag, Irregular irregular) {
  const int modes = x.n_modes;
  std::vector<double> now, then;
  const int n = for_each_pair(x, rows, lag, irregular, [&](const double* a, const double* b) {
    now.insert(now.end(), a, a + modes);
    then.insert(then.end(), b, b + modes);
  });
  const auto transposed = least_squares(std::move(now), then, n, modes, modes, "lim");  // G^T: then = now G^T
  std::vector<double> g(transposed.size());
  for (int i = 0; i < modes; ++i)
    for (int j = 0; j < modes; ++j) g[std::int64_t{i} * modes + j] = transposed[std::int64_t{j} * modes + i];
  return g;
}

const std::vector<ReferenceRow>& references() {
  static const std::vector<ReferenceRow> rows = {
      {Reference::climatology, "climatology", "harmonics of the year and a trend", fit_climatology},
      {Reference::persistence, "persistence", "the last value stays", fit_persistence},
      {Reference::anomaly_persistence, "anomaly_persistence", "the last anomaly stays",
       fit_anomaly_persistence},
      {Reference::damped_persistence, "damped_persistence",
       "the last anomaly decays, a regression for each mode and lead", fit_damped},
      {Reference::lim, "lim", "linear inverse model: modes decay, turn and feed each other", fit_lim},
      {Reference::ridge, "ridge", "regression on all anomalies of the window", fit_ridge},
      {Reference::seasonal_ridge, "seasonal_ridge",
       "regression on the window's anomalies, means over longer memories and products with the season, on "
       "damped persistence",
       fit_seasonal_ridge},
      {Reference::ridge_ensemble, "ridge_ensemble",
       "mean of regressions as seasonal_ridge is one, over lags, memories, harmonics and penalties",
       fit_ridge_ensemble},
      {Reference::raw_linear, "raw_linear", "regression on the window's raw values, without a climatology",
       fit_raw_linear},
      {Reference::dmd, "dmd", "dynamic mode decomposition of the state and a constant", fit_dmd},
      {Reference::hankel_dmd, "hankel_dmd", "dynamic mode decomposition of the window", fit_hankel_dmd}};
  return rows;
}

bool is_left_out(const ReferenceRow& row, const ReferenceOptions& options) {
  return std::find(options.left_out.begin(), options.left_out.end(), row.name) != options.left_out.end();
}

LinearForecaster fit_reference(Reference reference, const FitData& data, const ReferenceOptions& options) {
  const auto& row = row_of(references(), reference);
  auto forecaster = row.fit(data, options);
  forecaster.name = row.name;
  return forecaster;
}

namespace {

/// What an action gives; none, and a warning, where the data do not let it.
template <class Action>
auto beside(Reference reference, const Action& action) -> std::optional<decltype(action())> {
  const auto none = [&](std::string_view why) {
    const std::string name = row_of(references(), reference).name, before = name + ": ";
    if (why.starts_with(before)) why.remove_prefix(before.size());  // it names itself
    log::warning("reference {}: {}; its row has '-'", name, why);
    return std::nullopt;
  };
  try {
    return action();
  } catch (const InputError& error) {
    return none(error.what());
  } catch (const NumericalError& error) {
    return none(error.what());
  }
}

}  // namespace

std::optional<LinearForecaster> fit_beside(Reference reference, const FitData& data,
                                           const ReferenceOptions& options) {
  return beside(reference, [&] { return fit_reference(reference, data, options); });
}

std::optional<std::vector<double>> forecast_beside(Reference reference, const FitData& data,
                                                   const ReferenceOptions& options, const Windows& windows) {
  return beside(reference,
                [&] { return fit_reference(reference, data, options).forecast(data.series, windows); });
}

}  // namespace quintet::sequence
