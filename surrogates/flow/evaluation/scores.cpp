#include "surrogates/flow/evaluation/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quintet::flow {

void PointErrors::add(const RectilinearGrid& grid, std::span<const double> truth,
                      std::span<const double> prediction) {
  ++frames_;
  for (int i = 0; i < grid.size(0); ++i)
    for (int j = 0; j < grid.size(1); ++j) {
      const std::size_t k = static_cast<std::size_t>(i) * grid.size(1) + j;
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
  return std::sqrt(std::max(0.0, truth_square_ / frames_ - mean * mean));
}

double PointErrors::scaled() const {
  return varies() ? rms() / truth_deviation() : std::numeric_limits<double>::quiet_NaN();
}

double vrmse_of_frame(std::span<const double> truth, std::span<const double> prediction) {
  constexpr double floor = 1e-7;  // of The Well
  const auto n = static_cast<double>(truth.size());
  double mean = 0, square = 0, deviation = 0;
  for (const double value : truth) mean += value / n;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    square += (prediction[i] - truth[i]) * (prediction[i] - truth[i]);
    deviation += (truth[i] - mean) * (truth[i] - mean);
  }
  return std::sqrt(square / n / (deviation / (n - 1) + floor));
}

double right_up_to(std::span<const double> wavenumbers, std::span<const double> truth,
                   std::span<const double> prediction, double tolerance) {
  constexpr double rounding = 1e-14;  // single precision, squared
  double most = 0, sum = 0;
  for (std::size_t k = 1; k < truth.size(); ++k) sum += truth[k];
  for (std::size_t k = 1; k < truth.size(); ++k) {
    if (!(truth[k] > rounding * sum) || !(std::abs(prediction[k] - truth[k]) <= tolerance * truth[k])) break;
    most = wavenumbers[k];
  }
  return most;
}

SeriesScore series_score(std::span<const double> truth, std::span<const double> prediction) {
  const auto n = static_cast<double>(truth.size());
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
