#include "physics/ocean/sources/field_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "io/fields/field_series.hpp"
#include "io/files/input_file.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coordinates/time_axis.hpp"
#include "physics/ocean/sources/netcdf_fields.hpp"

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

/// How units become those of the source.
void take_units(FieldFacts& source, const std::string& given, FieldQuantity said, const FieldOptions& options,
                const std::string& what) {
  source.section = options.section;
  const auto name = plain(given);
  const auto units = options.units;
  const bool celsius = name == "c" || name == "degc" || name == "degreec" || name == "degreesc" ||
                       name == "celsius" || name == "degreecelsius" || name == "degreescelsius";
  const bool kelvin = name == "k" || name == "degk" || name == "kelvin" || name == "kelvins" ||
                      name == "degreesk" || name == "degreek" || name == "degreekelvin";
  QUINTET_CHECK(units != FieldUnits::from_file || !given.empty(),
                "{}: has no units; say what its numbers are in: {}.units: degree_Celsius or kelvin", what,
                options.section);
  QUINTET_CHECK((units != FieldUnits::kelvin || !celsius) && (units != FieldUnits::degree_celsius || !kelvin),
                "{}: {}.units contradict those of the file, '{}'", what, options.section, given);
  if (units != FieldUnits::from_file && given.empty())
    source.reading.assume(fmt::format("units as {}.units says (the file does not)", options.section));
  const bool is_kelvin = units == FieldUnits::kelvin || (units == FieldUnits::from_file && kelvin);
  if (units == FieldUnits::from_file && !celsius && !kelvin) source.units = given;
  if (options.quantity != FieldQuantity::from_file) said = options.quantity;
  if (said == FieldQuantity::anomaly) {
    source.quantity = said;
    const auto key = options.section + ".quantity";
    source.reading.assume(fmt::format(
        "anomalies, no temperatures ({})",
        options.quantity == FieldQuantity::anomaly ? key : fmt::format("by its names; {} changes it", key)));
    return;
  }
  if (!is_kelvin) return;
  source.from_kelvin = true;
  source.reading.assume("kelvin became degrees Celsius");
}

FieldFile netcdf_file(const std::string& path, const std::string& variable, const FieldOptions& options) {
  const NetcdfFields fields(path, variable, options.unpacking);
  FieldFile file;
  auto& facts = file.facts;
  facts.name = path;
  const auto& stored = fields.file().variable(variable);
  facts.variable = {variable, stored.text("long_name").value_or(""),
                    stored.text("standard_name").value_or("")};
  facts.grid = fields.grid();
  facts.reading = fields.reading();
  QUINTET_CHECK(!fields.time_dimension().empty(),
                "{}: {}: has no time: expected a dimension whose coordinate has units 'days since ...'", path,
                variable);
  auto times = read_time_axis(fields.file(), fields.time_dimension());
  facts.days = std::move(times.days), facts.calendar = times.calendar;
  facts.reading.add(times.reading);
  take_units(facts, fields.units(), said_quantity(stored), options, fmt::format("{}: {}", path, variable));
  if ((file.layout = fields.layout()) != nullptr) {
    file.layout_mark = file.layout->mark();
    file.places = fields.places();
  }
  return file;
}

FieldSeriesReader open_series(const std::string& path) {
  return FieldSeriesReader::open(Comm::self(), path, {{"lat", "lon"}, {}, {}, {}, {}});
}

FieldFacts facts_of_series(const std::string& path, const std::string& variable,
                           const FieldOptions& options) {
  const auto reader = open_series(path);
  const auto& header = reader.header();
  FieldFacts facts;
  facts.name = path;
  facts.variable.variable = variable;
  const int field = header.field(variable);
  QUINTET_CHECK(header.n_samples == 1, "{}: has {} samples; expected one", path, header.n_samples);
  auto latitude = ordered_latitudes(header.axes[0].coordinates, path + ": lat"),
       longitude = ordered_longitudes(header.axes[1].coordinates, path + ": lon");
  for (const auto* axis : {&latitude, &longitude})
    if (!axis->note.empty()) facts.reading.assume(axis->note);
  facts.grid = {latitude.coordinates, longitude.coordinates};
  auto times = reader.times();
  times.resize(reader.n_frames(0));
  auto axis = time_axis(times, TimeUnits(header.time_units, "", path + ": time"), path + ": time");
  facts.days = std::move(axis.days), facts.calendar = axis.calendar;
  take_units(facts, header.fields[field].units, FieldQuantity::from_file, options,
             fmt::format("{}: {}", path, variable));
  return facts;
}

/// A file that is opened when it is read, and stays open until close().
class FileSource : public FieldSource {
 public:
  FileSource(FieldFile file, std::string variable, FieldOptions options)
      : FieldSource(std::move(file.facts)),
        variable_(std::move(variable)),
        options_(std::move(options)),
        offset_(from_kelvin ? -celsius_zero : 0),
        layout_(std::move(file.layout)),
        places_(std::move(file.places)),
        bytes_(file.bytes),
        changed_(file.changed) {}
  [[nodiscard]] std::optional<std::uint64_t> stamp(int time) const override {
    const auto text = fmt::format("{} {} {} {}", full_name(name), bytes_, changed_, time);
    return hdf5::xxh64(std::as_bytes(std::span(text)));
  }

