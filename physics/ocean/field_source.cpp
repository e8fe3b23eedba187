#include "physics/ocean/field_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>

#include "io/fields/field_series.hpp"
#include "io/files/input_file.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "physics/ocean/netcdf_fields.hpp"
#include "physics/ocean/time_axis.hpp"

namespace quintet::ocean {
namespace {

/// Names of units without case, blanks and underscores.
std::string plain(const std::string& text) {
  std::string name;
  for (const char c : text)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// What a variable's texts say of it: CF 1.11, 3.1.2 (units_metadata) and standard names.
FieldQuantity said_quantity(const netcdf::Variable& variable) {
  const auto metadata = variable.text("units_metadata").value_or("");
  if (metadata.find("difference") != std::string::npos) return FieldQuantity::anomaly;
  if (metadata.find("on_scale") != std::string::npos) return FieldQuantity::temperature;
  for (const char* name : {"standard_name", "long_name"})
    if (plain(variable.text(name).value_or("")).find("anomal") != std::string::npos)
      return FieldQuantity::anomaly;
  return FieldQuantity::from_file;
}

/// How units become those of the source; the number to add.
double offset_of(FieldSource& source, const std::string& given, FieldQuantity said,
                 const FieldOptions& options, const std::string& what) {
  const auto name = plain(given);
  const auto units = options.units;
  const bool celsius = name == "c" || name == "degc" || name == "degreec" || name == "degreesc" ||
                       name == "celsius" || name == "degreecelsius" || name == "degreescelsius";
  const bool kelvin = name == "k" || name == "degk" || name == "kelvin" || name == "kelvins" ||
                      name == "degreesk" || name == "degreek" || name == "degreekelvin";
  QUINTET_CHECK(units != FieldUnits::from_file || !given.empty(),
                "{}: has no units; say what its numbers are in: fields.units: degree_Celsius or kelvin",
                what);
  QUINTET_CHECK((units != FieldUnits::kelvin || !celsius) && (units != FieldUnits::degree_celsius || !kelvin),
                "{}: fields.units contradict those of the file, '{}'", what, given);
  if (units != FieldUnits::from_file && given.empty())
    source.reading.assume("units as fields.units says (the file does not)");
  const bool is_kelvin = units == FieldUnits::kelvin || (units == FieldUnits::from_file && kelvin);
  if (units == FieldUnits::from_file && !celsius && !kelvin) source.units = given;
  if (options.quantity != FieldQuantity::from_file) said = options.quantity;
  if (said == FieldQuantity::anomaly) {
    source.quantity = said;
    source.reading.assume(
        fmt::format("anomalies, no temperatures ({})", options.quantity == FieldQuantity::anomaly
                                                           ? "fields.quantity"
                                                           : "by its names; fields.quantity changes it"));
    return 0;
  }
  if (!is_kelvin) return 0;
  source.from_kelvin = true;
  source.reading.assume("kelvin became degrees Celsius");
  return -celsius_zero;
}

/// A file that is opened when it is read, and stays open until close().
class NetcdfSource : public FieldSource {
 public:
  NetcdfSource(const std::string& path, const std::string& variable, const FieldOptions& options)
      : variable_(variable), unpacking_(options.unpacking) {
    name = path;
    const auto& fields = opened();
    grid = fields.grid();
    reading = fields.reading();
    QUINTET_CHECK(!fields.time_dimension().empty(),
                  "{}: {}: has no time: expected a dimension whose coordinate has units 'days since ...'",
                  path, variable);
    auto times = read_time_axis(fields.file(), fields.time_dimension());
    days = std::move(times.days), calendar = times.calendar;
    reading.add(times.reading);
    offset_ = offset_of(*this, fields.units(), said_quantity(fields.file().variable(variable)), options,
                        fmt::format("{}: {}", path, variable));
    close();
  }
  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    const auto& fields = opened();
    QUINTET_CHECK(fields.n_times() == static_cast<int>(days.size()),
                  "{}: has {} times; it had {} when it was looked at first", name, fields.n_times(),
                  days.size());
    auto values = fields.read(first, n);
    if (offset_ != 0)
      for (double& value : values) value += offset_;
    return values;
  }
  void close() const override { fields_.reset(); }

 private:
  const NetcdfFields& opened() const {
    if (!fields_) fields_.emplace(name, variable_, unpacking_);
    return *fields_;
  }

  std::string variable_;
  netcdf::UnpackingOptions unpacking_;
  double offset_ = 0;
  mutable std::optional<NetcdfFields> fields_;
};

/// Fields over time of io/fields.
class SeriesSource : public FieldSource {
 public:
  SeriesSource(const std::string& path, const std::string& variable, const FieldOptions& options)
      : missing_(options.unpacking.missing) {
    name = path;
    const auto& reader = opened();
    const auto& header = reader.header();
    field_ = header.field(variable);
    QUINTET_CHECK(header.n_samples == 1, "{}: has {} samples; expected one", path, header.n_samples);
    auto latitude = ordered_latitudes(header.axes[0].coordinates, path + ": lat"),
         longitude = ordered_longitudes(header.axes[1].coordinates, path + ": lon");
    for (const auto* axis : {&latitude, &longitude})
      if (!axis->note.empty()) reading.assume(axis->note);
    grid = {latitude.coordinates, longitude.coordinates};
    auto times = reader.times();
    times.resize(reader.n_frames(0));
    auto axis = time_axis(times, TimeUnits(header.time_units, "", path + ": time"), path + ": time");
    days = std::move(axis.days), calendar = axis.calendar;
    offset_ = offset_of(*this, header.fields[field_].units, FieldQuantity::from_file, options,
                        fmt::format("{}: {}", path, variable));
    close();
  }
  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    const auto& reader = opened();
    const auto stored = reader.read<double>(
        field_, 0, {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(n), {}});
    const auto& header = reader.header();
    const auto latitude = ordered_latitudes(header.axes[0].coordinates, name).source,
               longitude = ordered_longitudes(header.axes[1].coordinates, name).source;
    std::vector<double> values;
    values.reserve(stored.size());
    const std::size_t n_lon = longitude.size(), cells = latitude.size() * n_lon;
    for (int t = 0; t < n; ++t)
      for (const std::size_t i : latitude)
        for (const std::size_t j : longitude) {
          const std::size_t cell = i * n_lon + j;
          const double value = stored[static_cast<std::size_t>(t) * cells + cell];
          const bool is_missing = (!header.mask.empty() && header.mask[cell] == 0) || marks(value);
          values.push_back(is_missing ? std::numeric_limits<double>::quiet_NaN() : value + offset_);
        }
    return values;
  }
  void close() const override { reader_.reset(); }

