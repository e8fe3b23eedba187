#include "physics/particles/atoms/read_configuration_box.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"

namespace quintet {

namespace {

constexpr double margin = 1.0;  // between an open face and the outermost atom (angstrom)

Vec3 row_of(const Mat3& rows, int r) { return {rows[3 * r], rows[3 * r + 1], rows[3 * r + 2]}; }
double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
bool is_zero(const Vec3& a) { return a[0] == 0 && a[1] == 0 && a[2] == 0; }
Vec3 normalised(Vec3 a) {
  const double length = std::sqrt(dot(a, a));
  for (double& component : a) component /= length;
  return a;
}

/// Unit vector for row r: normal to the rows that are there, making the triple right-handed.
Vec3 missing_direction(const Mat3& rows, int r) {
  const Vec3 next = row_of(rows, (r + 1) % 3), after = row_of(rows, (r + 2) % 3);
  if (!is_zero(next) && !is_zero(after)) return normalised(cross(next, after));
  Vec3 axis{0, 0, 0};
  axis[r] = 1;
  const Vec3 given = is_zero(next) ? after : next;
  if (is_zero(given)) return axis;
  // The part of the axis normal to the one given row; another axis if that one lies along the row.
  if (std::abs(normalised(given)[r]) > 0.9) axis = {axis[2], axis[0], axis[1]};
  const double share = dot(axis, given) / dot(given, given);
  for (int k = 0; k < 3; ++k) axis[k] -= share * given[k];
  return normalised(axis);
}

}  // namespace

Box box_from_file(const Mat3& rows, const std::array<bool, 3>& periodic, const Vec3& origin,
                  const std::vector<Vec3>& positions, const std::string& where, Reading* reading) {
  Mat3 full = rows;
  Vec3 start = origin;
  for (int r = 0; r < 3; ++r) {
    if (!is_zero(row_of(rows, r))) continue;
    QUINTET_CHECK(!periodic[r],
                  "{}: cell vector {} is zero, but direction {} is periodic; give the cell, or make "
                  "the direction open (pbc=\"F F F\")",
                  where, "abc"[r], "xyz"[r]);
    const Vec3 direction = missing_direction(full, r);
    double low = 0, high = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const double along = dot(positions[i], direction);
      low = i == 0 ? along : std::min(low, along);
      high = i == 0 ? along : std::max(high, along);
    }
    const double shift = low - margin - dot(start, direction);
    for (int k = 0; k < 3; ++k) {
      full[3 * r + k] = direction[k] * (high - low + 2 * margin);
      start[k] += direction[k] * shift;
    }
  }
  if (dot(row_of(full, 0), cross(row_of(full, 1), row_of(full, 2))) < 0) {
    for (int k = 0; k < 3; ++k) {
      if (!periodic[2]) start[k] += full[6 + k];  // where atoms are bounded, the region stays
      full[6 + k] *= -1;
    }
    if (reading != nullptr) reading->assume("the cell is left-handed: its row c is reversed");
  }
  try {
    return Box(full, periodic, start);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

}  // namespace quintet
