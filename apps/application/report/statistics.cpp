#include "apps/application/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace quintet {
namespace {

constexpr double least_time = 0.1;          // samples; of such as alternate
constexpr double least_independent = 10;    // samples
constexpr double rounding = 1e-14;          // of a mean, relative to it
constexpr std::size_t many_samples = 8192;  // the sum over lags costs N W

/// Means over consecutive bins: fewer samples with the same mean and the same error of it.
std::vector<double> binned(std::span<const double> samples) {
  const std::size_t width = 1 + (samples.size() - 1) / many_samples;
  std::vector<double> means;
  for (std::size_t i = 0; i + width <= samples.size(); i += width)
    means.push_back(std::accumulate(samples.begin() + i, samples.begin() + (i + width), 0.0) / width);
  return means;
}

double covariance(const std::vector<double>& deviations, std::size_t lag) {
  return std::inner_product(deviations.begin() + lag, deviations.end(), deviations.begin(), 0.0) /
         (deviations.size() - lag);
}

/// tau in samples; NaN if the correlation does not die away within half of the series.
double autocorrelation_time(const std::vector<double>& deviations, double variance) {
  const double n = deviations.size();
  double tau = -1, before = 2;
  for (std::size_t lag = 0; 2 * lag < deviations.size(); lag += 2) {
    const double pair = (covariance(deviations, lag) + covariance(deviations, lag + 1)) / variance;
    if (pair <= 0) return std::max(tau, least_time) * (1 + (2 * static_cast<double>(lag) + 1) / n);
    before = std::min(before, pair);
    tau += 2 * before;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Four digits, without an exponent as long as the number is of a size that people read.
std::string four_digits(double value) {
  const double size = std::abs(value);
  if (!(size >= 1000 && size < 1e7)) return fmt::format("{:.4g}", value);
  const double last = std::pow(10, std::floor(std::log10(size)) - 3);
  return fmt::format("{:.0f}", std::round(value / last) * last);
}

}  // namespace

Estimate estimate_mean(std::span<const double> samples) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (samples.empty()) return {nan, nan, nan};
  const double n = samples.size();
  Estimate result{std::accumulate(samples.begin(), samples.end(), 0.0) / n, nan, nan};
  if (n < least_independent) return result;
  std::vector<double> deviations = binned(samples);
  double middle = 0;
  for (int pass = 0; pass < 2; ++pass) {  // the second takes off what the sum of the first rounded
    const double off = std::accumulate(deviations.begin(), deviations.end(), 0.0) / deviations.size();
    for (double& value : deviations) value -= off;
    middle += off;
  }
  const double variance = covariance(deviations, 0);
  // Rounding of a sum of equal numbers does not count as scatter.
  if (variance <= rounding * rounding * middle * middle) return {result.mean, 0, 1};
  const double tau = autocorrelation_time(deviations, variance), n_bins = deviations.size();
  result.correlation = tau * n / n_bins;
  if (n_bins >= least_independent * tau) result.error = std::sqrt(variance * tau / n_bins);
  return result;
}

std::string text_with_error(double value, double error, const std::string& unit) {
  if (std::isnan(value)) return "-";  // there was nothing to take it from
  const std::string ending = unit.empty() ? "" : " " + unit;
  if (!std::isfinite(error) || error <= 0 || !std::isfinite(value))
    return fmt::format("{}{}", four_digits(value), ending);
  const int power = std::floor(std::log10(error));
  const int digits = error < 1.95 * std::pow(10, power) ? 2 : 1;
  const int decimals = digits - 1 - power;
  if (std::abs(value) >= 1e7 || decimals > 9)
    return fmt::format("{:.{}e} ± {:.0e}{}", value,
                       static_cast<int>(std::clamp(std::log10(std::abs(value) / error), 0.0, 15.0)), error,
                       ending);
  if (decimals >= 0) return fmt::format("{:.{}f} ± {:.{}f}{}", value, decimals, error, decimals, ending);
  const double last = std::pow(10, -decimals);
  return fmt::format("{:.0f} ± {:.0f}{}", std::round(value / last) * last, std::round(error / last) * last,
                     ending);
}

std::string text_with_error(const Estimate& estimate, const std::string& unit) {
  return text_with_error(estimate.mean, estimate.error, unit);
}

}  // namespace quintet
