#include "physics/convection/grid.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/convection/linear/line_operator.hpp"

using namespace quintet;
using namespace quintet::convection;

TEST(Axis, ends_where_it_is_told_and_is_its_own_mirror_image) {
  for (const Spacing spacing : {Spacing::uniform, Spacing::tanh, Spacing::cosine})
    for (const int n : {4, 7, 32}) {
      const Axis axis = make_axis(-0.5, 0.5, n, spacing, 1.7, false);
      ASSERT_EQ(axis.n(), n);
      EXPECT_DOUBLE_EQ(axis.faces.front(), -0.5);
      EXPECT_DOUBLE_EQ(axis.faces.back(), 0.5);
      double sum = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const auto other = static_cast<std::size_t>(n) - 1 - i;
        EXPECT_GT(axis.widths[i], 0);
        EXPECT_NEAR(axis.centres[i], -axis.centres[other], 1e-15);
        EXPECT_NEAR(axis.widths[i], axis.widths[other], 1e-15);
        sum += axis.widths[i];
      }
      EXPECT_NEAR(sum, 1, 1e-14);
      EXPECT_EQ(axis.uniform(), spacing == Spacing::uniform);
    }
}

TEST(Axis, of_hyperbolic_tangents_is_finer_at_both_ends_by_its_strength) {
  const int n = 1000;
  const Axis axis = make_axis(0, 1, n, Spacing::tanh, 1.5, false);
  EXPECT_NEAR(axis.widths[0] * n, 1.5 / (std::sinh(1.5) * std::cosh(1.5)), 0.01);
}

TEST(Axis, refuses_what_is_none) {
  EXPECT_THROW((void)make_axis(0, 1, 3, Spacing::uniform, 1, false), InputError);
  EXPECT_THROW((void)make_axis(1, 1, 8, Spacing::uniform, 1, false), InputError);
  EXPECT_THROW((void)make_axis(0, 1, 8, Spacing::tanh, 0, false), InputError);
  EXPECT_THROW((void)make_axis(0, 1, 8, Spacing::tanh, 1, true), InputError);
}

TEST(LineOperator, is_symmetric_and_differentiates_parabolas_between_walls) {
  const Axis axis = make_axis(0, 1, 16, Spacing::uniform, 1, false);
  const LineOperator line = faces_operator(axis);
  const auto parabola = [](double x) { return x * (1 - x); };
  for (std::size_t i = 1; i < 16; ++i) {
    const double here = parabola(axis.faces[i]), below = parabola(axis.faces[i - 1]),
                 above = parabola(axis.faces[i + 1]);
    const double second =
        (line.upper[i] * (above - here) - line.lower[i] * (here - below) - line.wall[i] * here) /
        line.weight[i];
    EXPECT_NEAR(second, -2, 1e-11);
    if (i > 1) {
      EXPECT_EQ(line.lower[i], line.upper[i - 1]);
    }
  }
}
