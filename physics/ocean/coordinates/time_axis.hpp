#pragma once

#include <string>
#include <vector>

#include "io/files/reading.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::netcdf {
class File;
}

namespace quintet::ocean {

/// Times of a file.
struct TimeAxis {
  std::vector<double> days;  ///< since 1800-01-01, ascending
  std::string calendar;
  Reading reading;
};

/// Least step as a share of the usual one; a shorter step is the same time twice, up to round-off.
constexpr double twice_below = 1e-3;

/// Values of a file as dates. Throws InputError, `what` in front: a value that is not a date, dates that do
/// not ascend or come twice, exactly or up to round-off.
[[nodiscard]] TimeAxis time_axis(const std::vector<double>& values, const TimeUnits& units,
                                 const std::string& what);

/// The coordinate variable of a netCDF dimension as dates. Throws InputError that names the file.
[[nodiscard]] TimeAxis read_time_axis(const netcdf::File& file, const std::string& dimension);

}  // namespace quintet::ocean
