#include "surrogates/sequence/reference/climatology.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "surrogates/sequence/reference/dense_algebra.hpp"

namespace quintet::sequence {

namespace {

constexpr double year = 365.2425;     // days
constexpr double decade = 10 * year;  // the trend is per decade

/// 1, cosines and sines, time in decades: [2 + 2 harmonics].
void functions_of(double day, double middle, int harmonics, double* values) {
  *values++ = 1;
  for (int h = 1; h <= harmonics; ++h) {
    const double phase = 2 * std::numbers::pi * h * std::fmod(day, year) / year;
    *values++ = std::cos(phase);
    *values++ = std::sin(phase);
  }
  *values = (day - middle) / decade;
}

}  // namespace

void describe(Schema& schema, ClimatologyOptions& options) {
  schema.integer("harmonics", options.harmonics, "Harmonics of the year of 365.2425 days")
      .at_least(0)
      .at_most(24);
  schema
      .number("trend", options.trend,
              "Share of the training period's linear trend that is carried on into forecasts: 1 all, 0 none")
      .at_least(0)
      .at_most(1);
  schema
      .number("valid_years", options.valid_years,
              "Years after training for which the climatology is taken to hold; absent: 10, in an evaluation "
              "those of the model. A forecast of later dates is refused, an evaluation leaves them out")
      .at_least(0);
}

Climatology::Climatology(const CoefficientSeries& series, Rows rows, const ClimatologyOptions& options)
    : harmonics_(options.harmonics), n_modes_(series.n_modes) {
  const int n = rows.size(), k = 2 + 2 * harmonics_;
  QUINTET_CHECK(n >= k,
                "a climatology of {} harmonics and a trend needs {} times, but training has {}; set "
                "references.climatology.harmonics lower, or train on a longer period",
                harmonics_, k, n);
  first_ = series.time[rows.begin], last_ = series.time[rows.end - 1];
  QUINTET_CHECK(
      harmonics_ == 0 || last_ - first_ > year,
      "a climatology needs more than a year of training, but {} to {} is {:.0f} days; train on a longer "
      "period, or set references.climatology.harmonics: 0",
      ocean::date_text(first_), ocean::date_text(last_), last_ - first_);
  valid_until_ = after(last_, options.valid_years.value_or(ClimatologyOptions::usual_validity));
  for (int t = rows.begin; t < rows.end; ++t) middle_ += series.time[t] / n;
  const int fitted = options.trend > 0 ? k : k - 1;  // the trend is the last function
  std::vector<double> x(std::int64_t{n} * fitted), functions(k);
  for (int t = 0; t < n; ++t) {
    functions_of(series.time[rows.begin + t], middle_, harmonics_, functions.data());
    std::copy_n(functions.begin(), fitted, x.begin() + std::int64_t{t} * fitted);
  }
  const std::vector<double> y(series.row(rows.begin), series.row(rows.begin) + std::int64_t{n} * n_modes_);
  values_ = least_squares(std::move(x), y, n, fitted, n_modes_, "climatology");
  values_.resize(std::int64_t{k} * n_modes_, 0.0);
  for (int m = 0; m < n_modes_; ++m) values_[std::int64_t{k - 1} * n_modes_ + m] *= options.trend;
}

Climatology::Climatology(int harmonics, int n_modes, double middle, double first, double last,
                         double valid_until, std::vector<double> values)
    : harmonics_(harmonics),
      n_modes_(n_modes),
      middle_(middle),
      first_(first),
      last_(last),
      valid_until_(valid_until),
      values_(std::move(values)) {
  const bool fits = harmonics >= 0 && harmonics < 1000 && n_modes > 0 &&
                    values_.size() == static_cast<std::size_t>(2 + 2 * harmonics) * n_modes;
  QUINTET_CHECK(fits, "a climatology of {} harmonics and {} modes has {} values", harmonics, n_modes,
                values_.size());
}

void Climatology::evaluate(double day, double* values) const {
  const int k = 2 + 2 * harmonics_;
  std::vector<double> functions(k);
  functions_of(day, middle_, harmonics_, functions.data());
  for (int m = 0; m < n_modes_; ++m) values[m] = 0;
  for (int i = 0; i < k; ++i)
    for (int m = 0; m < n_modes_; ++m) values[m] += functions[i] * values_[std::int64_t{i} * n_modes_ + m];
}

double Climatology::valid_years() const { return (valid_until_ - last_) / year; }
double Climatology::after(double day, double years) { return day + years * year; }

void Climatology::check_validity(double day) const {
  if (is_zero()) return;
  QUINTET_CHECK(day >= first_, "a forecast for {}, before the climatology's base period, {} to {}",
                ocean::date_text(day), ocean::date_text(first_), ocean::date_text(last_));
  QUINTET_CHECK(day <= valid_until_,
                "a forecast for {} is beyond the climatology's validity: base period {} to {}, valid until "
                "{} (references.climatology.valid_years); train again with newer data, or with more of "
                "these years",
                ocean::date_text(day), ocean::date_text(first_), ocean::date_text(last_),
                ocean::date_text(std::floor(valid_until_)));
}

CoefficientSeries anomalies(const CoefficientSeries& series, const Climatology& climatology) {
  auto result = series;
  std::vector<double> normal(series.n_modes);
  for (int t = 0; t < series.n_times(); ++t) {
    climatology.evaluate(series.time[t], normal.data());
    for (int m = 0; m < series.n_modes; ++m) result.row(t)[m] -= normal[m];
  }
  return result;
}

}  // namespace quintet::sequence
