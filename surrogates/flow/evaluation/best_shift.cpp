#include "surrogates/flow/evaluation/best_shift.hpp"

#include <cmath>
#include <numbers>

namespace quintet::flow {
namespace {

/// C(s) = sum_k a_k cos(k q s) + b_k sin(k q s), q = 2 pi/length.
struct Correlation {
  std::vector<double> a, b;
  double q;

  /// The derivative of an order: 0, 1 or 2.
  [[nodiscard]] double operator()(double s, int order) const {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double wave = k * q, c = std::cos(wave * s), d = std::sin(wave * s);
      sum += order == 0   ? a[k] * c + b[k] * d
             : order == 1 ? wave * (b[k] * c - a[k] * d)
                          : -wave * wave * (a[k] * c + b[k] * d);
    }
    return sum;
  }

  /// Where C is greatest: the best of two places a point, then Newton's steps while they climb.
  [[nodiscard]] double peak(int n, double length) const {
    double best = 0, height = (*this)(0, 0);  // staying where it is comes first
    const double step = 0.5 * length / n;
    for (int i = 1; i < 2 * n; ++i) {
      const double s = step * (i <= n ? i : i - 2 * n), value = (*this)(s, 0);
      if (value > height * (1 + 1e-14)) best = s, height = value;
    }
    for (int i = 0; i < 20; ++i) {
      const double bend = (*this)(best, 2), move = bend < 0 ? -(*this)(best, 1) / bend : 0;
      if (!(std::abs(move) <= step) || std::abs(move) < 1e-14 * length) break;
      const double value = (*this)(best + move, 0);
      if (!(value > height)) break;
      best += move, height = value;
    }
    return best;
  }
};

}  // namespace

std::optional<int> ShiftSearch::axis_of(const RectilinearGrid& grid) {
  for (const int axis : {1, 0})
    if (LineSpectrum::possible(grid.axes()[axis])) return axis;
  return std::nullopt;
}

ShiftSearch::ShiftSearch(const RectilinearGrid& grid, int axis)
    : grid_(&grid), axis_(axis), spectrum_(grid.axes()[axis]) {}

BestShift ShiftSearch::best(const std::vector<std::span<const double>>& truth,
                            const std::vector<std::span<const double>>& prediction,
                            const std::vector<double>& scales) const {
  const int n = grid_->size(axis_), n_lines = grid_->size(1 - axis_);
  const double length = grid_->axes()[axis_].length();
  Correlation correlation{std::vector<double>(spectrum_.n_modes(), 0),
                          std::vector<double>(spectrum_.n_modes(), 0), 2 * std::numbers::pi / length};
  std::vector<std::vector<double>> of_truth, of_prediction;
  for (std::size_t f = 0; f < truth.size(); ++f) {
    of_truth.push_back(spectrum_.coefficients(lines_of(*grid_, truth[f], axis_)));
    of_prediction.push_back(spectrum_.coefficients(lines_of(*grid_, prediction[f], axis_)));
    for (int line = 0; line < n_lines; ++line) {
      const double weight = grid_->weights(1 - axis_)[line] / (scales[f] * scales[f]);
      const double *const t = &of_truth[f][line * n], *const p = &of_prediction[f][line * n];
      for (int c = 1; c < n; c += 2) {
        const int mode = (c + 1) / 2;
        const bool pair = c + 1 < n;  // the highest cosine of an even n is alone
        const double t_sine = pair ? t[c + 1] : 0, p_sine = pair ? p[c + 1] : 0;
        correlation.a[mode] += weight * (t[c] * p[c] + t_sine * p_sine);
        correlation.b[mode] += weight * (t_sine * p[c] - t[c] * p_sine);
      }
    }
  }
  BestShift result;
  result.shift = correlation.peak(n, length);
  for (std::size_t f = 0; f < truth.size(); ++f) {
    double sum = 0;
    for (int line = 0; line < n_lines; ++line) {
      const double *const t = &of_truth[f][line * n], *const p = &of_prediction[f][line * n];
      double squares = (p[0] - t[0]) * (p[0] - t[0]);
      for (int c = 1; c < n; c += 2) {
        const double angle = (c + 1) / 2 * correlation.q * result.shift, co = std::cos(angle),
                     si = std::sin(angle);
        const bool pair = c + 1 < n;
        const double p_sine = pair ? p[c + 1] : 0;
        const double cosine = p[c] * co - p_sine * si - t[c],
                     sine = pair ? p[c] * si + p_sine * co - t[c + 1] : 0;
        squares += cosine * cosine + sine * sine;
      }
      sum += grid_->weights(1 - axis_)[line] * squares / n;
    }
    result.squares.push_back(sum);
  }
  return result;
}

}  // namespace quintet::flow
