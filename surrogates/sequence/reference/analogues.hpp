#pragma once

#include "surrogates/sequence/reference/predictive.hpp"
#include "surrogates/sequence/reference/references.hpp"

namespace quintet::sequence {

struct AnalogueOptions {
  int neighbours = 30;     ///< past states that are looked at
  double half_width = 30;  ///< of the season that they are of (days)
  double trend = 0;        ///< share of the linear trend in the climatology
};
void describe(Schema& schema, AnalogueOptions& options);

/// Forecasts by what followed similar states (analogues, Lorenz 1969): damped persistence and the mean of its
/// errors after the nearest states of training.
///
///     a(t + l) = damped(t + l) + sum_i w_i e_i(l)/sum_i w_i,
///
/// w_i = season_weight exp(-d_i^2/<d^2>), d the distance of states in units of each number's standard
/// deviation: the anomalies, and their mean over the window. The covariance is half that of the
/// neighbours' errors, half that of all errors of the season. Throws InputError: fewer training windows of a
/// season than neighbours.
[[nodiscard]] Forecaster fit_analogues(const FitData& data, const ReferenceOptions& references,
                                       const AnalogueOptions& options);

}  // namespace quintet::sequence
