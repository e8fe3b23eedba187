#pragma once

#include <vector>

#include "surrogates/sequence/reference/predictive.hpp"

namespace quintet::sequence {

/// Where a day lies between two of the 24 times of the year.
struct SeasonPlace {
  int before = 0, after = 0;
  double share = 0;  ///< of the way from one to the next
};
[[nodiscard]] SeasonPlace season_place(double day);

/// Quantiles of a series by season: values that given shares of all values around a time of the year lie
/// below.
///
/// At each of 24 times of the year those of the days within `half_width` of it, in any year: after n of them
/// in ascending order, the one of number floor(share n). Between the times they are interpolated. Hobday et
/// al. (2016) take days within 5 and smooth over 31, which is about 20 days.
class SeasonalQuantiles {
 public:
  static constexpr int phases = SeasonalSpread::phases;
  static constexpr int least_values = 20;  ///< at a time of the year; with fewer there is no quantile: NaN
  static constexpr double usual_half_width = 20;  ///< days

  /// @param days [n] of the series
  explicit SeasonalQuantiles(const std::vector<double>& days, double half_width = usual_half_width);

  /// Quantiles of values [n], one each `stride` numbers, for shares in ascending order: [shares, phases].
  void of(const double* values, int stride, const std::vector<double>& shares, double* quantiles) const;
  /// Whether each time of the year has values enough.
  [[nodiscard]] bool are_known() const;

 private:
  std::vector<std::vector<int>> rows_;  ///< [phases]
};

}  // namespace quintet::sequence
