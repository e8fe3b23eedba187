#pragma once

#include <vector>

#include "surrogates/sequence/skill/bootstrap.hpp"
#include "surrogates/sequence/skill/metric.hpp"

namespace quintet::sequence {

/// Shape of forecasts and truth: [n, out, modes].
struct SampleShape {
  int n = 0, out = 0, modes = 0;
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(n) * out * modes; }
};

/// R2 as the SC20 paper (and scikit-learn's uniform average) defines it: the mean over the out x modes
/// outputs o of
///
///     1 - sum_i c_i (y_io - p_io)^2/sum_i c_i (y_io - <y_o>)^2,
///
/// each output as important as any other. counts c [n], or none. An output that never varies makes it NaN.
[[nodiscard]] double r2_uniform(const std::vector<double>& truth, const std::vector<double>& forecast,
                                const SampleShape& shape, const double* counts = nullptr);
/// R2 pooled over outputs, as most people define it: sums of both squares over all outputs, each about its
/// own mean, then the ratio; outputs that vary much count much.
[[nodiscard]] double r2_pooled(const std::vector<double>& truth, const std::vector<double>& forecast,
                               const SampleShape& shape, const double* counts = nullptr);

/// Squares of errors in a metric: [n, out] (degC^2).
[[nodiscard]] std::vector<double> squared_errors(const std::vector<double>& truth,
                                                 const std::vector<double>& forecast,
                                                 const SampleShape& shape, const Metric& metric);

/// Leads [first, last] of squared errors (1 first), as one root mean square.
struct Leads {
  int first = 1, last = 1;
};
[[nodiscard]] double rmse(const std::vector<double>& squares, int n, int out, Leads leads,
                          const double* counts = nullptr);

/// Anomaly correlation of one lead, pooled over modes: sum p' G y'/sqrt(sum p' G p' sum y' G y') of anomalies
/// about `climatology` [n, out, modes]; NaN where the forecast is the climatology.
[[nodiscard]] double anomaly_correlation(const std::vector<double>& truth,
                                         const std::vector<double>& forecast,
                                         const std::vector<double>& climatology, const SampleShape& shape,
                                         const Metric& metric, int lead, const double* counts = nullptr);

}  // namespace quintet::sequence
