#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "io/fields/field_series.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/netcdf_writer.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/record.hpp"
#include "physics/ocean/sources/joined_source.hpp"
#include "tests/support/open_fields.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::ocean {
namespace {

using netcdf::Format;
using netcdf::Type;
using netcdf::Writer;

/// A file of fields as somebody writes them.
struct Written {
  Format format = Format::classic;
  std::vector<double> latitude{1.5, 0.5, -0.5}, longitude{0.5, 90.5, 180.5, 270.5}, days{66410, 66417, 66424};
  std::string units = "degC", time_units = "days since 1800-1-1 00:00:00", calendar;
  std::map<std::string, std::string> words{};  ///< more attributes of sst
  bool packed = true, with_level = false, latitude_units = true;
  std::function<double(double latitude, double longitude, double day)> value =
      [](double y, double x, double day) { return 20 + y + 0.01 * x + 0.1 * (day - 66410) / 7; };

  void write(const std::string& path) const {
    auto file = Writer::create(path, format);
    file.dimension("time", 0);
    if (with_level) file.dimension("lev", 1);
    file.dimension("lat", latitude.size());
    file.dimension("lon", longitude.size());
    file.variable("time", Type::float64, {"time"});
    file.variable("lat", Type::float32, {"lat"});
    file.variable("lon", Type::float32, {"lon"});
    std::vector<std::string> axes{"time", "lat", "lon"};
    if (with_level) axes.insert(axes.begin() + 1, "lev");
    file.variable("sst", packed ? Type::int16 : Type::float64, axes);
    if (!time_units.empty()) file.attribute("time", "units", time_units);
    if (!calendar.empty()) file.attribute("time", "calendar", calendar);
    if (latitude_units) file.attribute("lat", "units", "degrees_north");
    file.attribute("lon", "units", "degrees_east");
    if (!units.empty()) file.attribute("sst", "units", units);
    for (const auto& [name, word] : words) file.attribute("sst", name, word);
    file.attribute("sst", "missing_value", 32767);
    if (packed) file.attribute("sst", "scale_factor", 0.01, true);
    file.write("lat", latitude);
    file.write("lon", longitude);
    std::vector<double> values;
    for (const double day : days)
      for (const double y : latitude)
        for (const double x : longitude) {
          const double v = value(y, x, day);
          values.push_back(std::isnan(v) ? 32767 : packed ? std::round(v * 100) : v);
        }
    const std::uint64_t n = days.size();
    file.write("time", {0}, {n}, days);
    std::vector<std::uint64_t> start{0, 0, 0}, count{n, latitude.size(), longitude.size()};
    if (with_level) start.push_back(0), count.insert(count.begin() + 1, 1);
    file.write("sst", start, count, values);
    file.close();
  }
};

class RecordTest : public ::testing::Test {
 protected:
  Comm comm = Comm::world();
  std::unique_ptr<Scratch> scratch = comm.is_root() ? std::make_unique<Scratch>("record") : nullptr;
  std::string folder = comm.broadcast(comm.is_root() ? scratch->path() : std::string());
  ~RecordTest() override { comm.barrier(); }

