#pragma once

#include <vector>

#include "surrogates/sequence/skill/bootstrap.hpp"
#include "surrogates/sequence/skill/metric.hpp"

namespace quintet::sequence {

/// Shape of forecasts and truth: [n, out, modes].
struct SampleShape {
  int n = 0, out = 0, modes = 0;
  [[nodiscard]] std::size_t size() const { return std::int64_t{n} * out * modes; }
};

/// R2 as the SC20 paper (and scikit-learn's uniform average) defines it: the mean over the out x modes
/// outputs o of
///
///     1 - sum_i (y_io - p_io)^2/sum_i (y_io - <y_o>)^2,
///
/// each output as important as any other. An output that never varies makes it NaN.
[[nodiscard]] double r2_uniform(const std::vector<double>& truth, const std::vector<double>& forecast,
                                const SampleShape& shape);
/// R2 pooled over outputs, as most people define it: sums of both squares over all outputs, each about its
/// own mean, then the ratio; outputs that vary much count much.
[[nodiscard]] double r2_pooled(const std::vector<double>& truth, const std::vector<double>& forecast,
                               const SampleShape& shape);

/// Both from sums of squares of each output: of errors, and of the truth about its mean.
[[nodiscard]] double r2_uniform_of(const double* errors, const double* variations, int outputs);
[[nodiscard]] double r2_pooled_of(const double* errors, const double* variations, int outputs);

/// Truncation: the part r(x) of the windows' fields outside their modes, in a metric with weights w over
/// points: r^T W r, and c_m = mode_m^T W r, for each window and lead. Empty: errors are within the space of
/// the modes.
struct Truncation {
  std::vector<double> squares;   ///< [n, out] (degC^2)
  std::vector<double> products;  ///< [n, out, modes] (degC)
  std::vector<int> dates;        ///< [n, out] the date that is forecast, a row of `gram`
  int n_dates = 0;
  std::vector<double> gram;  ///< [n_dates, n_dates] r^T W r of two dates (degC^2)
  [[nodiscard]] bool empty() const { return squares.empty(); }
};

/// Squares of errors in a metric: [n, out] (degC^2): e^T G e, and of whole fields e^T G e - 2 c e + r^T W r.
[[nodiscard]] std::vector<double> squared_errors(const std::vector<double>& truth,
                                                 const std::vector<double>& forecast,
                                                 const SampleShape& shape, const Metric& metric,
                                                 const Truncation& truncation = {});

/// Sums over windows of the squares of the truth about its mean at each lead, in a metric: [samples, out]
/// (degC^2). Each sample of a bootstrap has its own mean y_s, as it counts windows c_i times:
///
///     sum_i c_i (y_i - y_s)^T G (y_i - y_s),   and of whole fields the same of sum_m y_m mode_m(x) + r(x).
///
/// With sums of squared_errors() they give R2 of the metric's own series, of a region's points or of an
/// index: r2_uniform_of() of a sample's [out], the mean over leads.
[[nodiscard]] std::vector<double> summed_variations(const std::vector<double>& truth,
                                                    const SampleShape& shape, const Metric& metric,
                                                    const Bootstrap& bootstrap,
                                                    const Truncation& truncation = {});

/// Leads first ... last (1 the first).
struct Leads {
  int first = 1, last = 1;
};
/// Root mean square of squared errors [n, out] over windows and leads.
[[nodiscard]] double rmse(const std::vector<double>& squares, int n, int out, Leads leads);

/// p' G y', p' G p' and y' G y' of anomalies about `climatology` [n, out, modes]: [n, out, 3]. Of whole
/// fields p' G y' + c p', p' G p' and y' G y' + 2 c y' + r^T W r.
///
/// Their sums over windows give the anomaly correlation of a lead, pooled over modes.
[[nodiscard]] std::vector<double> anomaly_products(const std::vector<double>& truth,
                                                   const std::vector<double>& forecast,
                                                   const std::vector<double>& climatology,
                                                   const SampleShape& shape, const Metric& metric,
                                                   const Truncation& truncation = {});
/// sum p' G y'/sqrt(sum p' G p' sum y' G y'); NaN where the forecast is the climatology.
[[nodiscard]] double correlation_of(const double* product_sums);

}  // namespace quintet::sequence
