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
#include "physics/ocean/netcdf_fields.hpp"
#include "physics/ocean/time_axis.hpp"

namespace quintet::ocean {
namespace {

constexpr double celsius_zero = 273.15;  ///< K

/// Names of units without case, blanks and underscores.
std::string plain(const std::string& text) {
  std::string name;
  for (const char c : text)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// How units become those of the source; the number to add.
double offset_of(FieldSource& source, const std::string& given, FieldUnits units, const std::string& what) {
  const auto name = plain(given);
  const bool celsius = name == "c" || name == "degc" || name == "degreec" || name == "degreesc" ||
                       name == "celsius" || name == "degreecelsius" || name == "degreescelsius";
  const bool kelvin = name == "k" || name == "degk" || name == "kelvin" || name == "degreesk" ||
                      name == "degreek" || name == "degreekelvin";
  QUINTET_CHECK(units != FieldUnits::from_file || !given.empty(),
                "{}: has no units; say what its numbers are in: fields.units: degree_Celsius or kelvin",
                what);
  QUINTET_CHECK((units != FieldUnits::kelvin || !celsius) && (units != FieldUnits::degree_celsius || !kelvin),
                "{}: fields.units contradict those of the file, '{}'", what, given);
  if (units == FieldUnits::kelvin || (units == FieldUnits::from_file && kelvin)) {
    source.notes.emplace_back("kelvin became degrees Celsius");
    return -celsius_zero;
  }
  if (units == FieldUnits::from_file && !celsius) source.units = given;
  return 0;
}

class NetcdfSource : public FieldSource {
 public:
  NetcdfSource(const std::string& path, const std::string& variable, FieldUnits given)
      : fields_(path, variable) {
    name = path;
    grid = fields_.grid();
    notes = fields_.notes();
    QUINTET_CHECK(!fields_.time_dimension().empty(),
                  "{}: {}: has no time: expected a dimension whose coordinate has units 'days since ...'",
                  path, variable);
    auto times = read_time_axis(fields_.file(), fields_.time_dimension());
    days = std::move(times.days), calendar = times.calendar;
    offset_ = offset_of(*this, fields_.units(), given, fmt::format("{}: {}", path, variable));
  }
  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    auto values = fields_.read(first, n);
    if (offset_ != 0)
      for (double& value : values) value += offset_;
    return values;
  }

 private:
  NetcdfFields fields_;
  double offset_ = 0;
};

/// Fields over time of io/fields.
class SeriesSource : public FieldSource {
 public:
  SeriesSource(const std::string& path, const std::string& variable, FieldUnits given)
      : reader_(FieldSeriesReader::open(Comm::self(), path, {{"lat", "lon"}, {}, {}, {}, {}})) {
    name = path;
    const auto& header = reader_.header();
    field_ = header.field(variable);
    QUINTET_CHECK(header.n_samples == 1, "{}: has {} samples; expected one", path, header.n_samples);
    auto latitude = ordered_latitudes(header.axes[0].coordinates, path + ": lat"),
         longitude = ordered_longitudes(header.axes[1].coordinates, path + ": lon");
    for (const auto* axis : {&latitude, &longitude})
      if (!axis->note.empty()) notes.push_back(axis->note);
    grid = {latitude.coordinates, longitude.coordinates};
    latitude_ = std::move(latitude.source), longitude_ = std::move(longitude.source);
    auto times = reader_.times();
    times.resize(reader_.n_frames(0));
    auto axis = time_axis(times, TimeUnits(header.time_units, "", path + ": time"), path + ": time");
    days = std::move(axis.days), calendar = axis.calendar;
    offset_ = offset_of(*this, header.fields[static_cast<std::size_t>(field_)].units, given,
                        fmt::format("{}: {}", path, variable));
  }
  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    const auto stored = reader_.read<double>(
        field_, 0, {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(n), {}});
    const auto& mask = reader_.header().mask;
    std::vector<double> values;
    values.reserve(stored.size());
    const std::size_t n_lon = grid.longitude.size(), cells = grid.size();
    for (int t = 0; t < n; ++t)
      for (const std::size_t i : latitude_)
        for (const std::size_t j : longitude_) {
          const std::size_t cell = i * n_lon + j;
          values.push_back(!mask.empty() && mask[cell] == 0
                               ? std::numeric_limits<double>::quiet_NaN()
                               : stored[static_cast<std::size_t>(t) * cells + cell] + offset_);
        }
    return values;
  }

 private:
  FieldSeriesReader reader_;
  int field_ = 0;
  double offset_ = 0;
  std::vector<std::size_t> latitude_, longitude_;
};

/// Whether a file holds fields over time of ours; netCDF-4 files are HDF5, too.
bool is_series(const std::string& path) {
  std::array<char, 4> magic{};
  open_input_file(path).read(magic.data(), 4);
  if (magic != std::array<char, 4>{'\x89', 'H', 'D', 'F'}) return false;
  const auto file = hdf5::File::open(Comm::self(), path);
  return file.root().has("t0_fields");
}

}  // namespace

std::unique_ptr<FieldSource> open_field_source(const std::string& path, const std::string& variable,
                                               FieldUnits units) {
  if (is_series(path)) return std::make_unique<SeriesSource>(path, variable, units);
  return std::make_unique<NetcdfSource>(path, variable, units);
}

MaskFile read_mask(const std::string& path, const std::string& variable, double sea_value) {
  const NetcdfFields fields(path, variable);
  QUINTET_CHECK(fields.n_times() == 1, "{}: {} has {} times; a mask has one", path, variable,
                fields.n_times());
  MaskFile mask{fields.grid(), {}};
  std::size_t n_sea = 0;
  for (const double value : fields.read(0, 1)) {
    mask.sea.push_back(value == sea_value ? 1 : 0);
    n_sea += mask.sea.back();
  }
  QUINTET_CHECK(n_sea > 0, "{}: {} is {} nowhere: it has no sea", path, variable, sea_value);
  return mask;
}

}  // namespace quintet::ocean
