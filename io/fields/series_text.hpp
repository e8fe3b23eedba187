#pragma once

#include <string>

namespace quintet {

/// Whether a path is what FieldSeriesReader may read: a folder of zarr or of Dedalus, an archive of NumPy
/// arrays, a netCDF file, an HDF5 file of a known format.
[[nodiscard]] bool may_be_field_series(const std::string& path);

/// Text on how fields over time were understood: axes, times, fields with their units and ranges of the first
/// frame, parameters, what was assumed and not used; or, where they cannot be read, why. Lines, with a line
/// feed after each.
[[nodiscard]] std::string field_series_text(const std::string& path);

}  // namespace quintet
