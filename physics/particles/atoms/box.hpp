#pragma once

#include <array>
#include <cmath>
#include <span>

namespace quintet {

using Vec3 = std::array<double, 3>;
/// Row-major 3x3: rows first.
using Mat3 = std::array<double, 9>;

/// A simulation cell with rows a, b, c (angstrom), any right-handed triclinic shape; each direction periodic
/// or open.
///
/// x = origin + s_0 a + s_1 b + s_2 c, fractional coordinates s in [0, 1). An open direction keeps a row (its
/// extent and normal), used for binning and decomposition only: atoms may leave it.
class Box {
 public:
  Box() = default;
  /// Throws InputError: NaN, zero or negative volume (inverted), rows too nearly parallel.
  Box(const Mat3& rows, const std::array<bool, 3>& periodic, const Vec3& origin = {0, 0, 0});
  /// The open, orthogonal box that holds all points with `margin` (angstrom) to spare on each side; for files
  /// that give no cell. Throws InputError for points that are not finite.
  [[nodiscard]] static Box enclosing(std::span<const Vec3> points, double margin = 1.0);

  [[nodiscard]] const Mat3& rows() const { return rows_; }
  [[nodiscard]] const Mat3& inverse() const {
    return inverse_;
  }  ///< s_k = sum_l (x - origin)_l inverse[3l + k]
  [[nodiscard]] const Vec3& origin() const { return origin_; }
  [[nodiscard]] const std::array<bool, 3>& periodic() const { return periodic_; }
  [[nodiscard]] bool fully_periodic() const { return periodic_[0] && periodic_[1] && periodic_[2]; }
  [[nodiscard]] double volume() const;  ///< (angstrom^3)
  /// Distance between the two faces normal to direction k: volume / |other two rows' cross product|
  /// (angstrom).
  [[nodiscard]] double width(int k) const;
  [[nodiscard]] Vec3 to_fractional(const Vec3& x) const {
    return {fractional(0, x[0], x[1], x[2]), fractional(1, x[0], x[1], x[2]),
            fractional(2, x[0], x[1], x[2])};
  }
  /// Fractional coordinate s_k of (x, y, z).
  [[nodiscard]] double fractional(int k, double x, double y, double z) const {
    return (x - origin_[0]) * inverse_[k] + (y - origin_[1]) * inverse_[3 + k] +
           (z - origin_[2]) * inverse_[6 + k];
  }
  [[nodiscard]] Vec3 to_cartesian(const Vec3& s) const;
  /// The box with every row r replaced by r * deformation (x_l = sum_k r_k D[3k+l]); origin transforms alike.
  [[nodiscard]] Box deformed(const Mat3& deformation) const;

  [[nodiscard]] bool operator==(const Box&) const = default;

 private:
  Mat3 rows_{1, 0, 0, 0, 1, 0, 0, 0, 1};
  Mat3 inverse_{1, 0, 0, 0, 1, 0, 0, 0, 1};
  Vec3 origin_{0, 0, 0};
  std::array<bool, 3> periodic_{true, true, true};
};

/// The product A B of two row-major matrices: (A B)[3i + j] = sum_k A[3i + k] B[3k + j].
[[nodiscard]] Mat3 product(const Mat3& a, const Mat3& b);

}  // namespace quintet
