#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "surrogates/sequence/reference/linear_forecaster.hpp"
#include "surrogates/sequence/windows/span.hpp"
#include "surrogates/sequence/windows/windows.hpp"

namespace quintet::sequence {

/// Forecasts to compare with, and to build on.
enum class Reference {
  climatology,
  persistence,
  anomaly_persistence,
  damped_persistence,
  lim,
  ridge,
  seasonal_ridge,
  ridge_ensemble,
  raw_linear,
  dmd,
  hankel_dmd
};

struct RidgeOptions {
  Span lags = "56 day";                                    ///< past steps
  std::vector<std::string> means = {"91 day", "364 day"};  ///< spans of the longer memories
  int seasons = 2;                                         ///< harmonics of the year by which weights change
  double alpha = 0.3;                                      ///< penalty on standardised features, per window
};
void describe(Schema& schema, RidgeOptions& options);

/// The regressions whose mean ridge_ensemble is: all combinations.
struct RidgeEnsembleOptions {
  std::vector<std::string> lags = {"7 day", "14 day", "28 day", "56 day"};  ///< spans of past steps
  std::vector<std::string> more_means = {"28 day", "182 day"};  ///< with and without, beside seasonal_ridge's
  std::vector<double> alphas = {0.1, 0.3, 1};                   ///< penalties
};
void describe(Schema& schema, RidgeEnsembleOptions& options);

struct ReferenceOptions {
  ClimatologyOptions climatology;
  Span lim_lag = "56 day";            ///< the linear inverse model's lag
  double ridge_alpha = 100;           ///< penalty of ridge, in squared coefficients
  RidgeOptions seasonal;              ///< of seasonal_ridge
  double seasonal_trend = 0;          ///< share of the trend that seasonal_ridge carries on
  RidgeEnsembleOptions ensemble;      ///< of ridge_ensemble
  int hankel_rank = 12;               ///< of delayed states
  std::vector<std::string> left_out;  ///< names of those that stand in no table
};
void describe(Schema& schema, ReferenceOptions& options);
/// Spans in steps of a record.
[[nodiscard]] std::vector<std::int64_t> steps_of(const std::vector<std::string>& spans, const TimeStep& step);
/// Return the options with spans as numbers of steps of a record.
[[nodiscard]] ReferenceOptions in_steps(ReferenceOptions options, const TimeStep& step);
/// Text of the spans in steps of a record: "lags 8, means 13, 52, lim_lag 8".
[[nodiscard]] std::string spans_text(const ReferenceOptions& options, const TimeStep& step);

/// Data to which a reference is fitted.
struct FitData {
  const CoefficientSeries& series;
  Rows rows;               ///< the training period: nothing else is read
  const Windows& windows;  ///< of training
  Irregular irregular = Irregular::avoid;
};

struct ReferenceRow {
  Reference value;
  const char *name, *doc;
  LinearForecaster (*fit)(const FitData& data, const ReferenceOptions& options);
};
/// All references, from the plainest on.
[[nodiscard]] const std::vector<ReferenceRow>& references();
[[nodiscard]] LinearForecaster fit_reference(Reference reference, const FitData& data,
                                             const ReferenceOptions& options);

[[nodiscard]] bool is_left_out(const ReferenceRow& row, const ReferenceOptions& options);

/// Fit a reference that stands beside a model: where that cannot be done, none, and a warning that says why.
[[nodiscard]] std::optional<LinearForecaster> fit_beside(Reference reference, const FitData& data,
                                                         const ReferenceOptions& options);
/// Make the reference's forecasts of other windows, [n, out, modes]; none, too, where its climatology no
/// longer holds for them.
[[nodiscard]] std::optional<std::vector<double>> forecast_beside(Reference reference, const FitData& data,
                                                                 const ReferenceOptions& options,
                                                                 const Windows& windows);

/// The linear inverse model's propagator over `lag` steps: G = C(lag) C(0)^-1 of anomalies, [modes, modes].
///
/// Sums run over pairs of rows `lag` apart that no gap separates.
[[nodiscard]] std::vector<double> lim_propagator(const CoefficientSeries& anomalies, Rows rows, int lag,
                                                 Irregular irregular);

}  // namespace quintet::sequence
