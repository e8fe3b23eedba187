#pragma once

#include <functional>
#include <vector>

#include "surrogates/sequence/windows/windows.hpp"

namespace quintet::sequence {

inline constexpr double year_days = 365.2425;  ///< of the seasons

/// Forecasts with their uncertainty: the normal distribution of each window and lead.
struct Predictive {
  std::vector<double> mean;        ///< [n, out, modes]
  std::vector<double> covariance;  ///< [n, out, modes, modes]
};

/// A fitted method: forecasts of windows of a series that may end with the last step seen.
using Forecaster = std::function<Predictive(const CoefficientSeries& known, const Windows& windows)>;

/// Weight of a time of the year for another one so many days away: (1 + cos(pi d/(2 h)))/2 for |d| < 2 h,
/// else 0; h is where it has fallen to a half.
[[nodiscard]] double season_weight(double days_apart, double half_width);

/// Spread of a method's errors by the season in which a forecast starts, at 24 times of the year: mean
/// products e_m e_n of errors of windows, weighted by season_weight().
class SeasonalSpread {
 public:
  static constexpr int phases = 24;
  /// @param errors [n, out, modes]; @param starts [n] last days seen; @param half_width (days)
  SeasonalSpread(const std::vector<double>& errors, const std::vector<double>& starts, int out, int modes,
                 double half_width);
  /// Covariance [out, modes, modes] of forecasts that start on a day.
  [[nodiscard]] const double* at(double day) const;
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::size_t size_;            ///< out modes^2
  std::vector<double> values_;  ///< [phases, out, modes, modes]
};

/// Last days that windows see.
[[nodiscard]] std::vector<double> starts_of(const CoefficientSeries& series, const Windows& windows);

}  // namespace quintet::sequence
