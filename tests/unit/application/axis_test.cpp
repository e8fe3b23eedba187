#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "apps/application/report/axis.hpp"

namespace quintet {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Range range_of(std::initializer_list<double> values, bool logarithmic = false) {
  Range range(logarithmic);
  for (const double value : values) range.include(value);
  return range;
}

std::string labels(const Axis& axis) {
  std::string text;
  for (const auto& tick : axis.ticks)
    if (!tick.label.empty()) text += tick.label + " ";
  return text;
}

TEST(Axis, ticks_are_round_numbers) {
  EXPECT_EQ(labels(make_axis(range_of({0, 10}), 0, 6)), "0 2 4 6 8 10 ");
  EXPECT_EQ(labels(make_axis(range_of({-0.31, 0.29}), 0, 6)), "−0.3 −0.2 −0.1 0.0 0.1 0.2 ");
  EXPECT_EQ(labels(make_axis(range_of({0, 1.0 / 3}), 0, 6)), "0.00 0.05 0.10 0.15 0.20 0.25 0.30 ");
}

TEST(Axis, ticks_stand_where_their_values_are) {
  for (const double scale : {1e-200, 1e-9, 0.37, 1.0, 4.2e5, 1e200}) {
    const Axis axis = make_axis(range_of({-1.7 * scale, 2.9 * scale}), 0.05, 6);

    ASSERT_GE(axis.ticks.size(), 4u);
    ASSERT_LE(axis.ticks.size(), 12u);
    const double step = axis.ticks[1].place - axis.ticks[0].place;
    for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
      EXPECT_GE(axis.ticks[i].place, -1e-9);
      EXPECT_LE(axis.ticks[i].place, 1 + 1e-9);
      EXPECT_NEAR(axis.ticks[i].place, axis.ticks[0].place + i * step, 1e-9);
    }
    EXPECT_NEAR(axis.place(axis.low + 0.25 * (axis.high - axis.low)), 0.25, 1e-9);
  }
}

TEST(Axis, a_narrow_logarithmic_axis_has_numbers_too) {
  const Axis axis = make_axis(range_of({0.149, 0.17}, true), 0, 6);

  EXPECT_EQ(labels(axis), "0.150 0.152 0.154 0.156 0.158 0.160 0.162 0.164 0.166 0.168 0.170 ");
  for (const auto& tick : axis.ticks) EXPECT_NEAR(tick.place, axis.place(std::stod(tick.label)), 1e-9);
  EXPECT_EQ(labels(make_axis(range_of({0.3, 30}, true), 0, 6)), "1 10 ");
  EXPECT_EQ(labels(make_axis(range_of({0.8e-7, 1.5e-7}, true), 0, 6)), "0.8 0.9 1.0 1.1 1.2 1.3 1.4 1.5 ");
}

TEST(Axis, large_and_small_numbers_share_a_power_of_ten) {
  const Axis axis = make_axis(range_of({0, 3e-9}), 0, 6);

  EXPECT_EQ(axis.note, "×10⁻⁹");
  EXPECT_EQ(labels(axis), "0.0 0.5 1.0 1.5 2.0 2.5 3.0 ");
}

TEST(Axis, a_small_change_of_a_large_number_is_shown_as_the_change) {
  const Axis axis = make_axis(range_of({-12345.6789, -12345.678899}), 0, 5);

  EXPECT_NE(axis.note.find("− 12345.6789"), std::string::npos) << axis.note;
  for (const auto& tick : axis.ticks) EXPECT_LT(tick.label.size(), 8u) << tick.label;
}

TEST(Axis, logarithmic_ticks_are_decades) {
  EXPECT_EQ(labels(make_axis(range_of({1e-5, 1e2}, true), 0, 7)), "10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 10⁰ 10¹ 10² ");
  EXPECT_EQ(labels(make_axis(range_of({0.9, 110}, true), 0, 6)), "1 10 100 ");
  EXPECT_EQ(labels(make_axis(range_of({1, 10}, true), 0, 6)), "1 2 5 10 ");
}

TEST(Axis, a_logarithmic_axis_shows_positive_numbers_only) {
  const Axis axis = make_axis(range_of({-5, 0, 10, 1000}, true), 0, 6);

  EXPECT_NEAR(axis.place(100), 0.5, 1e-12);
  EXPECT_TRUE(std::isnan(axis.place(0)));
  EXPECT_TRUE(std::isnan(axis.place(-1)));
}

TEST(Axis, a_constant_is_in_the_middle) {
  for (const double value : {0.0, 5.0, -1e-30, 1e250})
    EXPECT_NEAR(make_axis(range_of({value}), 0, 6).place(value), 0.5, 1e-9);
}

TEST(Axis, nothing_finite_makes_an_empty_axis) {
  EXPECT_TRUE(make_axis(range_of({}), 0, 6).empty);
  EXPECT_TRUE(make_axis(range_of({nan, infinity, -infinity}), 0, 6).empty);
  EXPECT_FALSE(make_axis(range_of({nan, 1}), 0, 6).empty);
}

TEST(Axis, the_largest_numbers_do_not_overflow) {
  const Axis axis = make_axis(range_of({-1.7e308, 1.7e308, 1e299, -1e299}), 0.05, 6);

  EXPECT_TRUE(std::isfinite(axis.high - axis.low));
  EXPECT_FALSE(axis.ticks.empty());
  EXPECT_LT(axis.ticks.size(), 20u);
}

}  // namespace
}  // namespace quintet
