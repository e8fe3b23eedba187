#include "physics/ocean/coordinates/time_axis.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "io/netcdf/netcdf_file.hpp"

namespace quintet::ocean {

TimeAxis time_axis(const std::vector<double>& values, const TimeUnits& units, const std::string& what) {
  TimeAxis axis{{}, units.calendar(), {}};
  if (!units.note().empty()) axis.reading.assume(units.note());
  std::vector<double> steps;
  for (std::size_t i = 0; i < values.size(); ++i) {
    axis.days.push_back(units.day(values[i]));
    if (i > 0) steps.push_back(axis.days[i] - axis.days[i - 1]);
  }
  if (steps.empty()) return axis;
  auto sorted = steps;
  const auto middle = sorted.begin() + sorted.size() / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double least = twice_below * std::max(0.0, *middle);
  for (std::size_t i = 1; i < axis.days.size(); ++i) {
    const double before = axis.days[i - 1], now = axis.days[i];
    QUINTET_CHECK(std::abs(now - before) > least, "{}: {} comes twice, as times {} and {} (counted from 0){}",
                  what, date_text(now), i - 1, i,
                  now == before ? "" : fmt::format(", {:.1g} days apart", std::abs(now - before)));
    QUINTET_CHECK(now > before, "{}: times do not ascend: {} (time {}) comes after {}", what, date_text(now),
                  i, date_text(before));
  }
  return axis;
}

TimeAxis read_time_axis(const netcdf::File& file, const std::string& dimension) {
  const auto& variable = file.variable(dimension);
  const auto what = fmt::format("{}: {}", file.path(), dimension);
  QUINTET_CHECK(variable.shape.size() == 1 && variable.holds_numbers(), "{}: expected a list of numbers",
                what);
  const auto units = variable.text("units");
  QUINTET_CHECK(units, "{}: has no units; expected for example 'days since 1800-1-1 00:00:00'", what);
  const auto calendar = variable.text("calendar");
  const TimeUnits counted(*units, calendar.value_or(""), what);
  auto axis = time_axis(file.read_unpacked(variable), counted, what);
  if (!calendar) axis.reading.assume("dates of the standard calendar (the file does not say)");
  return axis;
}

}  // namespace quintet::ocean
