#pragma once

#include <string>
#include <vector>

#include "io/netcdf/netcdf_writer.hpp"
#include "physics/ocean/modes_file.hpp"

/// What the netCDF files of podlstm have in common, by the CF conventions 1.8.
namespace quintet::podlstm {

inline constexpr double cf_fill_value = 9.96921e36;  ///< netCDF's own for float32
inline constexpr const char* cf_epoch = "days since 1800-01-01 00:00:00";

/// Values at sea points on the whole grid.
[[nodiscard]] std::vector<double> on_grid(const ocean::FieldModes& modes, const double* values);
/// Give a variable its units and long_name.
void describe_variable(netcdf::Writer& file, const std::string& name, const std::string& units,
                       const std::string& text);
/// Define the coordinate of a dimension that is there.
void define_axis(netcdf::Writer& file, const std::string& name, const std::string& units,
                 const std::string& standard_name, const std::string& axis);
/// Names of the dimensions of a variable's grid: lat and lon, or its own where that of the first is another.
struct GridNames {
  std::string latitude = "lat", longitude = "lon";
  bool own = true;  ///< the first with these names
};
[[nodiscard]] GridNames grid_names(const ocean::OceanModes& modes, const ocean::FieldModes& one);
/// Define dimensions and coordinates of a grid with their bounds; write_grid() gives them values.
void define_grid(netcdf::Writer& file, const ocean::FieldModes& modes, const GridNames& names = {});
void write_grid(netcdf::Writer& file, const ocean::FieldModes& modes, const GridNames& names = {});
/// The same of the grids of all variables, each once.
void define_grids(netcdf::Writer& file, const ocean::OceanModes& modes);
void write_grids(netcdf::Writer& file, const ocean::OceanModes& modes);
/// "eof" of the first variable, "eof_NAME" of a further one.
[[nodiscard]] std::string name_for(const std::string& what, const ocean::FieldModes& one);
/// [time, mode] as [mode, time].
[[nodiscard]] std::vector<double> by_mode(const std::vector<double>& values, std::size_t n_modes);
/// 1, 2, ... n.
[[nodiscard]] std::vector<double> numbers_from_one(std::size_t n);

/// Write modes.nc: eof(mode, lat, lon), pc(mode, time), mean(lat, lon), explained_variance(mode) with its
/// sampling error, and whether a mode is separate from the next; eof_NAME and the like of further variables.
/// From root alone. Throws ResourceError.
void write_modes_netcdf(const Comm& comm, const std::string& path, const ocean::OceanModes& modes,
                        const std::string& history);

}  // namespace quintet::podlstm
