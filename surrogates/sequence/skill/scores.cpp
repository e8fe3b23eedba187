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
                   const SampleShape& shape) {
  check_sizes(truth, forecast, shape);
  const std::size_t outputs = std::int64_t{shape.out} * shape.modes;
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
  if (!truncation.empty() &&
      (truncation.squares.size() * shape.modes != shape.size() ||
       truncation.dates.size() != truncation.squares.size() ||
       truncation.gram.size() != static_cast<std::size_t>(truncation.n_dates) * truncation.n_dates ||
       truncation.products.size() != shape.size()))
    throw InternalError("what modes leave out is of other windows");
}

/// c e of a window and lead.
double product(const Truncation& truncation, std::size_t row, const std::vector<double>& e) {
  double sum = 0;
  for (std::size_t m = 0; m < e.size(); ++m) sum += truncation.products[row * e.size() + m] * e[m];
  return sum;
}

/// Values [n, width] about their mean over windows.
std::vector<double> about_mean(std::vector<double> values, int n) {
  const auto width = values.size() / n;
  std::vector<double> mean(width, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) mean[i % width] += values[i] / n;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= mean[i % width];
  return values;
}

/// sum_i c_i |r_i - r_s|^2 of what the modes leave out, of each sample s at a lead (0 first).
std::vector<double> rest_variations(const Truncation& truncation, int n, int out, int lead,
                                    const Bootstrap& bootstrap) {
  const auto date_of = [&](int i) { return truncation.dates[std::int64_t{i} * out + lead]; };
  std::vector<double> gram(std::int64_t{n} * n), mean(n, 0.0), squares(n);
  double all = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double one = truncation.gram[std::int64_t{date_of(i)} * truncation.n_dates + date_of(j)];
      gram[std::int64_t{i} * n + j] = one;
      mean[i] += one / n;
    }
  for (int i = 0; i < n; ++i) all += mean[i] / n;
  // Products of r_i - <r>, of which little is lost by differences.
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) gram[std::int64_t{i} * n + j] += all - mean[i] - mean[j];
  for (int i = 0; i < n; ++i) squares[i] = gram[std::int64_t{i} * n + i];
  auto sums = bootstrap.sums(squares, 1);
  const auto of_means = bootstrap.squares_of_sums(gram);
  for (std::size_t sample = 0; sample < sums.size(); ++sample) sums[sample] -= of_means[sample] / n;
  return sums;
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
  std::vector<double> squares(std::int64_t{shape.n} * shape.out), error(shape.modes);
  for (std::size_t row = 0; row < squares.size(); ++row) {
    for (int m = 0; m < shape.modes; ++m)
      error[m] = forecast[row * shape.modes + m] - truth[row * shape.modes + m];
    squares[row] = metric.square(error.data());
    if (!truncation.empty()) squares[row] += truncation.squares[row] - 2 * product(truncation, row, error);
  }
  return squares;
}

std::vector<double> summed_variations(const std::vector<double>& truth, const SampleShape& shape,
                                      const Metric& metric, const Bootstrap& bootstrap,
                                      const Truncation& truncation) {
  check_sizes(truth, truth, shape);
  check_truncation(truncation, shape);
  const int n = shape.n, out = shape.out, modes = shape.modes;
  // About the mean of all windows first, so that differences of squares lose no digits.
  const auto z = about_mean(truth, n), c = about_mean(truncation.products, n);
  const auto of_truth = bootstrap.sums(z, out * modes);
  const auto of_products = truncation.empty() ? std::vector<double>{} : bootstrap.sums(c, out * modes);
  std::vector<double> squares(std::int64_t{n} * out);
  for (std::size_t row = 0; row < squares.size(); ++row) {
    squares[row] = metric.square(z.data() + row * modes);
    for (int m = 0; !truncation.empty() && m < modes; ++m)
      squares[row] += 2 * c[row * modes + m] * z[row * modes + m];
  }
  auto sums = bootstrap.sums(squares, out);
  // sum_i c_i z_i^2 - (sum_i c_i z_i)^2/n
  for (std::size_t row = 0; row < sums.size(); ++row) {
    const double* sum = of_truth.data() + row * modes;
    double square = metric.square(sum);
    for (int m = 0; !truncation.empty() && m < modes; ++m)
      square += 2 * of_products[row * modes + m] * sum[m];
    sums[row] -= square / n;
  }
  for (int lead = 0; !truncation.empty() && lead < out; ++lead) {
    const auto of_rest = rest_variations(truncation, n, out, lead, bootstrap);
    for (std::size_t sample = 0; sample < of_rest.size(); ++sample)
      sums[sample * out + lead] += of_rest[sample];
  }
  return sums;
}

double rmse(const std::vector<double>& squares, int n, int out, Leads leads) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int lead = leads.first - 1; lead < leads.last; ++lead) sum += squares[std::int64_t{i} * out + lead];
  return std::sqrt(sum / n / (leads.last - leads.first + 1));
}

std::vector<double> anomaly_products(const std::vector<double>& truth, const std::vector<double>& forecast,
                                     const std::vector<double>& climatology, const SampleShape& shape,
                                     const Metric& metric, const Truncation& truncation) {
  check_sizes(truth, forecast, shape);
  check_truncation(truncation, shape);
  const std::size_t rows = std::int64_t{shape.n} * shape.out, modes = shape.modes;
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

}  // namespace quintet::sequence
