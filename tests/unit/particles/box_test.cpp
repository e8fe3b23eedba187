#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/box.hpp"

using namespace quintet;

namespace {

constexpr std::array<bool, 3> periodic{true, true, true};
const Mat3 skewed{10, 6, 3, -5, 11, 2, 1, -4, 13};

std::string refusal(const Mat3& rows, const Vec3& origin = {0, 0, 0}) {
  try {
    Box(rows, periodic, origin);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Box, fractional_and_cartesian_coordinates_are_inverse) {
  const Box box(skewed, periodic, {1, 2, 3});

  for (const Vec3& s : {Vec3{0.25, 0.5, 0.125}, Vec3{-3, 7.5, 0}, Vec3{0, 0, 1}}) {
    const Vec3 back = box.to_fractional(box.to_cartesian(s));
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(back[k], s[k], 1e-14);
  }
}

TEST(Box, volume_and_widths_follow_from_the_rows) {
  const Box brick({2, 0, 0, 0, 3, 0, 0, 0, 5}, periodic);
  EXPECT_DOUBLE_EQ(brick.volume(), 30);
  EXPECT_DOUBLE_EQ(brick.width(1), 3);
  // A shear of b along a leaves the volume and the width normal to b; a's becomes 2 cos(45 degrees).
  const Box sheared({2, 0, 0, 3, 3, 0, 0, 0, 5}, periodic);
  EXPECT_DOUBLE_EQ(sheared.volume(), 30);
  EXPECT_DOUBLE_EQ(sheared.width(1), 3);
  EXPECT_DOUBLE_EQ(sheared.width(0), std::sqrt(2.0));
}

TEST(Box, deformation_moves_every_point_alike) {
  const Box box(skewed, periodic, {1, 2, 3});
  const Mat3 d{1.1, 0.02, 0, -0.03, 0.9, 0, 0, 0.04, 1.2};

  const Box deformed = box.deformed(d);

  const Vec3 s{0.3, 0.7, -0.2}, x = box.to_cartesian(s), y = deformed.to_cartesian(s);
  for (int l = 0; l < 3; ++l) EXPECT_NEAR(y[l], x[0] * d[l] + x[1] * d[3 + l] + x[2] * d[6 + l], 1e-13);
}

TEST(Box, encloses_points_that_come_without_a_cell) {
  const std::vector<Vec3> points{{1, 2, 3}, {4, -2, 3}};

  const Box box = Box::enclosing(points, 1.5);

  EXPECT_EQ(box.periodic(), (std::array<bool, 3>{false, false, false}));
  EXPECT_EQ(box.origin(), (Vec3{-0.5, -3.5, 1.5}));
  EXPECT_EQ(box.rows(), (Mat3{6, 0, 0, 0, 7, 0, 0, 0, 3}));
}

TEST(Box, impossible_cells_are_refused_with_the_reason) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  EXPECT_NE(refusal({10, 0, 0, 0, nan, 0, 0, 0, 10}).find("not a finite number"), std::string::npos);
  EXPECT_NE(refusal({10, 0, 0, 0, inf, 0, 0, 0, 10}).find("not a finite number"), std::string::npos);
  EXPECT_NE(refusal({10, 0, 0, 0, 0, 0, 0, 0, 10}).find("zero or absurd length"), std::string::npos);
  EXPECT_NE(refusal({1e200, 0, 0, 0, 1e200, 0, 0, 0, 1e200}).find("zero or absurd length"),
            std::string::npos);
  EXPECT_NE(refusal({10, 0, 0, 10, 1e-5, 0, 0, 0, 10}).find("coplanar"), std::string::npos);
  EXPECT_NE(refusal({0, 10, 0, 10, 0, 0, 0, 0, 10}).find("inverted"), std::string::npos);
  EXPECT_NE(refusal(skewed, {0, nan, 0}).find("origin"), std::string::npos);
  EXPECT_EQ(refusal(skewed), "");
}
