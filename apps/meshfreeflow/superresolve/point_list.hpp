#pragma once

#include <array>
#include <string>
#include <vector>

namespace quintet::meshfreeflow {

/// Points [point][axis] of a list: .csv with a line of names, which may stand in any order, or .h5 with a
/// dataset `points` [n, 3]. Throws InputError (file, line, what).
[[nodiscard]] std::vector<double> read_points(const std::string& path,
                                              const std::array<std::string, 3>& axes);

}  // namespace quintet::meshfreeflow
