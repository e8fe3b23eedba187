#pragma once

#include <string>
#include <vector>

namespace quintet::sequence {

/// How far apart the times of a series lie: a number of days, or of calendar months (28 to 31 days each).
struct TimeStep {
  double days = 7;  ///< where months is 0
  int months = 0;

  /// The date n steps after a day (days since 1800-01-01). Of months: the same day of the month, or its last
  /// one.
  [[nodiscard]] double advance(double day, int n) const;
  /// Whether `later` follows `earlier` by this step: to 2 % of it, or three days of a month.
  [[nodiscard]] bool joins(double earlier, double later) const;
  [[nodiscard]] std::string text() const;  ///< "7 days", "1 month"
  bool operator==(const TimeStep&) const = default;
};

/// The step that most neighbours of a series have: calendar months where the dates say so, else the median
/// (days). Throws InputError for fewer than two times.
[[nodiscard]] TimeStep time_step_of(const std::vector<double>& time);

}  // namespace quintet::sequence
