#pragma once

#include <string>

namespace quintet::netcdf {

/// A type of numbers of the netCDF library.
struct TypeRow {
  int value;  ///< nc_type
  const char* name;
  int n_bits;  ///< of an integer; 0: none
  bool is_unsigned;
  double fill;  ///< what stands where nothing was written; NaN: none (bytes)
  int width;    ///< order of types: a wider one holds what a narrower one does
};
/// nullptr: no numbers.
[[nodiscard]] const TypeRow* row_of_type(int type);
[[nodiscard]] const TypeRow* row_of_name(const std::string& name);

}  // namespace quintet::netcdf
