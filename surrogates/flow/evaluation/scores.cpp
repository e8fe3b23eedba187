#include "surrogates/flow/evaluation/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "physics/kernels/rounded_root.hpp"

namespace quintet::flow {

void PointErrors::add(const RectilinearGrid& grid, std::span<const double> truth,
                      std::span<const double> prediction) {
  ++frames_;
  for (int i = 0; i < grid.size(0); ++i)
    for (int j = 0; j < grid.size(1); ++j) {
      const std::size_t k = std::int64_t{i} * grid.size(1) + j;
      const double weight = grid.weights(0)[i] * grid.weights(1)[j];
      const double error = prediction[k] - truth[k];
      square_ += weight * error * error;
      truth_ += weight * truth[k];
      truth_square_ += weight * truth[k] * truth[k];
      greatest_ = std::max(greatest_, std::abs(error));
    }
}

void PointErrors::merge(const PointErrors& other) {
  frames_ += other.frames_;
  square_ += other.square_;
  truth_ += other.truth_;
  truth_square_ += other.truth_square_;
  greatest_ = std::max(greatest_, other.greatest_);
}

PointErrors PointErrors::of(const std::array<double, n_sums>& sums, double greatest) {
  PointErrors errors;
  errors.frames_ = sums[0], errors.square_ = sums[1];
  errors.truth_ = sums[2], errors.truth_square_ = sums[3], errors.greatest_ = greatest;
  return errors;
}

double PointErrors::rms() const { return std::sqrt(square_ / frames_); }
double PointErrors::truth_rms() const { return std::sqrt(truth_square_ / frames_); }
double PointErrors::truth_deviation() const {
  const double mean = truth_ / frames_;
  return rounded_root(truth_square_ / frames_ - mean * mean);
}

double PointErrors::scaled() const {
  return varies() ? rms() / truth_deviation() : std::numeric_limits<double>::quiet_NaN();
}

double vrmse_of_frame(std::span<const double> truth, std::span<const double> prediction) {
  constexpr double floor = 1e-7;  // of The Well
  const double n = truth.size();
  double mean = 0, square = 0, deviation = 0;
  for (const double value : truth) mean += value / n;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    square += (prediction[i] - truth[i]) * (prediction[i] - truth[i]);
    deviation += (truth[i] - mean) * (truth[i] - mean);
  }
  return std::sqrt(square / n / (deviation / (n - 1) + floor));
}

namespace {
constexpr double rounding_of_power = 1e-14;  // single precision, squared
}

double right_up_to(std::span<const double> wavenumbers, std::span<const double> truth,
                   std::span<const double> prediction, double tolerance) {
  double most = 0, sum = 0;
  for (std::size_t k = 1; k < truth.size(); ++k) sum += truth[k];
  for (std::size_t k = 1; k < truth.size(); ++k) {
    if (!(truth[k] > rounding_of_power * sum) ||
        !(std::abs(prediction[k] - truth[k]) <= tolerance * truth[k]))
      break;
    most = wavenumbers[k];
  }
  return most;
}

WavenumberRange middle_third(std::span<const double> wavenumbers, std::span<const double> spectrum) {
  double sum = 0;
  for (std::size_t k = 1; k < spectrum.size(); ++k) sum += spectrum[k];
  std::size_t last = 0;
  while (last + 1 < spectrum.size() && spectrum[last + 1] > rounding_of_power * sum) ++last;
  if (last == 0) return {0, 0};
  const double first = std::log(wavenumbers[1]), ratio = std::log(wavenumbers[last]) - first;
  return {std::exp(first + ratio / 3), std::exp(first + 2 * ratio / 3)};
}

double spectrum_log_error(std::span<const double> wavenumbers, std::span<const double> truth,
                          std::span<const double> prediction, const WavenumberRange& range) {
  double power = 0, sum = 0;
  for (std::size_t k = 1; k < truth.size(); ++k) power += truth[k];
  constexpr double least_share = 1e-6;
  const double least = least_share * power;
  int n = 0;
  for (std::size_t k = 1; k < truth.size(); ++k) {
    if (wavenumbers[k] <= range.from || wavenumbers[k] > range.to || !(truth[k] > least)) continue;
    sum += std::abs(std::log(std::max(prediction[k], least) / truth[k]));
    ++n;
  }
  return n == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / n;
}

PowerLaw fit_power_law(std::span<const double> wavenumbers, std::span<const double> spectrum,
                       const WavenumberRange& range) {
  int n = 0;
  double weights = 0, x_mean = 0, y_mean = 0, xx = 0, xy = 0;
  const auto each_mode = [&](auto&& add) {
    for (std::size_t k = 1; k < spectrum.size(); ++k)
      if (wavenumbers[k] >= range.from && wavenumbers[k] <= range.to)
        add(1 / wavenumbers[k], std::log(wavenumbers[k]), std::log(spectrum[k]));
  };
  each_mode([&](double weight, double x, double y) {
    ++n;
    weights += weight, x_mean += weight * x, y_mean += weight * y;
  });
  x_mean /= weights, y_mean /= weights;
  each_mode([&](double weight, double x, double y) {
    xx += weight * (x - x_mean) * (x - x_mean);
    xy += weight * (x - x_mean) * (y - y_mean);
  });
  const double exponent = xy / xx;
  if (n < 3 || !std::isfinite(exponent))
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  return {exponent, std::exp(y_mean - exponent * x_mean)};
}

SeriesScore series_score(std::span<const double> truth, std::span<const double> prediction) {
  const double n = truth.size();
  double mean = 0, size = 0, absolute = 0, square = 0, deviation = 0;
  for (const double value : truth) mean += value / n, size += std::abs(value);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = prediction[i] - truth[i], from_mean = truth[i] - mean;
    absolute += std::abs(error);
    square += error * error;
    deviation += from_mean * from_mean;
  }
  const bool constant = std::sqrt(deviation / n) <= constant_share * std::abs(mean);
  return {absolute / size, constant ? std::numeric_limits<double>::quiet_NaN() : 1 - square / deviation};
}

}  // namespace quintet::flow
