#pragma once

#include <memory>
#include <optional>
#include <string>

#include "physics/ocean/sources/field_source.hpp"

namespace quintet::ocean {

/// Day on which weeks begin.
enum class Weekday { sunday, monday, tuesday, wednesday, thursday, friday, saturday };
struct WeekdayRow {
  Weekday value;
  const char* name;
  int first;  ///< of 1800, as days since 1800-01-01
};
inline constexpr WeekdayRow weekdays[] = {
    {Weekday::sunday, "sunday", 4},     {Weekday::monday, "monday", 5},
    {Weekday::tuesday, "tuesday", 6},   {Weekday::wednesday, "wednesday", 0},
    {Weekday::thursday, "thursday", 1}, {Weekday::friday, "friday", 2},
    {Weekday::saturday, "saturday", 3}};

/// Days of a period: its first, and the first after it.
struct Period {
  double begin, end;
};
[[nodiscard]] Period week_around(double day, Weekday begins);
[[nodiscard]] Period month_around(double day, Weekday begins);

/// Times that become one.
enum class MeanPeriod { none, week, month };
struct MeanPeriodRow {
  MeanPeriod value;
  const char* name;
  double shortest;  ///< days
  Period (*around)(double day, Weekday begins);
};
inline constexpr MeanPeriodRow mean_periods[] = {{MeanPeriod::none, "none", 0, nullptr},
                                                 {MeanPeriod::week, "week", 7, week_around},
                                                 {MeanPeriod::month, "month", 28, month_around}};

struct MeanOptions {
  MeanPeriod period = MeanPeriod::none;
  Weekday week_begins = Weekday::sunday;
  bool keep_gaps = false;  ///< periods without all of their times are left out; else they are refused
  std::optional<double> from{}, to{};  ///< first and last day that is used, both included
};

/// Means over weeks or calendar months, at their first days:
///   F(T, x) = 1/n sum_t f(t, x), t the n times within T.
///
/// A point that has no value at one of these times has none in the mean. A period has all of its times where
/// none is missing at its ends or between them, by the usual step; the first and the last one are left out
/// where they lack some, which a note tells. Times are those of the steps' beginnings or middles. Fields
/// are read one by one, and nothing else is held. Throws InputError: a period within that lacks times, times
/// of which there are less than two in a period, a calendar whose months are not ours, no whole period.
[[nodiscard]] std::unique_ptr<FieldSource> means_of(std::unique_ptr<FieldSource> source,
                                                    const MeanOptions& options);

}  // namespace quintet::ocean
