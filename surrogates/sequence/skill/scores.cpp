#include "surrogates/sequence/skill/scores.hpp"

#include <array>
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
                   const SampleShape& shape) {
  check_sizes(truth, forecast, shape);
  const auto outputs = static_cast<std::size_t>(shape.out) * shape.modes;
  Squares squares{std::vector<double>(outputs, 0.0), std::vector<double>(outputs, 0.0)};
  std::vector<double> mean(outputs, 0.0);
  for (std::size_t i = 0; i < truth.size(); ++i) mean[i % outputs] += truth[i] / shape.n;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto o = i % outputs;
    squares.error[o] += (truth[i] - forecast[i]) * (truth[i] - forecast[i]);
    squares.variation[o] += (truth[i] - mean[o]) * (truth[i] - mean[o]);
  }
  return squares;
}

void check_truncation(const Truncation& truncation, const SampleShape& shape) {
  if (!truncation.empty() && (truncation.squares.size() * shape.modes != shape.size() ||
                              truncation.variations.size() != truncation.squares.size() ||
                              truncation.products.size() != shape.size()))
    throw InternalError("what modes leave out is of other windows");
}

/// c e of a window and lead.
double product(const Truncation& truncation, std::size_t row, const std::vector<double>& e) {
  double sum = 0;
  for (std::size_t m = 0; m < e.size(); ++m) sum += truncation.products[row * e.size() + m] * e[m];
  return sum;
}

double ratio_or_nan(double part, double whole) {
  return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double r2_uniform_of(const double* errors, const double* variations, int outputs) {
  double sum = 0;
  for (int o = 0; o < outputs; ++o) sum += 1 - ratio_or_nan(errors[o], variations[o]);
  return sum / outputs;
}

double r2_pooled_of(const double* errors, const double* variations, int outputs) {
  double error = 0, variation = 0;
  for (int o = 0; o < outputs; ++o) error += errors[o], variation += variations[o];
  return 1 - ratio_or_nan(error, variation);
}

double r2_uniform(const std::vector<double>& truth, const std::vector<double>& forecast,
                  const SampleShape& shape) {
  const auto squares = squares_of(truth, forecast, shape);
  return r2_uniform_of(squares.error.data(), squares.variation.data(), shape.out * shape.modes);
}

double r2_pooled(const std::vector<double>& truth, const std::vector<double>& forecast,
                 const SampleShape& shape) {
  const auto squares = squares_of(truth, forecast, shape);
  return r2_pooled_of(squares.error.data(), squares.variation.data(), shape.out * shape.modes);
}

std::vector<double> squared_errors(const std::vector<double>& truth, const std::vector<double>& forecast,
                                   const SampleShape& shape, const Metric& metric,
                                   const Truncation& truncation) {
  check_sizes(truth, forecast, shape);
  check_truncation(truncation, shape);
  std::vector<double> squares(static_cast<std::size_t>(shape.n) * shape.out), error(shape.modes);
  for (std::size_t row = 0; row < squares.size(); ++row) {
    for (int m = 0; m < shape.modes; ++m)
      error[m] = forecast[row * shape.modes + m] - truth[row * shape.modes + m];
    squares[row] = metric.square(error.data());
    if (!truncation.empty()) squares[row] += truncation.squares[row] - 2 * product(truncation, row, error);
  }
  return squares;
}

std::vector<double> squared_variations(const std::vector<double>& truth, const SampleShape& shape,
                                       const Metric& metric, const Truncation& truncation) {
  check_sizes(truth, truth, shape);
  check_truncation(truncation, shape);
  const auto about_mean = [&](std::vector<double> values) {
    const auto width = static_cast<std::size_t>(shape.out) * shape.modes;
    std::vector<double> mean(width, 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) mean[i % width] += values[i] / shape.n;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= mean[i % width];
    return values;
  };
  const auto z = about_mean(truth), c = about_mean(truncation.products);
  const auto modes = static_cast<std::size_t>(shape.modes);
  std::vector<double> squares(static_cast<std::size_t>(shape.n) * shape.out);
  for (std::size_t row = 0; row < squares.size(); ++row) {
    squares[row] = metric.square(z.data() + row * modes);
    if (truncation.empty()) continue;
    squares[row] += truncation.variations[row];
    for (std::size_t m = 0; m < modes; ++m) squares[row] += 2 * c[row * modes + m] * z[row * modes + m];
  }
  return squares;
}

double rmse(const std::vector<double>& squares, int n, int out, Leads leads) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int lead = leads.first - 1; lead < leads.last; ++lead)
      sum += squares[static_cast<std::size_t>(i) * out + lead];
  return std::sqrt(sum / n / (leads.last - leads.first + 1));
}

std::vector<double> anomaly_products(const std::vector<double>& truth, const std::vector<double>& forecast,
                                     const std::vector<double>& climatology, const SampleShape& shape,
                                     const Metric& metric, const Truncation& truncation) {
  check_sizes(truth, forecast, shape);
  check_truncation(truncation, shape);
  const auto rows = static_cast<std::size_t>(shape.n) * shape.out,
             modes = static_cast<std::size_t>(shape.modes);
  std::vector<double> products(3 * rows), y(modes), p(modes), sum(modes);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t m = 0; m < modes; ++m) {
      y[m] = truth[row * modes + m] - climatology[row * modes + m];
      p[m] = forecast[row * modes + m] - climatology[row * modes + m];
      sum[m] = y[m] + p[m];
    }
    const double yy = metric.square(y.data()), pp = metric.square(p.data());
    products[3 * row] = (metric.square(sum.data()) - yy - pp) / 2;
    products[3 * row + 1] = pp;
    products[3 * row + 2] = yy;
    if (truncation.empty()) continue;
    products[3 * row] += product(truncation, row, p);
    products[3 * row + 2] += truncation.squares[row] + 2 * product(truncation, row, y);
  }
  return products;
}

double correlation_of(const double* sums) { return ratio_or_nan(sums[0], std::sqrt(sums[1] * sums[2])); }

double anomaly_correlation(const std::vector<double>& truth, const std::vector<double>& forecast,
                           const std::vector<double>& climatology, const SampleShape& shape,
                           const Metric& metric, int lead) {
  const auto products = anomaly_products(truth, forecast, climatology, shape, metric);
  std::array<double, 3> sums{};
  for (int i = 0; i < shape.n; ++i)
    for (int k = 0; k < 3; ++k)
      sums[k] += products[3 * (static_cast<std::size_t>(i) * shape.out + lead - 1) + k];
  return correlation_of(sums.data());
}

}  // namespace quintet::sequence
