#include "surrogates/sequence/forecast/training_set.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::sequence {

namespace {

/// Mean and standard deviation, or least value and range, of each mode over rows of a series.
Scaling deviations(const CoefficientSeries& x, Rows rows) {
  Scaling scaling{std::vector<double>(x.n_modes, 0.0), std::vector<double>(x.n_modes, 0.0)};
  for (int t = rows.begin; t < rows.end; ++t)
    for (int m = 0; m < x.n_modes; ++m) scaling.offset[m] += x.row(t)[m] / rows.size();
  for (int t = rows.begin; t < rows.end; ++t)
    for (int m = 0; m < x.n_modes; ++m)
      scaling.scale[m] += std::pow(x.row(t)[m] - scaling.offset[m], 2) / rows.size();
  for (auto& value : scaling.scale) value = std::sqrt(value);
  return scaling;
}

Scaling ranges(const CoefficientSeries& x, Rows rows) {
  Scaling scaling{std::vector<double>(x.row(rows.begin), x.row(rows.begin) + x.n_modes), {}};
  auto most = scaling.offset;
  for (int t = rows.begin; t < rows.end; ++t)
    for (int m = 0; m < x.n_modes; ++m) {
      scaling.offset[m] = std::min(scaling.offset[m], x.row(t)[m]);
      most[m] = std::max(most[m], x.row(t)[m]);
    }
  for (int m = 0; m < x.n_modes; ++m) scaling.scale.push_back(most[m] - scaling.offset[m]);
  return scaling;
}

/// Root mean square of the base's errors: of each mode, or of all modes in each.
std::vector<double> error_scale(const std::vector<double>& errors, int modes, Loss loss) {
  std::vector<double> square(modes, 0.0);
  for (std::size_t i = 0; i < errors.size(); ++i)
    square[i % modes] += errors[i] * errors[i] * modes / errors.size();
  if (loss == Loss::degrees) {
    double all = 0;
    for (const double value : square) all += value / modes;
    std::fill(square.begin(), square.end(), all);
  }
  for (auto& value : square) value = std::sqrt(value);
  return square;
}

void check_scales(const Scaling& scaling, const char* what) {
  for (std::size_t m = 0; m < scaling.scale.size(); ++m)
    QUINTET_CHECK(scaling.scale[m] > 0 && std::isfinite(scaling.scale[m]),
                  "mode {}: {} never vary in training; leave the mode out", m + 1, what);
}

/// What networks are to give: ((truth - base) - offset)/scale, [n, out, modes].
std::vector<double> network_targets(const ForecastModel& model, const CoefficientSeries& series,
                                    const Windows& windows) {
  auto y = targets(series, windows);
  const auto base = model.base.forecast(series, windows);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto m = i % model.n_modes();
    y[i] = (y[i] - base[i] - model.output.offset[m]) / model.output.scale[m];
  }
  return y;
}

void check_validity(const Climatology& climatology, const Split& split) {
  const double last = split.validation.dates.back();
  QUINTET_CHECK(climatology.is_zero() || last <= climatology.valid_until(),
                "split: validation forecasts dates to {}, but the base's climatology holds only to {} "
                "(references.climatology.valid_years: {:g}); raise that, or end validation earlier "
                "(split.validation_until)",
                ocean::date_text(last), ocean::date_text(std::floor(climatology.valid_until())),
                climatology.valid_years());
}

/// Base and scalings.
ForecastModel begin(const CoefficientSeries& series, const Split& split, Irregular irregular,
                    const ForecastOptions& options, const ReferenceOptions& references) {
  ForecastModel model;
  model.kind = options.kind;
  model.shape = split.train.shape;
  model.irregular = irregular;
  model.step = time_step_of(series.time);
  model.trained_from = series.time[split.constants.begin];
  model.trained_until = series.time[split.constants.end - 1];
  model.validated_until = series.time[split.validation_rows.end - 1];
  model.leaks = split.leaks;
  const int modes = series.n_modes;
  check_scales(ranges(series, split.constants), "coefficients");
  if (options.kind == ForecastKind::raw) {
    model.base.name = "none";
    model.base.climatology = Climatology(modes);
    model.base.features.lags = 0;
    model.base.out = model.shape.out;
    model.base.offset.assign(std::int64_t{model.shape.out} * modes, 0.0);
    model.input = model.output = ranges(series, split.constants);
  } else {
    model.base = fit_reference(options.base, {series, split.constants, split.train, irregular}, references);
    check_validity(model.base.climatology, split);
    model.seasons = options.seasons;
    model.input = deviations(anomalies(series, model.base.climatology), split.constants);
    auto errors = targets(series, split.train);
    const auto base = model.base.forecast(series, split.train);
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= base[i];
    model.output = {std::vector<double>(modes, 0.0), error_scale(errors, modes, options.loss)};
  }
  check_scales(model.input, "anomalies");
  check_scales(model.output, "errors of the base");
  model.precision = options.training.precision;
  if (!options.network.is_graph()) return model;
  if (!options.network.sea) throw InternalError("a graph network without nodes");
  model.precision = options.network.graph_in_force().precision;
  model.graph = graph_network(model, options.network.sea, options.network.graph_in_force());
  return model;
}

}  // namespace

TrainingSet make_training_set(const CoefficientSeries& series, const Split& split, Irregular irregular,
                              const ForecastOptions& options, const ReferenceOptions& references) {
  TrainingSet set{begin(series, split, irregular, options, references), 0, 0, {}, {}, {}, {}};
  set.n_training = split.train.size(), set.n_validation = split.validation.size();
  set.training_inputs = network_inputs(set.model, series, split.train);
  set.training_targets = network_targets(set.model, series, split.train);
  set.validation_inputs = network_inputs(set.model, series, split.validation);
  set.validation_targets = network_targets(set.model, series, split.validation);
  return set;
}

Architecture architecture_for(const ForecastModel& model, const ArchitectureOptions& options) {
  return make_architecture(options, model.n_inputs(), model.n_modes(), model.shape.out);
}

}  // namespace quintet::sequence
