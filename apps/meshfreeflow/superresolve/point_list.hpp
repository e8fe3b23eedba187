#pragma once

#include <array>
#include <string>
#include <vector>

namespace quintet::meshfreeflow {

/// Points [point][axis] of a list: a table (io/files/number_table.hpp) whose columns are named, in any order,
/// or are the axes in this order, which is said; or an HDF5 file with a dataset `points` [n, 3]. Throws
/// InputError (file, line, what).
[[nodiscard]] std::vector<double> read_points(const std::string& path,
                                              const std::array<std::string, 3>& axes);

}  // namespace quintet::meshfreeflow