 protected:
  void check_times(int n) const {
    QUINTET_CHECK(n == std::ssize(days), "{}: has {} times; it had {} when it was looked at first", name, n,
                  days.size());
  }
  /// Whether the file is as it was when it was looked at.
  [[nodiscard]] bool is_unchanged() const {
    FieldFile now;
    take_size(name, now);
    return now.bytes == bytes_ && now.changed == changed_;
  }
  std::string variable_;
  FieldOptions options_;
  double offset_;
  std::shared_ptr<const FieldLayout> layout_;
  std::vector<hdf5::ChunkMap::Place> places_;

 private:
  std::uint64_t bytes_;
  std::int64_t changed_;
};

class NetcdfSource : public FileSource {
 public:
  using FileSource::FileSource;
  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    if (!fields_)
      if (auto values = read_apart(first, n)) return std::move(*values);
    if (!fields_) fields_.emplace(name, variable_, options_.unpacking, is_unchanged());
    check_times(fields_->n_times());
    return in_celsius(fields_->read(first, n));
  }
  [[nodiscard]] std::optional<std::vector<double>> read_apart(int first, int n) const override {
    if (layout_ == nullptr || !is_unchanged()) return std::nullopt;
    auto values = layout_->read(name, places_, static_cast<int>(days.size()), first, n);
    if (!values) return std::nullopt;
    return in_celsius(std::move(*values));
  }
  void close() const override { fields_.reset(); }

 private:
  [[nodiscard]] std::vector<double> in_celsius(std::vector<double> values) const {
    if (offset_ != 0)
      for (double& value : values) value += offset_;
    return values;
  }
  mutable std::optional<NetcdfFields> fields_;
};

/// Fields over time of io/fields.
class SeriesSource : public FileSource {
 public:
  using FileSource::FileSource;
  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    if (!reader_) reader_.emplace(open_series(name));
    const auto& header = reader_->header();
    check_times(reader_->n_frames(0));
    const auto stored = reader_->read<double>(
        header.field(variable_), 0, {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(n), {}});
    const auto latitude = ordered_latitudes(header.axes[0].coordinates, name).source,
               longitude = ordered_longitudes(header.axes[1].coordinates, name).source;
    std::vector<double> values;
    values.reserve(stored.size());
    const std::size_t n_lon = longitude.size(), cells = latitude.size() * n_lon;
    for (int t = 0; t < n; ++t)
      for (const std::size_t i : latitude)
        for (const std::size_t j : longitude) {
          const std::size_t cell = i * n_lon + j;
          const double value = stored[t * cells + cell];
          const bool is_missing = (!header.mask.empty() && header.mask[cell] == 0) || marks(value);
          values.push_back(is_missing ? std::numeric_limits<double>::quiet_NaN() : value + offset_);
        }
    return values;
  }
  void close() const override { reader_.reset(); }

 private:
  /// Whether a value is one that the user has called missing; files may hold it in single precision.
  [[nodiscard]] bool marks(double value) const {
    const auto& missing = options_.unpacking.missing;
    return std::any_of(missing.begin(), missing.end(),
                       [value](double mark) { return value == mark || value == static_cast<float>(mark); });
  }

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

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string full_name(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

void take_size(const std::string& path, FieldFile& file) {
  namespace fs = std::filesystem;
  file.bytes = 0, file.changed = std::numeric_limits<std::int64_t>::min();
  std::error_code wrong;
  const auto add = [&](const fs::path& one) {
    file.bytes += fs::file_size(one, wrong);
    if (!wrong)
      file.changed =
          std::max<std::int64_t>(file.changed, fs::last_write_time(one, wrong).time_since_epoch().count());
    QUINTET_CHECK(!wrong, "{}: cannot be looked at: {}", path, wrong.message());
  };
  if (!fs::is_directory(path, wrong)) return add(path);
  for (const auto& one : fs::recursive_directory_iterator(path))
    if (one.is_regular_file()) add(one.path());
}

FieldFile look_at_fields(const std::string& path, const std::string& variable, const FieldOptions& options,
                         const FieldFile* alike) {
  FieldFile file, before;
  take_size(path, before);  // one that is replaced in between is not what it was
  const auto stamped = [&before](FieldFile one) {
    one.bytes = before.bytes, one.changed = before.changed;
    return one;
  };
  if (alike != nullptr && !alike->is_series) try {
      return stamped(netcdf_file(path, variable, options));
    } catch (const InputError&) {  // said below, by what the file is
    }
  if (is_series(path)) {
    file.is_series = true;
    file.facts = facts_of_series(path, variable, options);
  } else {
    file = netcdf_file(path, variable, options);
  }
  return stamped(std::move(file));
}

std::unique_ptr<FieldSource> source_of(FieldFile file, const std::string& variable,
                                       const FieldOptions& options) {
  if (file.is_series) return std::make_unique<SeriesSource>(std::move(file), variable, options);
  return std::make_unique<NetcdfSource>(std::move(file), variable, options);
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
