#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/files/reading.hpp"
#include "io/netcdf/unpacking.hpp"
#include "physics/ocean/grid.hpp"

namespace quintet::ocean {

constexpr double celsius_zero = 273.15;  ///< K

/// Unit of a file's numbers.
enum class FieldUnits { from_file, degree_celsius, kelvin };

/// Whether numbers are temperatures or their differences from some mean, which have no zero to take off.
enum class FieldQuantity { from_file, temperature, anomaly };

/// User's facts about files, beside those in the files.
struct FieldOptions {
  FieldUnits units = FieldUnits::from_file;
  FieldQuantity quantity = FieldQuantity::from_file;
  netcdf::UnpackingOptions unpacking;
};

/// Fields over time on one grid: a file, or a model that makes them as they are asked for.
class FieldSource {
 public:
  virtual ~FieldSource() = default;
  /// Values [n, lat, lon] from a time on, NaN for missing ones. Each process asks for its own.
  [[nodiscard]] virtual std::vector<double> read(int first, int n) const = 0;
  /// Close what read() has opened; the next read() opens it again.
  virtual void close() const {}

  std::string name;  ///< for messages: the file's path
  OceanGrid grid;
  std::vector<double> days;  ///< since 1800-01-01, ascending
  std::string calendar = "standard";
  std::string units = "degree_Celsius";
  FieldQuantity quantity = FieldQuantity::temperature;
  bool from_kelvin = false;  ///< 273.15 was taken off
  Reading reading;           ///< what was turned, converted, taken for granted, left
};

/// A file of any kind that is read here: netCDF of CF, or fields over time of ours (HDF5, axes lat and lon,
/// time_units as in CF). Kelvin becomes degrees Celsius, those of anomalies as they are. The file is looked
/// at and closed again. Throws InputError that names the file: among others, no units.
[[nodiscard]] std::unique_ptr<FieldSource> open_field_source(const std::string& path,
                                                             const std::string& variable,
                                                             const FieldOptions& options = {});

/// Sea (1) and land (0) of a mask file, in our order.
struct MaskFile {
  OceanGrid grid;
  std::vector<std::uint8_t> sea;  ///< [lat, lon]
  Reading reading{};
};
/// @param sea_value the stored number that marks sea; all others, and missing ones, are land
/// Throws InputError that names the file: a mask that changes in time, one without sea.
[[nodiscard]] MaskFile read_mask(const std::string& path, const std::string& variable, double sea_value);

}  // namespace quintet::ocean
