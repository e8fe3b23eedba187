#include "physics/ocean/modes_file.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/hdf5/checksum.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::ocean {
namespace {

/// Attributes of a variable's names, each where it has one.
struct NameAttribute {
  const char* attribute;
  std::string VariableNames::*name;
};
constexpr NameAttribute name_attributes[] = {{"variable", &VariableNames::variable},
                                             {"long_name", &VariableNames::long_name},
                                             {"standard_name", &VariableNames::standard_name}};

constexpr const char* schema = "quintet.ocean_modes";
constexpr int schema_version = 2;  // 1: of one variable
constexpr double days_of_year = 365.2425;
constexpr double orthonormality_tolerance = 1e-6;

void check_finite(const std::vector<double>& values, const std::string& what) {
  const auto found =
      std::find_if_not(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
  QUINTET_CHECK(found == values.end(), "{}: number {} is {}; expected a finite one", what,
                found - values.begin(), *found);
}

void check_ascending(const std::vector<double>& values, double least, double most, const std::string& what) {
  check_finite(values, what);
  QUINTET_CHECK(!values.empty() && values.front() >= least && values.back() <= most,
                "{}: expected numbers from {} to {}", what, least, most);
  for (std::size_t i = 1; i < values.size(); ++i)
    QUINTET_CHECK(values[i] > values[i - 1], "{}: number {}, {}, is not above the one before it, {}", what, i,
                  values[i], values[i - 1]);
}

void check_orthonormal(const OceanModes& modes, const std::string& path) {
  const std::size_t n_modes = modes.n_modes();
  for (std::size_t i = 0; i < n_modes; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double product = 0;
      for (const auto* one : variables_of(modes))
        for (std::size_t x = 0, n = one->n_points(); x < n; ++x)
          product += one->weights[x] * one->modes[i * n + x] * one->modes[j * n + x];
      QUINTET_CHECK(std::abs(product - (i == j ? 1 : 0)) <= orthonormality_tolerance,
                    "{}: modes {} and {} have the inner product {:.9g}; expected {}", path, i, j, product,
                    i == j ? 1 : 0);
    }
}

/// @param path in messages: the file, or a variable of it
void read_fields(const hdf5::Group& root, const std::string& path, std::uint64_t n_modes, FieldModes& modes) {
  for (const auto& [attribute, name] : name_attributes)
    if (root.has_attribute(attribute)) modes.in_file.*name = root.text_attribute(attribute);
  modes.latitude = root.read<double>("lat");
  modes.longitude = root.read<double>("lon");
  check_ascending(modes.latitude, -90, 90, path + ": lat");
  check_ascending(modes.longitude, 0, 360, path + ": lon");
  QUINTET_CHECK(modes.longitude.back() - modes.longitude.front() < 360, "{}: lon: 0 and 360 are one meridian",
                path);
  modes.mask = root.read<std::uint8_t>("mask", {modes.latitude.size(), modes.longitude.size()});
  QUINTET_CHECK(std::all_of(modes.mask.begin(), modes.mask.end(), [](auto m) { return m <= 1; }),
                "{}: mask: expected 1 (sea) and 0 (land) alone", path);
  const std::uint64_t n = std::count(modes.mask.begin(), modes.mask.end(), 1);
  modes.modes = root.read<double>("modes", {n_modes, n});
  modes.mean = root.read<double>("mean", {n});
  modes.weights = root.read<double>("weights", {n});
  for (const auto& [values, name] :
       {std::pair{&modes.modes, "modes"}, {&modes.mean, "mean"}, {&modes.weights, "weights"}})
    check_finite(*values, fmt::format("{}: {}", path, name));
  QUINTET_CHECK(std::all_of(modes.weights.begin(), modes.weights.end(), [](double w) { return w > 0; }),
                "{}: weights: expected numbers above 0", path);
  if (!root.has("cycle")) return;
  const auto shape = root.shape("cycle");
  QUINTET_CHECK(shape.size() == 2 && shape[0] % 2 == 0 && shape[0] >= 2 && shape[0] <= 200 && shape[1] == n,
                "{}: cycle: expected pairs of seasonal functions at {} points", path, n);
  modes.cycle = root.read<double>("cycle");
  modes.harmonics = shape[0] / 2;
  check_finite(modes.cycle, path + ": cycle");
}

// Modes must be orthonormal under the weights, or projections onto them are no coefficients: checked, for
// files are edited.
void read_variables(const hdf5::Group& root, const std::string& path, OceanModes& modes) {
  const std::uint64_t n_modes = modes.n_modes();
  read_fields(root, path, n_modes, modes);
  if (root.has_attribute("also"))
    for (const auto& name : root.texts_attribute("also")) {
      QUINTET_CHECK(!name.empty() && name.find('/') == std::string::npos && root.has("also/" + name),
                    "{}: has no variable '{}', which its attribute also lists", path, name);
      const auto group = root.open_group("also/" + name);
      auto& one = modes.also.emplace_back();
      one.name = name;
      one.units = group.text_attribute("units");
      one.anomalies = group.has_attribute("anomalies");
      read_fields(group, fmt::format("{}: {}", path, name), n_modes, one);
    }
  check_orthonormal(modes, path);
}

void write_fields(hdf5::Group& root, std::uint64_t n_modes, const FieldModes& modes,
                  const std::string& unit_of_modes) {
  for (const auto& [attribute, name] : name_attributes)
    if (!(modes.in_file.*name).empty()) root.set_attribute(attribute, modes.in_file.*name);
  const std::uint64_t n = modes.n_points(), n_lat = modes.latitude.size(), n_lon = modes.longitude.size();
  root.write<double>("lat", modes.latitude, {n_lat}, {"degrees_north", {"lat"}, "Latitudes, south first"});
  root.write<double>("lon", modes.longitude, {n_lon},
                     {"degrees_east", {"lon"}, "Longitudes from Greenwich eastward"});
  root.write<std::uint8_t>("mask", modes.mask, {n_lat, n_lon}, {"1", {"lat", "lon"}, "1 sea, 0 land"});
  root.write<double>(
      "modes", modes.modes, {n_modes, n},
      {unit_of_modes, {"mode", "point"}, "Orthonormal modes at the points where the mask is 1"});
  root.write<double>("mean", modes.mean, {n}, {modes.units, {"point"}, "Mean of the first n_fit times"});
  root.write<double>("weights", modes.weights, {n}, {"1", {"point"}, "Weights of the inner product"});
  if (modes.harmonics > 0)
    root.write<double>(
        "cycle", modes.cycle, {static_cast<std::uint64_t>(2 * modes.harmonics), n},
        {modes.units,
         {"function", "point"},
         "Seasonal cycle of the first n_fit times: cosine and sine of each harmonic of 365.2425 days"});
}

}  // namespace

bool FieldModes::is_sea_surface_temperature() const {
  return name.empty() && units == "degree_Celsius" && name_sea_surface_temperature(in_file);
}

std::string FieldModes::short_name() const {
  if (!name.empty()) return name;
  if (is_sea_surface_temperature()) return "sst";
  return is_free_name(in_file.variable) ? in_file.variable : "field";
}

std::string FieldModes::long_name() const {
  if (is_sea_surface_temperature()) return "Sea surface temperature";
  return in_file.long_name.empty() ? short_name() : in_file.long_name;
}

std::vector<const FieldModes*> variables_of(const OceanModes& modes) {
  std::vector<const FieldModes*> all{&modes};
  for (const auto& one : modes.also) all.push_back(&one);
  return all;
}

std::vector<double> season_of(double day, int harmonics) {
  std::vector<double> values;
  const double angle = 2 * std::numbers::pi * std::fmod(day, days_of_year) / days_of_year;
  for (int h = 1; h <= harmonics; ++h) {
    values.push_back(std::cos(h * angle));
    values.push_back(std::sin(h * angle));
  }
  return values;
}

std::vector<double> expand(const FieldModes& modes, double day, const double* coefficients) {
  auto field = modes.mean;
  const std::size_t n = field.size(), n_modes = n == 0 ? 0 : modes.modes.size() / n;
  const auto add = [&](double factor, const double* values) {
    for (std::size_t x = 0; x < n; ++x) field[x] += factor * values[x];
  };
  const auto season = season_of(day, modes.harmonics);
  for (std::size_t k = 0; k < season.size(); ++k) add(season[k], modes.cycle.data() + k * n);
  for (std::size_t m = 0; m < n_modes; ++m) add(coefficients[m], modes.modes.data() + m * n);
  return field;
}

std::string OceanModes::checksum() const {
  std::uint64_t sum = 0;
  for (const auto* values :
       {&series.time, &series.values, &modes, &mean, &weights, &cycle, &latitude, &longitude})
    sum = hdf5::xxh64(std::as_bytes(std::span<const double>(*values)), sum);
  sum = hdf5::xxh64(std::as_bytes(std::span<const std::uint8_t>(mask)), sum);
  for (const auto& one : also) {
    for (const auto* values :
         {&one.modes, &one.mean, &one.weights, &one.cycle, &one.latitude, &one.longitude})
      sum = hdf5::xxh64(std::as_bytes(std::span<const double>(*values)), sum);
    sum = hdf5::xxh64(std::as_bytes(std::span<const std::uint8_t>(one.mask)), sum);
    sum = hdf5::xxh64(std::as_bytes(std::span(one.name)), sum);
  }
  return fmt::format("{:016x}", sum);
}

void write_modes(const Comm& comm, const std::string& path, const OceanModes& modes,
                 const hdf5::Provenance& provenance) {
  auto file = hdf5::File::create(comm, path);
  auto& root = file.root();
  hdf5::write_header(root, schema, modes.also.empty() ? 1 : schema_version, provenance);
  const std::uint64_t n_times = modes.series.time.size(), n_modes = modes.n_modes();
  root.write<double>("time", modes.series.time, {n_times},
                     {"days since 1800-01-01 00:00:00", {"time"}, "Times, of the Gregorian calendar"});
  root.write<double>("coefficients", modes.series.values, {n_times, n_modes},
                     {modes.units, {"time", "mode"}, "Coefficients of the modes"});
  root.write<double>("singular_values", modes.singular_values, {n_modes},
                     {modes.units, {"mode"}, "Norms of the coefficients over the first n_fit times"});
  if (modes.has_fields()) write_fields(root, n_modes, modes, "1");
  std::vector<std::string> names;
  for (const auto& one : modes.also) {
    auto group = root.group("also/" + one.name);
    write_fields(group, n_modes, one, fmt::format("{}/{}", one.units, modes.units));
    group.set_attribute("units", one.units);
    if (one.anomalies) group.set_attribute("anomalies", 1);
    names.push_back(one.name);
  }
  if (!names.empty()) root.set_attribute("also", names);
  root.set_attribute("n_fit", modes.n_fit);
  root.set_attribute("captured_variance", modes.captured_variance);
  root.set_attribute("units", modes.units);
  if (modes.anomalies) root.set_attribute("anomalies", 1);
  root.set_attribute("calendar", modes.calendar);
  root.set_attribute("source", modes.source);
  root.set_attribute("checksum", modes.checksum());
  file.close();
}

OceanModes read_modes(const Comm& comm, const std::string& path) {
  const auto file = hdf5::open_verified(comm, path);
  hdf5::check_header(file, schema, schema_version);
  const auto& root = file.root();
  OceanModes modes;
  const auto shape = root.shape("coefficients");
  QUINTET_CHECK(
      shape.size() == 2 && shape[0] >= 2 && shape[1] >= 1 && shape[0] < (1U << 30U) && shape[1] < (1U << 20U),
      "{}: coefficients: expected [times, modes] of at least two times and one mode", path);
  modes.series.n_modes = shape[1];
  modes.series.time = root.read<double>("time", {shape[0]});
  modes.series.values = root.read<double>("coefficients");
  modes.singular_values = root.read<double>("singular_values", {shape[1]});
  check_ascending(modes.series.time, day_of({1, 1, 1}), day_of({9999, 12, 31}), path + ": time");
  check_finite(modes.series.values, path + ": coefficients");
  check_finite(modes.singular_values, path + ": singular_values");
  const auto n_fit = root.integer_attribute("n_fit");
  QUINTET_CHECK(n_fit >= 1 && n_fit <= static_cast<std::int64_t>(shape[0]),
                "{}: n_fit is {}; expected 1 to the {} times", path, n_fit, shape[0]);
  modes.n_fit = n_fit;
  const auto captured = root.number_attribute("captured_variance");
  QUINTET_CHECK(captured.size() == 1, "{}: captured_variance: expected one number", path);
  modes.captured_variance = captured.front();
  modes.units = root.text_attribute("units");
  modes.anomalies = root.has_attribute("anomalies");
  modes.calendar = root.text_attribute("calendar");
  modes.source = root.text_attribute("source");
  if (root.has("modes")) read_variables(root, path, modes);
  const auto sum = root.text_attribute("checksum");
  QUINTET_CHECK(sum == modes.checksum(), "{}: its contents have the checksum {}, it says {}: it was changed",
                path, modes.checksum(), sum);
  return modes;
}

}  // namespace quintet::ocean
