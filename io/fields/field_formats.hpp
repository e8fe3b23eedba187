#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/fields/field_series.hpp"

/// Parts of the reader: one source for each format, behind one interface. Not for users of the room.
namespace quintet::field_formats {

/// An open series as a file has it: axes in the file's order, values not looked at.
class Source {
 public:
  virtual ~Source() = default;
  FieldSeriesHeader header;
  std::vector<double> times;
  Reading reading;
  std::vector<std::uint64_t> n_frames;                          ///< [n_samples]
  std::vector<std::map<std::string, double>> own_parameters{};  ///< [n_samples] or empty: those that differ

  /// Values of a part, row-major; box.space is never empty. Collective.
  virtual void read(int field, std::uint64_t sample, const FieldBox& box,
                    std::vector<float>& values) const = 0;
  virtual void read(int field, std::uint64_t sample, const FieldBox& box,
                    std::vector<double>& values) const = 0;
};

/// One format of HDF5 files: its name, how a file of it is known, how it is opened.
struct Format {
  const char* name;
  bool (*is_it)(const hdf5::Group& root);
  std::unique_ptr<Source> (*open)(const Comm& comm, const std::string& path,
                                  const FieldSeriesOptions& options);
};

/// Whether an HDF5 file is in one of the formats of the table.
[[nodiscard]] bool has_known_format(const std::string& path);

/// Ours and The Well's: fields [sample, time, axes...].
bool is_field_series(const hdf5::Group& root);
std::unique_ptr<Source> open_field_series(const Comm& comm, const std::string& path,
                                          const FieldSeriesOptions& options);

/// Frames that vlasov wrote into its run.h5.
bool is_vlasov_run(const hdf5::Group& root);
std::unique_ptr<Source> open_vlasov_run(const Comm& comm, const std::string& path,
                                        const FieldSeriesOptions& options);

/// Open the output of a Dedalus file handler: a file, or a folder (is_dedalus_folder()).
bool is_dedalus(const hdf5::Group& root);
std::unique_ptr<Source> open_dedalus(const Comm& comm, const std::string& path,
                                     const FieldSeriesOptions& options);

/// NetCDF files and zarr folders with coordinates, as xarray and Oceananigans write them.
bool is_netcdf4(const hdf5::Group& root);
bool is_netcdf_folder(const std::string& path);
std::unique_ptr<Source> open_netcdf_series(const Comm& comm, const std::string& path,
                                           const FieldSeriesOptions& options);

/// Archives of NumPy arrays; no HDF5.
std::unique_ptr<Source> open_npz(const Comm& comm, const std::string& path,
                                 const FieldSeriesOptions& options);

/// Cut times to those that ascend, with a warning: a killed run may leave invalid times after them.
void keep_rising(std::vector<double>& times, const std::string& path);

/// Symbol in equations of a field of this name ("b" for "buoyancy"), unless that very name is wanted.
[[nodiscard]] std::string symbol_of(const std::string& name, const std::vector<std::string>& wanted);

/// The spacing of points that are equally spaced to `tolerance` of it.
[[nodiscard]] std::optional<double> equal_spacing(const std::vector<double>& points, double tolerance = 1e-6);
/// The ends of the interval whose Chebyshev points (roots, -cos(pi (2 j + 1)/(2 n)) scaled to it) these are.
[[nodiscard]] std::optional<std::pair<double, double>> chebyshev_ends(const std::vector<double>& points);

/// Complete an axis: `periodic`, and the ends where the file does not say them, are taken from `facts`;
/// without them the ends are the first and last point, or one period of equally spaced points, which
/// `reading` then says. Throws InputError.
void complete_axis(FieldAxis& axis, const FieldSeriesOptions& options, bool ends_are_known,
                   const std::string& path, Reading& reading);

}  // namespace quintet::field_formats
