#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/file.hpp"
#include "io/netcdf/netcdf_file.hpp"

namespace quintet::netcdf {

/// Whether unpacked_chunks() knows the elements of a map: int16 and float32.
[[nodiscard]] bool can_unpack(const hdf5::ChunkMap& map);

/// Read a box of a netCDF-4 variable past its library, from the places where its chunks lie, as
/// File::read_unpacked() does, to the bit. Any number of threads may do so at once.
///
/// @param map of the file as it is now, that can_unpack() knows
/// @param is_unsigned Variable::is_unsigned
/// @param box within map.shape, of one element or more
/// Returns numbers unpacked, row-major, NaN for missing ones; nothing where the file does not have them
/// there, or they make no sense: the library's reader then says what is the matter.
[[nodiscard]] std::optional<std::vector<double>> unpacked_chunks(const std::string& path,
                                                                 const hdf5::ChunkMap& map, bool is_unsigned,
                                                                 const Box& box, const Unpacking& unpacking);

}  // namespace quintet::netcdf
