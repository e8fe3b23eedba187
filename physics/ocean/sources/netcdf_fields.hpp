#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/files/reading.hpp"
#include "io/hdf5/file.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "io/netcdf/unpacking.hpp"
#include "physics/ocean/coordinates/grid.hpp"

namespace quintet::ocean {

/// How fields lie in a netCDF file, apart from their times, which the files of a record mostly share: enough
/// to read them from the places of their chunks.
class FieldLayout {
 public:
  /// Read fields [n, lat, lon] from a time on of a file of so many times past the netCDF library; any number
  /// of threads may do so at once. Nothing where they are not there, or make no sense: NetcdfFields then says
  /// what is the matter.
  [[nodiscard]] std::optional<std::vector<double>> read(const std::string& path,
                                                        const std::vector<hdf5::ChunkMap::Place>& places,
                                                        int n_times, int first, int n) const;
  /// XXH64 of all that decides on what read() returns.
  [[nodiscard]] std::uint64_t mark() const;

 private:
  friend class NetcdfFields;
  [[nodiscard]] netcdf::Box box(int first, int n) const;
  /// Stored values of a box in our order.
  [[nodiscard]] std::vector<double> in_our_order(std::vector<double> stored, const netcdf::Box& box,
                                                 int n) const;

  hdf5::ChunkMap map_;  ///< without places; no element type where fields can only be read by the library
  std::vector<std::uint64_t> shape_;
  bool is_unsigned_ = false;
  int at_time_ = -1, at_latitude_ = -1, at_longitude_ = -1;  ///< numbers of dimensions
  std::vector<std::size_t> latitude_source_, longitude_source_;
  bool in_order_ = false;  ///< the file has our order of all
  netcdf::Unpacking unpacking_;
};

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
  /// How the fields lie in the file; nullptr where they can only be read by the library.
  [[nodiscard]] std::shared_ptr<const FieldLayout> layout() const {
    return places_.empty() ? nullptr : layout_;
  }
  [[nodiscard]] const std::vector<hdf5::ChunkMap::Place>& places() const { return places_; }
  /// Unpacked values [n, lat, lon] from a time on, NaN for missing ones.
  [[nodiscard]] std::vector<double> read(int first, int n) const;

 private:
  void find_axes(const std::string& what);
  void take_chunks();
  void note_what_is_left(const std::string& variable);

  std::shared_ptr<const netcdf::File> file_;
  std::string variable_, time_, units_;
  OceanGrid grid_;
  int n_times_ = 1;
  std::shared_ptr<FieldLayout> layout_ = std::make_shared<FieldLayout>();
  std::vector<hdf5::ChunkMap::Place> places_;
  Reading reading_;
};

}  // namespace quintet::ocean