 private:
  const FieldSeriesReader& opened() const {
    if (!reader_)
      reader_.emplace(FieldSeriesReader::open(Comm::self(), name, {{"lat", "lon"}, {}, {}, {}, {}}));
    return *reader_;
  }
  /// Whether a value is one that the user has called missing; files may hold it in single precision.
  [[nodiscard]] bool marks(double value) const {
    return std::any_of(missing_.begin(), missing_.end(), [value](double mark) {
      return value == mark || value == static_cast<double>(static_cast<float>(mark));
    });
  }

  int field_ = 0;
  double offset_ = 0;
  std::vector<double> missing_;
  mutable std::optional<FieldSeriesReader> reader_;
};

/// Whether a file holds fields over time of ours; netCDF-4 files are HDF5, too.
bool is_series(const std::string& path) {
  if (netcdf::is_folder_of_arrays(path)) return false;
  std::array<char, 4> magic{};
  open_input_file(path).read(magic.data(), 4);
  if (magic != std::array<char, 4>{'\x89', 'H', 'D', 'F'}) return false;
  const auto file = hdf5::File::open(Comm::self(), path);
  return file.root().has("t0_fields");
}

}  // namespace

std::unique_ptr<FieldSource> open_field_source(const std::string& path, const std::string& variable,
                                               const FieldOptions& options) {
  if (is_series(path)) return std::make_unique<SeriesSource>(path, variable, options);
  return std::make_unique<NetcdfSource>(path, variable, options);
}

MaskFile read_mask(const std::string& path, const std::string& variable, double sea_value) {
  const NetcdfFields fields(path, variable);
  QUINTET_CHECK(fields.n_times() == 1, "{}: {} has {} times; a mask has one", path, variable,
                fields.n_times());
  MaskFile mask{fields.grid(), {}, fields.reading()};
  std::size_t n_sea = 0;
  for (const double value : fields.read(0, 1)) {
    mask.sea.push_back(value == sea_value ? 1 : 0);
    n_sea += mask.sea.back();
  }
  QUINTET_CHECK(n_sea > 0, "{}: {} is {} nowhere: it has no sea", path, variable, sea_value);
  return mask;
}

}  // namespace quintet::ocean
