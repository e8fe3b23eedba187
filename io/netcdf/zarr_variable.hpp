#pragma once

#include "io/netcdf/netcdf_file.hpp"
#include "io/netcdf/zarr_array.hpp"

namespace quintet::netcdf {

/// An array of zarr as xarray means it: names of its dimensions, attributes; its fill_value is _FillValue
/// where that is no attribute, but for 0, which zarr itself sets. Chunks that are not there are told.
///
/// JSON has no types: whole numbers count as stored ones, others as double.
/// Throws InputError: as many names as there are dimensions.
[[nodiscard]] Variable variable_of(const ZarrArray& array);

}  // namespace quintet::netcdf
