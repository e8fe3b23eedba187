#include "physics/particles/atoms/box.hpp"

#include <algorithm>

#include "io/log/error.hpp"

namespace quintet {
namespace {

Vec3 row(const Mat3& m, int k) { return {m[3 * k], m[3 * k + 1], m[3 * k + 2]}; }

Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double norm(const Vec3& a) { return std::sqrt(dot(a, a)); }

double determinant(const Mat3& m) { return dot(row(m, 0), cross(row(m, 1), row(m, 2))); }

std::string text(const Mat3& m) {
  return fmt::format(
      "a = ({:.6g}, {:.6g}, {:.6g}), b = ({:.6g}, {:.6g}, {:.6g}), c = ({:.6g}, {:.6g}, {:.6g}) A", m[0],
      m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]);
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

void check_rows(const Mat3& rows) {
  QUINTET_CHECK(all_finite(rows), "the cell has an entry that is not a finite number: {}; give nine numbers",
                text(rows));
  const double volume = determinant(rows);
  const double box = norm(row(rows, 0)) * norm(row(rows, 1)) * norm(row(rows, 2));
  QUINTET_CHECK(box > 0 && std::isfinite(box),
                "the cell has a row of zero or absurd length: {}; give three rows with a volume", text(rows));
  // Below this sine-like measure of the angles a cell is a mistake, and fractional coordinates lose digits.
  constexpr double flattest = 1e-4;
  QUINTET_CHECK(std::abs(volume) > flattest * box,
                "the rows of the cell are (nearly) coplanar: {} has a volume of {:.3g} A^3; give three "
                "independent rows",
                text(rows), volume);
  QUINTET_CHECK(
      volume > 0,
      "the cell is inverted (left-handed): {} has a volume of {:.6g} A^3; expected a . (b x c) > 0: swap two "
      "rows or change the sign of one",
      text(rows), volume);
}

}  // namespace

Box::Box(const Mat3& rows, const std::array<bool, 3>& periodic, const Vec3& origin)
    : rows_(rows), origin_(origin), periodic_(periodic) {
  check_rows(rows);
  QUINTET_CHECK(all_finite(origin), "the origin of the cell is not finite: ({}, {}, {})", origin[0],
                origin[1], origin[2]);
  const double volume = determinant(rows);
  // s_0 = (x - origin) . (b x c) / V and cyclic: the columns of the inverse.
  for (int k = 0; k < 3; ++k) {
    const Vec3 normal = cross(row(rows, (k + 1) % 3), row(rows, (k + 2) % 3));
    for (int l = 0; l < 3; ++l) inverse_[3 * l + k] = normal[l] / volume;
  }
}

Box Box::enclosing(std::span<const Vec3> points, double margin) {
  Vec3 lower{0, 0, 0}, upper{0, 0, 0};
  for (std::size_t i = 0; i < points.size(); ++i) {
    QUINTET_CHECK(all_finite(points[i]), "the position of atom {} is not finite: ({}, {}, {})", i + 1,
                  points[i][0], points[i][1], points[i][2]);
    for (int k = 0; k < 3; ++k) {
      lower[k] = i == 0 ? points[i][k] : std::min(lower[k], points[i][k]);
      upper[k] = i == 0 ? points[i][k] : std::max(upper[k], points[i][k]);
    }
  }
  Mat3 rows{};
  for (int k = 0; k < 3; ++k) {
    rows[4 * k] = upper[k] - lower[k] + 2 * margin;
    lower[k] -= margin;
  }
  return Box(rows, {false, false, false}, lower);
}

double Box::volume() const { return determinant(rows_); }

double Box::width(int k) const { return 1.0 / norm({inverse_[k], inverse_[3 + k], inverse_[6 + k]}); }

Vec3 Box::to_cartesian(const Vec3& s) const {
  Vec3 x = origin_;
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) x[l] += s[k] * rows_[3 * k + l];
  return x;
}

Box Box::deformed(const Mat3& deformation) const {
  Vec3 origin{};
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) origin[l] += origin_[k] * deformation[3 * k + l];
  return Box(product(rows_, deformation), periodic_, origin);
}

Mat3 product(const Mat3& a, const Mat3& b) {
  Mat3 c{};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < 3; ++j) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  return c;
}

}  // namespace quintet
