#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/files/reading.hpp"
#include "io/hdf5/file.hpp"
#include "io/netcdf/unpacking.hpp"
#include "physics/ocean/coordinates/grid.hpp"
#include "physics/ocean/sources/variable_names.hpp"

namespace quintet::ocean {

class FieldLayout;

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
  std::string section = "fields";  ///< of the input file, for messages
};

/// What is known of fields over time before any value is read.
struct FieldFacts {
  std::string name;  ///< for messages: the file's path
  VariableNames variable;
  OceanGrid grid;
  std::vector<double> days;  ///< since 1800-01-01, ascending
  std::string calendar = "standard";
  std::string units = "degree_Celsius";
  FieldQuantity quantity = FieldQuantity::temperature;
  bool from_kelvin = false;        ///< 273.15 was taken off
  Reading reading;                 ///< what was turned, converted, taken for granted, left
  std::string section = "fields";  ///< where its keys are in the input file, for messages
};

/// Fields over time on one grid: a file, many of them, means of them, or a model that makes them as they are
/// asked for.
class FieldSource : public FieldFacts {
 public:
  FieldSource() = default;
  explicit FieldSource(FieldFacts facts) : FieldFacts(std::move(facts)) {}
  virtual ~FieldSource() = default;
  FieldSource(const FieldSource&) = delete;
  FieldSource& operator=(const FieldSource&) = delete;
  /// Values [n, lat, lon] from a time on, NaN for missing ones. Each process asks for its own.
  [[nodiscard]] virtual std::vector<double> read(int first, int n) const = 0;
  /// The values of read() where several threads may ask for them at once; nothing where they may not, or
  /// where there is something to say.
  [[nodiscard]] virtual std::optional<std::vector<double>> read_apart(int /*first*/, int /*n*/) const {
    return std::nullopt;
  }
  /// Close what read() has opened; the next read() opens it again.
  virtual void close() const {}
  /// The file that a time comes from, for messages.
  [[nodiscard]] virtual std::string place(int /*time*/) const { return name; }
  /// Names what a time is made of: files by name, size and date of change, and how. Nothing where no file is
  /// behind it, so that it cannot be told whether it is still the same.
  [[nodiscard]] virtual std::optional<std::uint64_t> stamp(int /*time*/) const { return std::nullopt; }
  /// Memory that read() takes on top of the values that it returns (bytes).
  [[nodiscard]] virtual double bytes_of_reading() const { return 3 * 8.0 * grid.size(); }

  std::vector<std::string> notes;  ///< what the user should know of the whole
};

/// A file of fields that was looked at.
struct FieldFile {
  FieldFacts facts;
  bool is_series = false;    ///< fields over time of ours, else netCDF or zarr
  std::uint64_t bytes = 0;   ///< of the file, or of all of a folder
  std::int64_t changed = 0;  ///< newest date of change, in ticks of the file system
  /// How the fields of a netCDF-4 file lie in it, and where: they can then be read past the library. Files
  /// share a layout; of one that was only named by its mark it is null.
  std::shared_ptr<const FieldLayout> layout;
  std::uint64_t layout_mark = 0;  ///< FieldLayout::mark(); 0: they are read by the library
  std::vector<hdf5::ChunkMap::Place> places;
};

/// Name of a file without its folder.
[[nodiscard]] std::string file_name(const std::string& path);
/// Return the path from the root: files of one name, size and date in two folders are two files.
[[nodiscard]] std::string full_name(const std::string& path);
/// Size and date of change of a file or folder. Throws InputError that names it.
void take_size(const std::string& path, FieldFile& file);
/// Look at a file of any kind that is read here: netCDF of CF, or fields over time of ours (HDF5, axes lat
/// and lon, time_units as in CF), and close it again. Kelvin becomes degrees Celsius, those of anomalies as
/// they are. Throws InputError that names the file: among others, no units.
/// @param alike another file of the record, whose format this one most likely has
[[nodiscard]] FieldFile look_at_fields(const std::string& path, const std::string& variable,
                                       const FieldOptions& options = {}, const FieldFile* alike = nullptr);
/// A source of the file, which is opened when it is read.
[[nodiscard]] std::unique_ptr<FieldSource> source_of(FieldFile file, const std::string& variable,
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
