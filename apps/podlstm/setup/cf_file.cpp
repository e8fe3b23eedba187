#include "apps/podlstm/setup/cf_file.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "io/hdf5/file.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/coordinates/grid.hpp"
#include "physics/ocean/sampling_error.hpp"

namespace quintet::podlstm {

namespace {

/// Edges of cells half way between neighbours, [n, 2]; those of latitudes end at the poles.
std::vector<double> bounds_of(const std::vector<double>& centres, double lowest, double highest) {
  const std::size_t n = centres.size();
  std::vector<double> bounds;
  for (std::size_t i = 0; i < n; ++i) {
    const double below = i > 0 ? centres[i] - centres[i - 1] : n > 1 ? centres[1] - centres[0] : 1;
    const double above = i + 1 < n ? centres[i + 1] - centres[i] : below;
    bounds.push_back(std::max(lowest, centres[i] - below / 2));
    bounds.push_back(std::min(highest, centres[i] + above / 2));
  }
  return bounds;
}

}  // namespace

/// Values at sea points on the whole grid.
std::vector<double> on_grid(const ocean::FieldModes& modes, const double* values) {
  std::vector<double> grid(modes.mask.size(), cf_fill_value);
  for (std::size_t i = 0; i < grid.size(); ++i)
    if (modes.mask[i] != 0) grid[i] = *values++;
  return grid;
}

void describe_variable(netcdf::Writer& file, const std::string& name, const std::string& units,
                       const std::string& text) {
  file.attribute(name, "units", units);
  file.attribute(name, "long_name", text);
}

void define_axis(netcdf::Writer& file, const std::string& name, const std::string& units,
                 const std::string& standard_name, const std::string& axis) {
  file.variable(name, netcdf::Type::float64, {name});
  file.attribute(name, "units", units);
  file.attribute(name, "standard_name", standard_name);
  file.attribute(name, "axis", axis);
}

GridNames grid_names(const ocean::OceanModes& modes, const ocean::FieldModes& one) {
  if (one.name.empty()) return {};
  if (ocean::same_grid({one.latitude, one.longitude}, {modes.latitude, modes.longitude}))
    return {"lat", "lon", false};
  return {"lat_" + one.name, "lon_" + one.name, true};
}

void define_grid(netcdf::Writer& file, const ocean::FieldModes& modes, const GridNames& names) {
  file.dimension(names.latitude, modes.latitude.size());
  file.dimension(names.longitude, modes.longitude.size());
  if (names.latitude == "lat") file.dimension("bounds", 2);
  define_axis(file, names.latitude, "degrees_north", "latitude", "Y");
  define_axis(file, names.longitude, "degrees_east", "longitude", "X");
  for (const auto& name : {names.latitude, names.longitude}) {
    file.attribute(name, "bounds", name + "_bnds");
    file.variable(name + "_bnds", netcdf::Type::float64, {name, "bounds"});
  }
}

void write_grid(netcdf::Writer& file, const ocean::FieldModes& modes, const GridNames& names) {
  file.write(names.latitude, modes.latitude);
  file.write(names.longitude, modes.longitude);
  file.write(names.latitude + "_bnds", bounds_of(modes.latitude, -90, 90));
  constexpr double any = 1e9;  // longitudes have no end
  file.write(names.longitude + "_bnds", bounds_of(modes.longitude, -any, any));
}

void define_grids(netcdf::Writer& file, const ocean::OceanModes& modes) {
  for (const auto* one : variables_of(modes))
    if (const auto names = grid_names(modes, *one); names.own) define_grid(file, *one, names);
}

void write_grids(netcdf::Writer& file, const ocean::OceanModes& modes) {
  for (const auto* one : variables_of(modes))
    if (const auto names = grid_names(modes, *one); names.own) write_grid(file, *one, names);
}

std::string name_for(const std::string& what, const ocean::FieldModes& one) {
  return one.name.empty() ? what : fmt::format("{}_{}", what, one.name);
}

/// [time, mode] as [mode, time].
std::vector<double> by_mode(const std::vector<double>& values, std::size_t n_modes) {
  std::vector<double> turned;
  for (std::size_t m = 0; m < n_modes; ++m)
    for (std::size_t i = m; i < values.size(); i += n_modes) turned.push_back(values[i]);
  return turned;
}

std::vector<double> numbers_from_one(std::size_t n) {
  std::vector<double> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 1.0);
  return numbers;
}

