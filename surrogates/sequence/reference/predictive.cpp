#include "surrogates/sequence/reference/predictive.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace quintet::sequence {

double season_weight(double days_apart, double half_width) {
  const double d = std::abs(std::remainder(days_apart, year_days));
  return d < 2 * half_width ? 0.5 * (1 + std::cos(std::numbers::pi * d / (2 * half_width))) : 0;
}

SeasonalSpread::SeasonalSpread(const std::vector<double>& errors, const std::vector<double>& starts, int out,
                               int modes, double half_width)
    : size_(std::int64_t{out} * modes * modes), values_(phases * size_, 0.0) {
  for (int phase = 0; phase < phases; ++phase) {
    double* sum = values_.data() + phase * size_;
    double total = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const double weight = season_weight(starts[i] - phase * year_days / phases, half_width);
      if (weight == 0) continue;
      total += weight;
      for (int lead = 0; lead < out; ++lead) {
        const double* e = errors.data() + (i * out + lead) * modes;
        for (int m = 0; m < modes; ++m)
          for (int n = 0; n < modes; ++n)
            sum[(std::int64_t{lead} * modes + m) * modes + n] += weight * e[m] * e[n];
      }
    }
    for (std::size_t j = 0; j < size_; ++j) sum[j] = total > 0 ? sum[j] / total : std::nan("");
  }
}

const double* SeasonalSpread::at(double day) const {
  const double share = std::fmod(day, year_days) / year_days;
  const int phase = static_cast<int>(std::lround(share * phases)) % phases;
  return values_.data() + (phase < 0 ? phase + phases : phase) * size_;
}

std::vector<double> starts_of(const CoefficientSeries& series, const Windows& windows) {
  std::vector<double> days;
  for (const int origin : windows.origins) days.push_back(series.time[origin]);
  return days;
}

}  // namespace quintet::sequence
