#include "physics/ocean/time_axis.hpp"

#include "io/log/error.hpp"
#include "io/netcdf/netcdf_file.hpp"

namespace quintet::ocean {

TimeAxis time_axis(const std::vector<double>& values, const TimeUnits& units, const std::string& what) {
  TimeAxis axis{{}, units.calendar()};
  for (std::size_t i = 0; i < values.size(); ++i) {
    axis.days.push_back(units.day(values[i]));
    if (i == 0) continue;
    const double before = axis.days[i - 1], now = axis.days[i];
    QUINTET_CHECK(now != before, "{}: {} comes twice, as times {} and {} (counted from 0)", what,
                  date_text(now), i - 1, i);
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
  const TimeUnits counted(*units, variable.text("calendar").value_or(""), what);
  const auto values = file.read_unpacked(variable);
  return time_axis(values, counted, what);
}

}  // namespace quintet::ocean
