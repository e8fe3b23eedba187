#include "io/netcdf/types.hpp"

#include <limits>

#include <netcdf.h>

namespace quintet::netcdf {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr TypeRow types[] = {{NC_BYTE, "byte", 8, false, none, 1},
                             {NC_UBYTE, "ubyte", 8, true, none, 1},
                             {NC_SHORT, "short", 16, false, NC_FILL_SHORT, 2},
                             {NC_USHORT, "ushort", 16, true, NC_FILL_USHORT, 2},
                             {NC_INT, "int", 32, false, NC_FILL_INT, 3},
                             {NC_UINT, "uint", 32, true, static_cast<double>(NC_FILL_UINT), 3},
                             {NC_INT64, "int64", 64, false, static_cast<double>(NC_FILL_INT64), 4},
                             {NC_UINT64, "uint64", 64, true, static_cast<double>(NC_FILL_UINT64), 4},
                             {NC_FLOAT, "float", 0, false, static_cast<double>(NC_FILL_FLOAT), 5},
                             {NC_DOUBLE, "double", 0, false, NC_FILL_DOUBLE, 6}};

}  // namespace

const TypeRow* row_of_type(int type) {
  for (const auto& row : types)
    if (row.value == type) return &row;
  return nullptr;
}

const TypeRow* row_of_name(const std::string& name) {
  for (const auto& row : types)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace quintet::netcdf
