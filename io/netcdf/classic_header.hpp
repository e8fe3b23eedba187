#pragma once

#include <cstdint>
#include <string>

namespace quintet::netcdf {

/// Read the header of a file in one of the classic formats (CDF-1, 2, 5) and see whether all that it tells of
/// is there: the library itself reads zeros beyond the end of a file that was cut. Other files are left
/// alone. Throws InputError that names the file.
///
/// Source: "NetCDF Classic Format Specification", Unidata, appendix B of the NetCDF User's Guide.
void check_classic_file(const std::string& path, std::uint64_t bytes);

}  // namespace quintet::netcdf