  std::string path(const std::string& name) { return folder + "/" + name; }
  void write(const std::string& name, const Written& written) {
    comm.barrier();
    if (comm.is_root()) written.write(path(name));
    comm.barrier();
  }
  Record open(const std::vector<std::string>& names, const RecordOptions& options = {},
              const std::optional<MaskFile>& mask = std::nullopt, const FieldOptions& said = {}) {
    std::vector<std::unique_ptr<FieldSource>> sources;
    for (const auto& name : names) sources.push_back(test::open_fields(path(name), "sst", said));
    return {comm, joined(std::move(sources)), mask, options};
  }
  /// All values of a record at all ranks: [points, times].
  std::vector<double> values(const Record& record) {
    const auto mine = record.read(0, record.n_times());
    std::vector<double> rows;
    for (int p = 0; p < mine.rows(); ++p) rows.insert(rows.end(), mine.row(p), mine.row(p) + mine.columns());
    return comm.all_gather(std::span<const double>(rows));
  }
  void refused(const std::vector<std::string>& names, const std::string& part,
               const RecordOptions& options = {}, const std::optional<MaskFile>& mask = std::nullopt,
               const FieldOptions& said = {}) {
    std::string message;
    try {
      static_cast<void>(open(names, options, mask, said));
    } catch (const InputError& error) {
      message = error.what();
    }
    EXPECT_NE(message.find(part), std::string::npos) << "'" << message << "' lacks '" << part << "'";
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
  void refused(const Written& written, const std::string& part, const RecordOptions& options = {}) {
    write("bad.nc", written);
    refused({std::string("bad.nc")}, part, options);
  }
};

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
  shifted.format = Format::netcdf4;
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

TEST_F(RecordTest, anomalies_in_kelvin_stay_as_they_are) {
  Written anomalies;
  anomalies.units = "K";
  anomalies.packed = false;
  anomalies.value = [](double y, double, double day) { return y - 0.01 * (day - 66410); };
  write("a.nc", anomalies);
  refused({"a.nc"}, "fields.quantity: anomaly");
  const FieldOptions said{FieldUnits::from_file, FieldQuantity::anomaly, {}};
  EXPECT_NEAR(values(open({"a.nc"}, {}, std::nullopt, said))[0], -0.5, 1e-12);
  for (const auto& [name, word] :
       std::map<std::string, std::string>{{"long_name", "Daily SST Anomalies"},
                                          {"standard_name", "sea_surface_temperature_anomaly"},
                                          {"units_metadata", "temperature: difference"}}) {
    auto named = anomalies;
    named.words = {{name, word}};
    write("b.nc", named);
    const auto record = open({"b.nc"});
    EXPECT_NEAR(values(record)[0], -0.5, 1e-12) << name;
    EXPECT_NE(record.notes()[0].find("anomalies, no temperatures"), std::string::npos);
  }
  // Temperatures that are called anomalies are beyond what anomalies are.
  Written warm;
  warm.units = "K", warm.packed = false;
  warm.words = {{"long_name", "anomaly"}};
  warm.value = [](double y, double x, double day) { return Written{}.value(y, x, day) + 273.15; };
  refused(warm, "degrees Celsius");
  write("c.nc", warm);
  EXPECT_NEAR(
      values(open({"c.nc"}, {}, std::nullopt, {FieldUnits::from_file, FieldQuantity::temperature, {}}))[0],
      19.505, 1e-6);
  Written later;
  later.days = {66431};
  write("later.nc", later);
  refused({"b.nc", "later.nc"}, "fields.quantity");
}

TEST_F(RecordTest, calendars_of_models_have_no_gaps) {
  for (const char* calendar : {"noleap", "all_leap", "360_day"})
    for (const double step : {1.0, 5.0}) {
      Written model;
      model.calendar = calendar, model.time_units = "days since 1999-12-01";
      model.days.clear();
      for (int i = 0; i < 100; ++i) model.days.push_back(i * step);  // across a leap day
      model.value = [](double y, double x, double day) { return 20 + y + 0.01 * x + std::sin(day); };
      write("model.nc", model);
      const auto record = open({"model.nc"});
      EXPECT_EQ(record.n_times(), 100);
      ASSERT_FALSE(record.notes().empty());
      EXPECT_NE(record.notes()[0].find(std::string("calendar ") + calendar), std::string::npos);
      for (const auto& note : record.notes())
        EXPECT_EQ(note.find("steps between"), std::string::npos) << note;
    }
}

TEST_F(RecordTest, more_files_than_may_be_open_are_read_one_by_one) {
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) {
    Written day;
    day.format = i % 2 == 0 ? Format::netcdf4 : Format::classic;
    day.days = {66410.0 + i};
    names.push_back("day_" + std::to_string(i) + ".nc");
    write(names.back(), day);
  }
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto before = limit.rlim_cur;
  const int free = dup(0);
  close(free);
  limit.rlim_cur = static_cast<rlim_t>(free) + 12;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);

  const auto record = open(names);
  const auto all = values(record);

  limit.rlim_cur = before;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(record.n_times(), 60);
  EXPECT_NEAR(all[59], Written{}.value(-0.5, 0.5, 66410 + 59), 0.006);
  EXPECT_NE(record.source_names().find("day_0.nc to day_59.nc (60 files)"), std::string::npos);
  EXPECT_NE(record.notes()[0].find("day_0.nc and 59 more files: "), std::string::npos);
}