namespace {

// Axes as CF names them, so that xarray and Ferret open modes as maps and coefficients as series.
void define_modes(netcdf::Writer& file, const ocean::OceanModes& modes) {
  file.dimension("time", modes.series.time.size());
  define_axis(file, "time", cf_epoch, "time", "T");
  file.attribute("time", "calendar", "proleptic_gregorian");
  file.dimension("mode", modes.n_modes());
  file.variable("mode", netcdf::Type::int32, {"mode"});
  describe_variable(file, "mode", "1", "Number of the mode");
  define_grids(file, modes);
  for (const auto* one : variables_of(modes)) {
    const auto [lat, lon, own] = grid_names(modes, *one);
    const auto of = one->is_sea_surface_temperature() ? "" : " of " + one->short_name();
    const auto eof = name_for("eof", *one), mean = name_for("mean", *one), weight = name_for("weight", *one);
    file.variable(eof, netcdf::Type::float32, {"mode", lat, lon});
    describe_variable(file, eof, one->name.empty() ? "1" : fmt::format("{} ({})-1", one->units, modes.units),
                      modes.also.empty() ? "Modes, orthonormal by the weights"
                                         : "Modes" + of + ", orthonormal by the weights over all variables");
    file.variable(mean, netcdf::Type::float32, {lat, lon});
    describe_variable(
        file, mean, one->units,
        one->harmonics > 0 ? "Mean of the year that was taken away" + of : "Mean that was taken away" + of);
    file.variable(weight, netcdf::Type::float32, {lat, lon});
    describe_variable(file, weight, "1", "Weights of the inner product" + of);
    for (const auto& name : {eof, mean, weight}) file.attribute(name, "_FillValue", cf_fill_value, true);
  }
  file.variable("pc", netcdf::Type::float64, {"mode", "time"});
  describe_variable(file, "pc", modes.units, "Coefficients of the modes");
  const auto of_mode = [&](const char* name, const std::string& units, const char* text) {
    file.variable(name, netcdf::Type::float64, {"mode"});
    describe_variable(file, name, units, text);
  };
  of_mode("singular_value", modes.units, "Norms of the coefficients over the times of the fit");
  of_mode("explained_variance", "1", "Share of the variance about the background, the times of the fit");
  of_mode("explained_variance_error", "1", "Its sampling error, one standard deviation, by North's rule");
  of_mode("effective_sample_size", "1", "Independent times behind it");
  file.variable("separate", netcdf::Type::int8, {"mode"});
  describe_variable(file, "separate", "1", "1: differs from the next mode's variance by more than its error");
}

}  // namespace

void write_modes_netcdf(const Comm& comm, const std::string& path, const ocean::OceanModes& modes,
                        const std::string& history) {
  on_root(comm, [&] {
    auto file = netcdf::Writer::create(path);
    file.attribute("", "Conventions", "CF-1.8");
    file.attribute("", "title", fmt::format("Modes of {}", modes.source));
    file.attribute("", "history", history);
    define_modes(file, modes);
    const std::size_t n_modes = modes.n_modes();
    file.write("time", modes.series.time);
    file.write("mode", numbers_from_one(n_modes));
    write_grids(file, modes);
    for (const auto* one : variables_of(modes)) {
      for (std::size_t m = 0; m < n_modes; ++m)
        file.write(name_for("eof", *one), {m, 0, 0}, {1, one->latitude.size(), one->longitude.size()},
                   on_grid(*one, one->modes.data() + m * one->n_points()));
      file.write(name_for("mean", *one), on_grid(*one, one->mean.data()));
      file.write(name_for("weight", *one), on_grid(*one, one->weights.data()));
    }
    file.write("pc", by_mode(modes.series.values, n_modes));
    file.write("singular_value", modes.singular_values);
    double captured = 0;
    std::vector<double> share, error, effective, separate;
    const auto sampling = ocean::sampling_errors(modes);
    for (const auto& mode : sampling) captured += mode.variance;
    const double total = captured / modes.captured_variance;
    for (const auto& mode : sampling) {
      share.push_back(mode.variance / total);
      error.push_back(mode.error / total);
      effective.push_back(mode.n_effective);
      separate.push_back(mode.separate ? 1 : 0);
    }
    file.write("explained_variance", share);
    file.write("explained_variance_error", error);
    file.write("effective_sample_size", effective);
    file.write("separate", separate);
    file.close();
  });
}

}  // namespace quintet::podlstm
