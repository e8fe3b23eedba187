#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/ocean/record_cases.hpp"

namespace quintet::ocean {
namespace {

TEST_F(RecordTest, points_that_stay_at_the_freezing_value_of_high_latitudes_are_sea_under_ice) {
  Written ice;
  ice.latitude = {80, 50, 49};
  ice.days = {66410, 66417, 66424, 66431, 66438};
  ice.packed = false;
  const auto frozen = [&](double north_of, double celsius) {
    ice.value = [=, zero = ice.units == "K" ? 273.15 : 0](double y, double x, double day) {
      return zero + (y >= north_of && x < 100 ? celsius : Written{}.value(0, x, day));
    };
    write("a.nc", ice);
  };
  for (const char* unit : {"degC", "K"})
    for (const double celsius : {-1.8, -1.849, -1.751}) {
      ice.units = unit;
      frozen(50, celsius);
      const auto record = open({"a.nc"});
      EXPECT_EQ(record.n_points(), 12);
      EXPECT_NE(record.notes().back().find("kept as sea under ice"), std::string::npos);
    }
  RecordOptions land;
  land.constant_points = ConstantPoints::land;
  EXPECT_EQ(open({"a.nc"}, land).n_points(), 8);
  frozen(49, -1.8);  // as far south as this there is no sea that is frozen all year
  refused({"a.nc"}, "2 points never vary: 2 of them are -1.8 at all 5 times, the first is 49N 0.5E");
  for (const double celsius : {-1.86, -1.74, 0.0}) {
    frozen(50, celsius);
    refused({"a.nc"}, "4 points never vary");
  }
  ice.units = "degC";
  ice.words["long_name"] = "anomaly of the sea surface temperature";
  frozen(50, -1.8);
  refused({"a.nc"}, "4 points never vary");
}

TEST_F(RecordTest, points_that_never_vary_are_asked_about) {
  Written islands;
  islands.days = {66410, 66417, 66424, 66431, 66438};
  islands.packed = false;
  islands.value = [](double y, double x, double day) {
    return y > 1 && x < 100 ? 0 : Written{}.value(y, x, day);
  };
  write("a.nc", islands);
  refused({"a.nc"}, "2 points never vary: 2 of them are 0 at all 5 times, the first is 1.5N 0.5E");
  refused({"a.nc"}, "fields.constant_points: land or sea");
  RecordOptions said;
  said.constant_points = ConstantPoints::land;
  EXPECT_EQ(open({"a.nc"}, said).n_points(), 10);
  said.constant_points = ConstantPoints::sea;
  EXPECT_EQ(open({"a.nc"}, said).n_points(), 12);
  FieldOptions marked;
  marked.unpacking.missing = {-1000, 0};
  EXPECT_EQ(open({"a.nc"}, {}, std::nullopt, marked).n_points(), 10);
  const MaskFile mask{{{-0.5, 0.5, 1.5}, {0.5, 90.5, 180.5, 270.5}}, std::vector<std::uint8_t>(12, 1)};
  const auto masked = open({"a.nc"}, {}, mask);
  EXPECT_EQ(masked.n_points(), 12);
  EXPECT_NE(masked.notes().back().find("kept as sea, as the mask says"), std::string::npos);

  // Of the same kind: land of the ice point in kelvin, where the number that marks it is 273.15.
  islands.units = "K";
  islands.value = [](double y, double x, double day) {
    return y > 1 && x < 100 ? 273.15 : Written{}.value(y, x, day) + 273.15;
  };
  write("k.nc", islands);
  refused({"k.nc"}, "fields.missing: [273.15]");
  marked.unpacking.missing = {273.15};
  EXPECT_EQ(open({"k.nc"}, {}, std::nullopt, marked).n_points(), 10);

  // And land of 0 K.
  islands.value = [](double y, double x, double day) {
    return y > 1 && x < 100 ? 0 : Written{}.value(y, x, day) + 273.15;
  };
  write("k.nc", islands);
  refused({"k.nc"}, "if it marks land: fields.missing: [0]");
  marked.unpacking.missing = {0};
  EXPECT_EQ(open({"k.nc"}, {}, std::nullopt, marked).n_points(), 10);

  // What varies once, by little, is sea; four times say nothing.
  islands.units = "degC";
  islands.value = [](double y, double x, double day) {
    return y > 1 && x < 100 ? (day == 66424 ? -1.79 : -1.8) : Written{}.value(y, x, day);
  };
  write("ice.nc", islands);
  EXPECT_EQ(open({"ice.nc"}).n_points(), 12);
  islands.value = [](double y, double x, double day) {
    return y > 1 && x < 100 ? 0 : Written{}.value(y, x, day);
  };
  islands.days.pop_back();
  write("short.nc", islands);
  EXPECT_EQ(open({"short.nc"}).n_points(), 12);
}

TEST_F(RecordTest, points_whose_known_values_never_vary_are_asked_about_where_gaps_are_filled) {
  Written islands;
  islands.packed = false;
  double first = 0;  // day with a value of the islands
  islands.value = [&](double y, double x, double day) {
    if (y < 1 || x > 100) return Written{}.value(y, x, day);
    return day < first ? std::nan("") : 0;
  };
  islands.days = {66410, 66417, 66424, 66431, 66438, 66445};
  RecordOptions fill;
  fill.incomplete_points = IncompletePoints::dineof;
  fill.least_values = 0.5;
  const auto expect_refused = [&] {
    try {
      static_cast<void>(open({"a.nc"}, fill));
      FAIL() << "islands were taken for sea";
    } catch (const InputError& error) {
      EXPECT_NE(
          std::string(error.what())
              .find("2 points never vary: 2 of them are 0 at all times with a value, the first is 1.5N"),
          std::string::npos)
          << error.what();
    }
  };
  first = islands.days[1];  // five values are enough to tell
  write("a.nc", islands);
  expect_refused();
  fill.constant_points = ConstantPoints::land;
  EXPECT_EQ(open({"a.nc"}, fill).n_points(), 10);
  fill.constant_points = ConstantPoints::refuse;
  first = islands.days[2];  // four are not: the rounding of packed numbers may keep them alike
  write("a.nc", islands);
  EXPECT_EQ(open({"a.nc"}, fill).n_points(), 12);
}

}  // namespace
}  // namespace quintet::ocean
