#include "physics/ocean/record.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "tests/unit/ocean/record_cases.hpp"

namespace quintet::ocean {
namespace {

TEST_F(RecordTest, every_order_of_axes_gives_the_same_points) {
  write("a.nc", {});
  const auto expected = values(open({"a.nc"}));
  ASSERT_EQ(expected.size(), 36U);
  EXPECT_NEAR(expected[0], 20 - 0.5 + 0.005, 0.006);  // 0.5S 0.5E comes first
  EXPECT_NEAR(expected[1] - expected[0], 0.1, 1e-6);  // times of a point
  Written turned;
  turned.latitude = {-0.5, 0.5, 1.5};
  turned.longitude = {-179.5, -89.5, 0.5, 90.5};
  turned.value = [](double y, double x, double day) { return Written{}.value(y, x < 0 ? x + 360 : x, day); };
  write("b.nc", turned);
  const auto record = open({"b.nc"});
  EXPECT_EQ(values(record), expected);
  EXPECT_EQ(record.grid().longitude, (std::vector<double>{0.5, 90.5, 180.5, 270.5}));
  ASSERT_FALSE(record.notes().empty());
  EXPECT_NE(record.notes()[0].find("-179.5"), std::string::npos);
  Written shifted;
  shifted.longitude = {90.5, 180.5, 270.5, 360.5};
  shifted.value = [](double y, double x, double day) {
    return Written{}.value(y, x > 360 ? x - 360 : x, day);
  };
  shifted.with_level = true;
  shifted.format = netcdf::Format::netcdf4;
  write("c.nc", shifted);
  EXPECT_EQ(values(open({"c.nc"})), expected);
}

TEST_F(RecordTest, files_follow_each_other_and_kelvin_become_celsius) {
  write("a.nc", {});
  Written later;
  later.days = {66431, 66434, 66441};
  later.units = "K";
  later.packed = false;
  later.value = [](double y, double x, double day) { return Written{}.value(y, x, day) + 273.15; };
  write("b.nc", later);
  const auto record = open({"a.nc", "b.nc"});
  EXPECT_EQ(record.n_times(), 6);
  EXPECT_EQ(date_text(record.days()[4]), "1981-11-22");
  EXPECT_NEAR(values(record)[3], Written{}.value(-0.5, 0.5, 66431), 1e-9);
  bool told = false;
  for (const auto& note : record.notes())
    told |= note.find("3 days from 1981-11-19 to 1981-11-22") != std::string::npos;
  EXPECT_TRUE(told);
  RecordOptions part;
  part.from = 66417, part.to = 66431;
  EXPECT_EQ(open({"a.nc", "b.nc"}, part).n_times(), 3);
  refused({"b.nc", "a.nc"}, "must follow each other in time");
  refused({"a.nc", "a.nc"}, "must follow each other in time");
  Written other;
  other.latitude = {2, 1, 0};
  other.days = {66431};
  write("c.nc", other);
  refused({"a.nc", "c.nc"}, "another grid");
}

TEST_F(RecordTest, masks_and_missing_values_make_the_sea) {
  Written islands;
  islands.value = [](double y, double x, double day) {
    return y > 1 && x < 100 ? NAN : Written{}.value(y, x, day);
  };
  write("a.nc", islands);
  EXPECT_EQ(open({"a.nc"}).n_points(), 10);
  MaskFile mask{{{-0.5, 0.5, 1.5}, {0.5, 90.5, 180.5, 270.5}}, {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1}};
  const auto masked = open({"a.nc"}, {}, mask);
  EXPECT_EQ(masked.n_points(), 6);
  EXPECT_EQ(masked.mask(), mask.sea);
  mask.sea.assign(12, 1);
  refused({"a.nc"}, "2 sea points have no value at some times", {}, mask);
  RecordOptions drop;
  drop.incomplete_points = IncompletePoints::drop;
  EXPECT_EQ(open({"a.nc"}, drop, mask).n_points(), 10);
  mask.sea.assign(12, 0);
  refused({"a.nc"}, "land everywhere", {}, mask);
  mask.grid.latitude = {0, 1, 2};
  refused({"a.nc"}, "fields.mask: is on another grid", {}, mask);
  Written melting = islands;
  melting.value = [](double y, double x, double day) {
    return y > 1 && day > 66420 ? NAN : Written{}.value(y, x, day);
  };
  refused(melting, "the first is 1.5N 0.5E, at 1 of 3 times");
  melting.value = [](double y, double x, double day) {
    return day == 66417 ? NAN : Written{}.value(y, x, day);
  };
  refused(melting, "1981-11-05 has no value at any sea point");
  melting.value = [](double, double, double) { return NAN; };
  refused(melting, "there is no sea");
}

TEST_F(RecordTest, regions_go_round_greenwich) {
  write("a.nc", {});
  RecordOptions options;
  auto& region = options.region;
  region.south = 0, region.west = -100, region.east = 20;
  const auto record = open({"a.nc"}, options);
  EXPECT_EQ(record.grid().longitude, (std::vector<double>{0.5, 270.5}));
  EXPECT_EQ(record.grid().latitude, (std::vector<double>{0.5, 1.5}));
  EXPECT_NEAR(values(record)[3], Written{}.value(0.5, 270.5, 66410), 0.006);
  region.south = 80;
  refused({"a.nc"}, "fields.region", options);
}

TEST_F(RecordTest, what_is_wrong_is_said_in_a_line) {
  const auto with = [](const std::function<void(Written&)>& change) {
    Written written;
    change(written);
    return written;
  };
  refused(with([](auto& w) { w.days = {66410, 66417, 66417}; }), "comes twice");
  refused(with([](auto& w) { w.days = {66410, 66424, 66417}; }), "do not ascend");
  refused(with([](auto& w) { w.days = {66410, 66417, 66417.0069}; }), "comes twice");  // up to round-off
  write("short_step.nc", with([](auto& w) { w.days = {66410, 66417, 66417.0071}; }));
  EXPECT_EQ(open({"short_step.nc"}).n_times(), 3);  // told of, as any odd step
  const auto gaps = with([](auto& w) { w.days = {66410, 66417, 66424, 66445}; });
  refused(gaps, "times are missing between steps of 7 days: 1981-11-12 to 1981-12-03");
  RecordOptions keep;
  keep.keep_gaps = true;
  write("gap.nc", gaps);
  EXPECT_EQ(open({"gap.nc"}, keep).n_times(), 4);
  EXPECT_EQ(open({"gap.nc"}, keep).notes().size(), 2U);  // latitudes, gap
  refused(with([](auto& w) { w.calendar = "mayan"; }), "calendar 'mayan'");
  refused(with([](auto& w) { w.time_units = ""; }), "no units");
  refused(with([](auto& w) { w.time_units = "months since 1800-1-1"; }), "no fixed length");
  refused(with([](auto& w) { w.units = ""; }), "fields.units");
  refused(with([](auto& w) { w.value = [](double, double, double) { return 290.0; }; }),
          "290 degrees Celsius");
  refused(with([](auto& w) { w.latitude_units = false; }), "dimension lat of 3 elements is no time");
  refused(with([](auto& w) { w.latitude = {91.5, 0.5, -0.5}; }), "lat: goes from");
  refused(with([](auto& w) { w.latitude = {0.5, 1.5, -0.5}; }), "is in no order");
  refused(with([](auto& w) { w.longitude = {0, 120, 240, 360}; }), "comes twice, as 0 and 360");
  refused(with([](auto& w) { w.packed = false, w.value = [](double, double, double) { return INFINITY; }; }),
          "infinite");
  RecordOptions never;
  never.from = 70000;
  refused({"gap.nc"}, "0 times between", never);
  write("a.nc", {});
  EXPECT_THROW(static_cast<void>(test::open_fields(path("a.nc"), "temp")), InputError);
  EXPECT_THROW(static_cast<void>(test::open_fields(path("a.nc"), "lat")), InputError);
  EXPECT_THROW(static_cast<void>(test::open_fields(path("a.nc"), "sst", {FieldUnits::kelvin, {}, {}})),
               InputError);
  EXPECT_THROW(static_cast<void>(read_mask(path("a.nc"), "sst", 1)), InputError);  // changes in time
}

TEST_F(RecordTest, a_time_that_two_files_have_is_refused_up_to_round_off) {
  write("a.nc", {});
  Written later;
  later.days = {66424.00001, 66431, 66438};
  write("b.nc", later);
  refused({"a.nc", "b.nc"}, "1981-11-12 comes twice");
  later.days = {66424.5, 66431, 66438};
  write("b.nc", later);
  EXPECT_EQ(open({"a.nc", "b.nc"}).n_times(), 6);
}

}  // namespace
}  // namespace quintet::ocean