TEST_F(RecordTest, what_was_taken_for_granted_is_told) {
  Written plain;
  plain.words = {{"cell_methods", "time: maximum"}};
  write("a.nc", plain);
  const auto record = open({"a.nc"});
  ASSERT_EQ(record.notes().size(), 1U);
  EXPECT_EQ(
      record.notes()[0],
      "a.nc: latitudes are stored north first; dates of the standard calendar (the file does not say); not "
      "used: attribute cell_methods");
}

/// An array of a zarr folder in one chunk, as it lies in memory.
template <class T>
void write_array(const std::string& folder, const std::string& name, const std::string& type,
                 const std::vector<T>& values, const std::string& shape, const std::string& attributes) {
  std::filesystem::create_directories(folder + "/" + name);
  std::ofstream(folder + "/.zgroup") << R"({"zarr_format": 2})";
  std::ofstream(folder + "/" + name + "/.zarray")
      << R"({"zarr_format": 2, "dtype": ")" << type << R"(", "shape": )" << shape << R"(, "chunks": )"
      << shape << R"(, "order": "C", "compressor": null, "filters": null, "fill_value": null})";
  std::ofstream(folder + "/" + name + "/.zattrs") << "{" << attributes << "}";
  const auto n = static_cast<std::size_t>(std::count(shape.begin(), shape.end(), ',')) + 1;
  std::ofstream(folder + "/" + name + "/" + (n == 1 ? "0" : "0.0.0"), std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}

TEST_F(RecordTest, a_folder_of_zarr_is_read_as_netcdf_is) {
  if (comm.is_root()) {
    const auto folder = path("a.zarr");
    write_array<double>(folder, "time", "<f8", {66410, 66417}, "[2]",
                        R"("_ARRAY_DIMENSIONS": ["time"], "units": "days since 1800-1-1")");
    write_array<float>(folder, "lat", "<f4", {0.5, -0.5}, "[2]",
                       R"("_ARRAY_DIMENSIONS": ["lat"], "units": "degrees_north")");
    write_array<float>(folder, "lon", "<f4", {0, 120, 240}, "[3]",
                       R"("_ARRAY_DIMENSIONS": ["lon"], "units": "degrees_east")");
    write_array<std::int16_t>(
        folder, "sst", "<i2", {2000, 2100, 2200, 2300, 2400, -999, 2050, 2150, 2250, 2350, 2450, -999},
        "[2, 2, 3]",
        R"("_ARRAY_DIMENSIONS": ["time", "lat", "lon"], "units": "degC", "scale_factor": 0.01, "missing_value": -999)");
  }
  comm.barrier();
  const auto record = open({"a.zarr"});
  EXPECT_EQ(record.n_points(), 5);  // the last one of the south is land
  const auto all = values(record);
  ASSERT_EQ(all.size(), 10u);
  EXPECT_NEAR(all[0], 23, 1e-9);  // south first
  EXPECT_NEAR(all[1], 23.5, 1e-9);
  EXPECT_NEAR(all[9], 22.5, 1e-9);
}

TEST_F(RecordTest, fields_over_time_of_ours_are_read) {
  FieldSeriesHeader header;
  header.name = "ocean";
  header.axes = {{"lat", "degrees_north", {-1, 0, 1}, false, -90, 90},
                 {"lon", "degrees_east", {0, 120, 240}, true, 0, 360}};
  header.fields = {{"sst", "degC", "temperature", "", -1}};
  header.time_units = "days since 1800-01-01";
  header.mask = {1, 1, 1, 0, 1, 1, 1, 1, 1};
  header.double_precision = true;
  {
    auto writer = FieldSeriesWriter::create(comm, path("a.h5"), header, hdf5::current_provenance());
    for (int t = 0; t < 3; ++t) {
      std::vector<double> all;
      for (int i = 0; i < 9; ++i) all.push_back(10 + i + 0.5 * t);
      hdf5::Box box{{0, 0}, {3, 3}};
      if (!comm.is_root()) box.count = {0, 0}, all.clear();
      writer.append<double>(0, 66410 + 7 * t, {std::span<const double>(all)}, box);
    }
    writer.close();
  }
  const auto record = open({"a.h5"});
  EXPECT_EQ(record.n_points(), 8);
  const auto all = values(record);
  EXPECT_NEAR(all[0], 10, 1e-12);
  EXPECT_NEAR(all[3 * 3 + 2], 14 + 1, 1e-12);  // the fourth sea point is cell 4
}

}  // namespace
}  // namespace quintet::ocean
