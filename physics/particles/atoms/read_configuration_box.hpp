#pragma once

#include <string>
#include <vector>

#include "io/files/reading.hpp"
#include "physics/particles/atoms/box.hpp"

namespace quintet {

/// The box of the rows in a file; errors of Box are told with the place in the file.
///
/// Rows that are zero in open directions (or all rows, where the file gives no cell) become normal to the
/// others and long enough to hold the atoms with a margin of 1 angstrom; the origin moves along them to where
/// the atoms begin. A left-handed triple becomes right-handed: row c is reversed, which describes the same
/// crystal, and `reading` says so. Throws InputError: a zero row in a periodic direction, or what Box
/// refuses.
[[nodiscard]] Box box_from_file(const Mat3& rows, const std::array<bool, 3>& periodic, const Vec3& origin,
                                const std::vector<Vec3>& positions, const std::string& where,
                                Reading* reading = nullptr);

}  // namespace quintet
