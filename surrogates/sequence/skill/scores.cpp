#include "surrogates/sequence/skill/scores.hpp"

#include <cmath>
#include <limits>

#include "io/log/error.hpp"

namespace quintet::sequence {

namespace {

void check_sizes(const std::vector<double>& truth, const std::vector<double>& forecast,
                 const SampleShape& shape) {
  if (truth.size() != shape.size() || forecast.size() != shape.size() || shape.n < 1)
    throw InternalError("forecasts and truth have other shapes");
}

/// Sums of squares of errors and of the truth about its mean, of each output.
struct Squares {
  std::vector<double> error, variation;
};

Squares squares_of(const std::vector<double>& truth, const std::vector<double>& forecast,
                   const SampleShape& shape, const double* counts) {
  check_sizes(truth, forecast, shape);
  const int outputs = shape.out * shape.modes;
  Squares squares{std::vector<double>(outputs, 0.0), std::vector<double>(outputs, 0.0)};
  std::vector<double> mean(outputs, 0.0);
  double total = 0;
  for (int i = 0; i < shape.n; ++i) {
    const double count = counts != nullptr ? counts[i] : 1;
    total += count;
    for (int o = 0; o < outputs; ++o) mean[o] += count * truth[static_cast<std::size_t>(i) * outputs + o];
  }
  for (auto& value : mean) value /= total;
  for (int i = 0; i < shape.n; ++i) {
    const double count = counts != nullptr ? counts[i] : 1;
    if (count == 0) continue;
    for (int o = 0; o < outputs; ++o) {
      const double y = truth[static_cast<std::size_t>(i) * outputs + o],
                   p = forecast[static_cast<std::size_t>(i) * outputs + o];
      squares.error[o] += count * (y - p) * (y - p);
      squares.variation[o] += count * (y - mean[o]) * (y - mean[o]);
    }
  }
  return squares;
}

double ratio_or_nan(double part, double whole) {
  return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double r2_uniform(const std::vector<double>& truth, const std::vector<double>& forecast,
                  const SampleShape& shape, const double* counts) {
  const auto squares = squares_of(truth, forecast, shape, counts);
  double sum = 0;
  for (std::size_t o = 0; o < squares.error.size(); ++o)
    sum += 1 - ratio_or_nan(squares.error[o], squares.variation[o]);
  return sum / static_cast<double>(squares.error.size());
}

double r2_pooled(const std::vector<double>& truth, const std::vector<double>& forecast,
                 const SampleShape& shape, const double* counts) {
  const auto squares = squares_of(truth, forecast, shape, counts);
  double error = 0, variation = 0;
  for (std::size_t o = 0; o < squares.error.size(); ++o)
    error += squares.error[o], variation += squares.variation[o];
  return 1 - ratio_or_nan(error, variation);
}

std::vector<double> squared_errors(const std::vector<double>& truth, const std::vector<double>& forecast,
                                   const SampleShape& shape, const Metric& metric) {
  check_sizes(truth, forecast, shape);
  std::vector<double> squares(static_cast<std::size_t>(shape.n) * shape.out), error(shape.modes);
  for (std::size_t row = 0; row < squares.size(); ++row) {
    for (int m = 0; m < shape.modes; ++m)
      error[m] = forecast[row * shape.modes + m] - truth[row * shape.modes + m];
    squares[row] = metric.square(error.data());
  }
  return squares;
}

double rmse(const std::vector<double>& squares, int n, int out, Leads leads, const double* counts) {
  double sum = 0, total = 0;
  for (int i = 0; i < n; ++i) {
    const double count = counts != nullptr ? counts[i] : 1;
    for (int lead = leads.first - 1; lead < leads.last; ++lead) {
      sum += count * squares[static_cast<std::size_t>(i) * out + lead];
      total += count;
    }
  }
  return std::sqrt(sum / total);
}

double anomaly_correlation(const std::vector<double>& truth, const std::vector<double>& forecast,
                           const std::vector<double>& climatology, const SampleShape& shape,
                           const Metric& metric, int lead, const double* counts) {
  check_sizes(truth, forecast, shape);
  std::vector<double> y(shape.modes), p(shape.modes), sum(shape.modes);
  double yy = 0, pp = 0, py = 0;
  for (int i = 0; i < shape.n; ++i) {
    const double count = counts != nullptr ? counts[i] : 1;
    const auto row = (static_cast<std::size_t>(i) * shape.out + lead - 1) * shape.modes;
    for (int m = 0; m < shape.modes; ++m) {
      y[m] = truth[row + m] - climatology[row + m];
      p[m] = forecast[row + m] - climatology[row + m];
      sum[m] = y[m] + p[m];
    }
    const double y_square = metric.square(y.data()), p_square = metric.square(p.data());
    yy += count * y_square, pp += count * p_square;
    py += count * (metric.square(sum.data()) - y_square - p_square) / 2;
  }
  return ratio_or_nan(py, std::sqrt(pp * yy));
}

}  // namespace quintet::sequence
