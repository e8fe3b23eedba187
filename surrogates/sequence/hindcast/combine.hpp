#pragma once

#include <string>
#include <vector>

#include "surrogates/sequence/hindcast/hindcast.hpp"
#include "surrogates/sequence/skill/bootstrap.hpp"

/// What forecasts after earlier origins teach those after later ones. All that is learned at an origin comes
/// from windows all of whose dates lie before it.
namespace quintet::sequence {

/// Forecasts after several origins with the names of their methods.
struct Hindcasts {
  std::vector<std::string> names;
  std::vector<OriginForecasts> origins;
  [[nodiscard]] int find(const std::string& name) const;  ///< -1: none of that name
};

/// The leading windows of an origin that have come before a later one: all of their dates lie before it.
[[nodiscard]] int windows_known_at(const OriginForecasts& earlier, double date);

/// Whether a method forecasts a window: all of its numbers are finite. It does not where it could not be
/// fitted.
[[nodiscard]] bool has_forecast(const OriginForecasts& one, int method, int window);

/// Scale the spread of a method so that at earlier origins it was as large as its errors, for each lead and
/// mode: covariance(m, n) f_m f_n, f_m^2 = <e_m^2>/<covariance(m, m)>, within 1/4 and 4. Where fewer than
/// `least` windows that it forecasts have come it stays.
void calibrate(Hindcasts& hindcasts, int method, int least);

/// Weights w >= 0, sum w = 1, [k], that minimise w^T Q w + pull (tr Q/k) |w - 1/k|^2: Q [k, k] the mean
/// products of errors of k methods. Those of a convex problem, by accelerated projected gradients.
[[nodiscard]] std::vector<double> mixture_weights(const std::vector<double>& q, int k, double pull);

struct MixtureWeights {
  double date = 0;              ///< of the origin
  bool learned = false;         ///< false: all alike, for want of earlier windows
  std::vector<double> weights;  ///< [out, parts] of the first window; NaN: that part does not forecast it
};
/// Add a method `name`: a mean of others, weighted for each lead by mixture_weights() over all windows that
/// have come, errors measured over all points. Its covariance is that of the mixed distributions,
/// sum_k w_k (C_k + d_k d_k^T), d_k = mean_k - mean. Returns the weights at each origin.
///
/// At each window it is of the parts that forecast it, with what the windows teach that all of these
/// forecast; all alike where that are fewer than `least`. NaN where none does.
std::vector<MixtureWeights> add_mixture(Hindcasts& hindcasts, const std::string& name,
                                        const std::vector<int>& parts, double pull, int least);

/// Whether a candidate stood in for its base at an origin, and why.
struct Earned {
  double date = 0;
  bool kept = false;
  Estimate gain;  ///< RMSE of the base minus the candidate's over all windows that have come
};
/// Add a method `name`: the candidate where at earlier origins its RMSE over all points and leads was lower
/// than the base's by more than two standard errors (bootstrap of blocks, three of them at least), else the
/// base. Windows count that both forecast. Where the candidate could not be fitted the base stands in.
/// Returns the decision at each origin.
std::vector<Earned> add_earned(Hindcasts& hindcasts, const std::string& name, int candidate, int base,
                               int block);

}  // namespace quintet::sequence
