#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "surrogates/sequence/windows/windows.hpp"

namespace quintet::sequence {

struct ClimatologyOptions {
  int harmonics = 3;  ///< of the year
  double trend = 1;   ///< share of the fitted linear trend that is carried on; 0: none is fitted
  std::optional<double> valid_years;  ///< after its base period; absent: usual_validity, or what a model has
  static constexpr double usual_validity = 10;
};
void describe(Schema& schema, ClimatologyOptions& options);

/// Climatology of a day: for each mode m
///
///     c(t) = c0 + sum_h a_h cos(2 pi h t/Y) + b_h sin(2 pi h t/Y) + trend d (t - t0),    Y = 365.2425 d,
///
/// h = 1 ... harmonics, t0 the mean time of the base period, to which all of it is fitted by least squares.
class Climatology {
 public:
  /// Zero for `n_modes`, valid always: anomalies are the values themselves.
  explicit Climatology(int n_modes = 0) : n_modes_(n_modes), values_(2 * std::int64_t{n_modes}, 0.0) {}
  /// Fit to rows of a series. Throws InputError where they do not determine it (shorter than the year, too
  /// few).
  Climatology(const CoefficientSeries& series, Rows rows, const ClimatologyOptions& options);
  /// From a file. Throws InputError for another number of values.
  Climatology(int harmonics, int n_modes, double middle, double first, double last, double valid_until,
              std::vector<double> values);

  /// c(day) of all modes.
  void evaluate(double day, double* values) const;
  /// Throws InputError where a day lies before the base period or too long after it.
  void check_validity(double day) const;

  [[nodiscard]] int harmonics() const { return harmonics_; }
  [[nodiscard]] int n_modes() const { return n_modes_; }
  [[nodiscard]] bool is_zero() const { return last_ == 0; }
  [[nodiscard]] double middle() const { return middle_; }  ///< t0 (days since 1800-01-01)
  [[nodiscard]] double first() const { return first_; }    ///< the base period, from ...
  [[nodiscard]] double last() const { return last_; }      ///< ... to
  [[nodiscard]] double valid_until() const { return valid_until_; }
  /// Years from the end of the base period to valid_until(), and the day so many years after one.
  [[nodiscard]] double valid_years() const;
  [[nodiscard]] static double after(double day, double years);
  [[nodiscard]] const std::vector<double>& values() const { return values_; }  ///< [2 + 2 harmonics, modes]

 private:
  int harmonics_ = 0, n_modes_ = 0;
  double middle_ = 0, first_ = 0, last_ = 0, valid_until_ = 0;
  std::vector<double> values_;
};

/// values - climatology at each time of a series.
[[nodiscard]] CoefficientSeries anomalies(const CoefficientSeries& series, const Climatology& climatology);

}  // namespace quintet::sequence
