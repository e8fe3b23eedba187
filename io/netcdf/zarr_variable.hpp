#pragma once

#include "io/netcdf/netcdf_file.hpp"
#include "io/netcdf/zarr_array.hpp"

namespace quintet::netcdf {

/// Variable of a zarr array, read as xarray does: names of its dimensions, attributes. The array's fill_value
/// stands for a missing attribute _FillValue, unless it is 0, which zarr itself sets. Missing chunks are
/// reported.
///
/// JSON has no types: whole numbers count as stored ones, others as double.
/// Throws InputError: as many names as there are dimensions.
[[nodiscard]] Variable variable_of(const ZarrArray& array);

}  // namespace quintet::netcdf
