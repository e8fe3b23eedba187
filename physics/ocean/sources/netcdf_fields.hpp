#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/files/reading.hpp"
#include "io/netcdf/unpacking.hpp"
#include "physics/ocean/coordinates/grid.hpp"

namespace quintet::netcdf {
class File;
}

namespace quintet::ocean {

/// A variable of a CF netCDF file on latitudes and longitudes, over time or not, in our order of both.
///
/// Axes are known by the units or the standard name of their coordinates; dimensions of one element (a level)
/// are passed over. Errors: InputError that names the file: no such variable, a grid that is not of latitudes
/// and longitudes.
class NetcdfFields {
 public:
  /// @param was_checked the file was opened by this before, and has not changed since
  NetcdfFields(const std::string& path, const std::string& variable,
               const netcdf::UnpackingOptions& options = {}, bool was_checked = false);

  [[nodiscard]] const OceanGrid& grid() const { return grid_; }
  [[nodiscard]] int n_times() const { return n_times_; }                     ///< 1 without a time axis
  [[nodiscard]] const std::string& time_dimension() const { return time_; }  ///< "" without a time axis
  [[nodiscard]] const netcdf::File& file() const { return *file_; }
  [[nodiscard]] const std::string& units() const { return units_; }  ///< as the file says
  [[nodiscard]] const Reading& reading() const { return reading_; }
  /// Unpacked values [n, lat, lon] from a time on, NaN for missing ones.
  [[nodiscard]] std::vector<double> read(int first, int n) const;

 private:
  void note_what_is_left(const std::string& variable);

  std::shared_ptr<const netcdf::File> file_;
  std::string variable_, time_, units_;
  OceanGrid grid_;
  int n_times_ = 1;
  int at_time_ = -1, at_latitude_ = -1, at_longitude_ = -1;  ///< numbers of dimensions
  std::vector<std::size_t> latitude_source_, longitude_source_;
  bool in_order_ = false;  ///< the file has our order of all
  netcdf::Unpacking unpacking_;
  Reading reading_;
};

}  // namespace quintet::ocean
