#include "surrogates/sequence/hindcast/sea/seasonal_quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace quintet::sequence {

SeasonPlace season_place(double day) {
  constexpr int n = SeasonalQuantiles::phases;
  double place = std::fmod(day, year_days) / year_days * n;
  if (place < 0) place += n;
  const int before = static_cast<int>(place) % n;
  return {before, (before + 1) % n, place - std::floor(place)};
}

SeasonalQuantiles::SeasonalQuantiles(const std::vector<double>& days, double half_width) : rows_(phases) {
  for (int phase = 0; phase < phases; ++phase)
    for (std::size_t row = 0; row < days.size(); ++row)
      if (std::abs(std::remainder(days[row] - phase * year_days / phases, year_days)) <= half_width)
        rows_[phase].push_back(row);
}

bool SeasonalQuantiles::are_known() const {
  return std::all_of(rows_.begin(), rows_.end(),
                     [](const std::vector<int>& rows) { return rows.size() >= least_values; });
}

void SeasonalQuantiles::of(const double* values, int stride, const std::vector<double>& shares,
                           double* quantiles) const {
  std::vector<double> own;
  for (int phase = 0; phase < phases; ++phase) {
    own.clear();
    for (const int row : rows_[phase]) own.push_back(values[std::int64_t{row} * stride]);
    auto begin = own.begin();
    for (std::size_t k = 0; k < shares.size(); ++k) {
      double& quantile = quantiles[k * phases + phase];
      quantile = std::numeric_limits<double>::quiet_NaN();
      if (own.size() < least_values) continue;
      const std::ptrdiff_t number = shares[k] * static_cast<double>(own.size());
      const auto at = own.begin() + std::min(number, std::ssize(own) - 1);
      std::nth_element(begin, at, own.end());
      quantile = *at;
      begin = at;  // all before it are smaller
    }
  }
}

}  // namespace quintet::sequence
