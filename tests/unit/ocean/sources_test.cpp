#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/netcdf_writer.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/record.hpp"
#include "physics/ocean/sources/coarse_source.hpp"
#include "physics/ocean/sources/field_cache.hpp"
#include "physics/ocean/sources/field_files.hpp"
#include "physics/ocean/sources/joined_source.hpp"
#include "physics/ocean/sources/mean_source.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::ocean {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Fields by a formula, with marks of what they are made of, and a count of those that were read.
class FormulaSource : public FieldSource {
 public:
  std::function<double(double day, double latitude, double longitude)> value = [](double day, double y,
                                                                                  double x) {
    return 15 + std::sin(day / 3) + 0.1 * y + std::cos(x * std::numbers::pi / 180 + 0.01 * day);
  };
  std::function<std::uint64_t(double day)> mark = [](double day) { return std::uint64_t(day); };
  bool has_marks = true;
  std::shared_ptr<int> n_read = std::make_shared<int>(0);

  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    std::vector<double> values;
    *n_read += n;
    for (int t = first; t < first + n; ++t)
      for (const double y : grid.latitude)
        for (const double x : grid.longitude) values.push_back(value(days[t], y, x));
    return values;
  }
  [[nodiscard]] std::optional<std::uint64_t> stamp(int time) const override {
    return has_marks ? std::optional(mark(days[time])) : std::nullopt;
  }
};

std::unique_ptr<FormulaSource> daily(double first, int n, double step = 1) {
  auto source = std::make_unique<FormulaSource>();
  source->name = "days";
  source->grid = {{-3, -1, 1, 3}, {1, 3, 5, 7, 9, 11}};
  for (int t = 0; t < n; ++t) source->days.push_back(first + step * t);
  return source;
}

template <class Act>
std::string refusal_of(const Act& act) {
  try {
    act();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "nothing";
}
#define EXPECT_REFUSED(part, ...)                                                                       \
  do {                                                                                                  \
    const auto message = refusal_of([&] { static_cast<void>(__VA_ARGS__); });                           \
    EXPECT_NE(message.find(part), std::string::npos) << "'" << message << "' lacks '" << (part) << "'"; \
  } while (false)

const double sunday = day_of({2020, 3, 1});  // and the first of a month

TEST(Means, of_weeks_are_those_of_their_days_and_ends_without_all_days_are_left_out) {
  for (const double hour : {0.0, 0.5}) {  // times of beginnings, and of middles
    auto days = daily(sunday - 2 + hour, 2 + 21 + 6);
    const auto copy = daily(sunday - 2 + hour, 29);
    const auto means = means_of(std::move(days), {MeanPeriod::week});
    ASSERT_EQ(means->days, (std::vector<double>{sunday, sunday + 7, sunday + 14}));
    const auto values = means->read(1, 2), all = copy->read(0, 29);
    const std::size_t n = copy->grid.size();
    for (std::size_t week = 0; week < 2; ++week)
      for (std::size_t x = 0; x < n; ++x) {
        double sum = 0;
        for (std::size_t day = 0; day < 7; ++day) sum += all[(2 + 7 + 7 * week + day) * n + x];
        EXPECT_NEAR(values[week * n + x], sum / 7, 1e-12);
      }
    ASSERT_FALSE(means->notes.empty());
    EXPECT_NE(means->notes.back().find("has 2 times"), std::string::npos) << means->notes.back();
    EXPECT_NE(means->notes.back().find("has 6 times"), std::string::npos);
  }
}

TEST(Means, begin_on_the_day_that_is_asked_for) {
  for (const auto& row : weekdays) {
    const auto means = means_of(daily(sunday - 10, 40), {MeanPeriod::week, row.value});
    const auto after_sunday = static_cast<int>(row.value);
    EXPECT_EQ(std::fmod(means->days.front() - sunday + 70, 7), after_sunday) << row.name;
  }
}

TEST(Means, of_months_have_as_many_days_as_the_month) {
  auto days = daily(day_of({2019, 12, 31}), 1 + 31 + 29 + 31 + 1);
  days->value = [](double day, double, double) { return date_of(day).day; };
  const auto means = means_of(std::move(days), {MeanPeriod::month});
  ASSERT_EQ(means->days, (std::vector<double>{day_of({2020, 1, 1}), day_of({2020, 2, 1}), sunday}));
  EXPECT_NEAR(means->read(1, 1)[0], 15, 1e-12);  // of 1 ... 29
  EXPECT_NEAR(means->read(2, 1)[0], 16, 1e-12);
}

TEST(Means, that_lack_days_within_are_refused_or_left_out) {
  const auto with_gap = [](double missing) {
    auto days = daily(sunday, 28);
    std::erase(days->days, missing);
    return days;
  };
  for (const int at : {7, 9, 13}) {  // the first, one within, the last of the second week
    EXPECT_REFUSED("fields.gaps: keep", means_of(with_gap(sunday + at), {MeanPeriod::week}));
    MeanOptions keep{MeanPeriod::week};
    keep.keep_gaps = true;
    const auto means = means_of(with_gap(sunday + at), keep);
    EXPECT_EQ(means->days, (std::vector<double>{sunday, sunday + 14, sunday + 21}));
    EXPECT_NE(means->notes.back().find("has 6 times"), std::string::npos);
  }
}

TEST(Means, keep_to_the_days_that_are_asked_for) {
  MeanOptions part{MeanPeriod::week};
  part.from = sunday + 7, part.to = sunday + 21 - 1e-9;
  EXPECT_EQ(means_of(daily(sunday, 40), part)->days, (std::vector<double>{sunday + 7, sunday + 14}));
  part.to = sunday + 20 - 1e-9;
  EXPECT_EQ(means_of(daily(sunday, 40), part)->days, (std::vector<double>{sunday + 7}));
  part.to = sunday + 13 - 1e-9;
  EXPECT_REFUSED("no week has all of its times", means_of(daily(sunday, 40), part));
}

TEST(Means, need_two_times_in_a_period_and_our_months) {
  EXPECT_EQ(means_of(daily(sunday, 12, 3.5), {MeanPeriod::week})->days.size(), 6U);
  EXPECT_REFUSED("there is nothing to average", means_of(daily(sunday, 12, 3.6), {MeanPeriod::week}));
  EXPECT_EQ(means_of(daily(sunday, 12, 14), {MeanPeriod::month})->days.front(), sunday);
  EXPECT_REFUSED("there is nothing to average", means_of(daily(sunday, 12, 14.1), {MeanPeriod::month}));
  auto model = daily(sunday, 60);
  model->calendar = "360_day";
  EXPECT_REFUSED("of the calendar 360_day are not ours", means_of(std::move(model), {MeanPeriod::month}));
}

TEST(Means, have_no_value_where_a_day_has_none) {
  auto days = daily(sunday, 14);
  days->value = [](double day, double y, double) { return y > 2 && day == sunday + 3 ? nan : 1; };
  const auto means = means_of(std::move(days), {MeanPeriod::week});
  const auto values = means->read(0, 2);
  EXPECT_TRUE(std::isnan(values[18]));
  EXPECT_FALSE(std::isnan(values[17]));
  EXPECT_FALSE(std::isnan(values[24 + 18]));
}

double band(double latitude, double width) {
  const double half = width / 2;
  return std::sin((latitude + half) * std::numbers::pi / 180) -
         std::sin((latitude - half) * std::numbers::pi / 180);
}

TEST(Boxes, keep_the_integral_over_the_sphere) {
  auto fine = daily(sunday, 2);
  fine->grid.latitude = {-85, -75, -65, -55};
  const auto before = fine->read(1, 1);
  const auto boxes = coarse(std::move(fine), 2, {}, std::nullopt).source;
  ASSERT_EQ(boxes->grid.latitude, (std::vector<double>{-80, -60}));
  ASSERT_EQ(boxes->grid.longitude, (std::vector<double>{2, 6, 10}));
  const auto after = boxes->read(1, 1);
  double fine_sum = 0, coarse_sum = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 6; ++j) fine_sum += band(-85 + 10 * i, 10) * before[i * 6 + j];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) coarse_sum += 2 * band(-80 + 20 * i, 20) * after[i * 3 + j];
  EXPECT_NEAR(coarse_sum, fine_sum, 1e-12 * std::abs(fine_sum));
}

TEST(Boxes, are_means_of_their_sea_and_land_below_half) {
  auto fine = daily(sunday, 3);
  // Of the first box two points of four are sea, of the second one, of the third all but one day.
  fine->value = [](double day, double y, double x) {
    if (x < 4) return y < 0 && x > 2 ? nan : y < 0 ? (y < -2 ? 1.0 : 3.0) : 5.0;
    if (x < 8) return y < 0 && !(y < -2 && x < 6) ? nan : 7.0;
    return day == sunday + 1 && y < -2 && x > 10 ? nan : 9.0;
  };
  const auto boxes = coarse(std::move(fine), 2, {}, std::nullopt).source;
  const auto values = boxes->read(0, 2);
  const double a = band(-3, 2), b = band(-1, 2);
  EXPECT_NEAR(values[0], (a * 1 + b * 3) / (a + b), 1e-12);
  EXPECT_TRUE(std::isnan(values[1]));  // a quarter is sea
  EXPECT_NEAR(values[2], 9, 1e-12);
  EXPECT_TRUE(std::isnan(values[6 + 2]));  // a sea point lacks its value: refused later, or dropped
  EXPECT_NE(boxes->notes.back().find("1 with some sea are land"), std::string::npos);
}

TEST(Boxes, follow_a_mask_of_the_fine_grid) {
  std::vector<std::uint8_t> sea(24, 1);
  sea[0] = 0;
  auto fine = daily(sunday, 2);
  fine->value = [](double, double y, double x) { return y < -2 && x < 2 ? 1000.0 : 4.0; };
  EXPECT_NEAR(coarse(std::move(fine), 2, {}, sea).source->read(0, 1)[0], 4, 1e-12);
  const auto with = coarse(daily(sunday, 2), 2, {}, sea),
             without = coarse(daily(sunday, 2), 2, {}, std::nullopt);
  EXPECT_NE(with.sea_checksum, without.sea_checksum);
}

TEST(Boxes, must_divide_the_grid_and_have_no_gap) {
  EXPECT_REFUSED("6 longitudes do not make boxes of 4", coarse(daily(sunday, 2), 4, {}, std::nullopt));
  GridRegion region;
  region.west = 0, region.east = 8;
  EXPECT_EQ(coarse(daily(sunday, 2), 4, region, std::nullopt).source->grid.longitude,
            (std::vector<double>{4}));
  auto broken = daily(sunday, 2);
  broken->grid.longitude = {1, 3, 5, 350, 352, 354};
  EXPECT_REFUSED("have a gap between 5 and 350", coarse(std::move(broken), 2, {}, std::nullopt));
  auto further = daily(sunday, 2);
  further->section = "fields.also[1]";
  EXPECT_REFUSED("fields.also[1].coarsen: 6 longitudes", coarse(std::move(further), 4, {}, std::nullopt));
  auto whole = daily(sunday, 2);
  whole->grid.longitude = {1, 3, 350, 352, 354, 356};
  EXPECT_EQ(coarse(std::move(whole), 2, {}, std::nullopt).source->grid.longitude,
            (std::vector<double>{2, 351, 355}));
}

class CacheTest : public ::testing::Test {
 protected:
  Comm comm = Comm::world();
  std::unique_ptr<Scratch> scratch = comm.is_root() ? std::make_unique<Scratch>("cache") : nullptr;
  std::string folder = comm.broadcast(comm.is_root() ? scratch->path() : std::string());
  std::string path = folder + "/kept.h5";
  ~CacheTest() override { comm.barrier(); }

  std::unique_ptr<FieldSource> keep(std::unique_ptr<FormulaSource> source,
                                    const std::string& settings = "x") {
    return kept_in(comm, path, settings, std::move(source));
  }
  /// How many fields all ranks have read to keep them.
  int made(std::unique_ptr<FormulaSource> source) {
    const auto count = source->n_read;
    static_cast<void>(keep(std::move(source)));
    return comm.sum(*count);
  }
};

TEST_F(CacheTest, returns_the_very_values_and_reads_each_once) {
  auto source = daily(sunday, 11);
  const auto expected = source->read(0, 11);
  *source->n_read = 0;
  const auto count = source->n_read;
  const auto kept = keep(std::move(source));
  EXPECT_EQ(comm.sum(*count), 11);
  EXPECT_EQ(kept->read(0, 11), expected);
  EXPECT_EQ(kept->read(7, 1), std::vector<double>(expected.begin() + 7 * 24, expected.begin() + 8 * 24));
  EXPECT_EQ(made(daily(sunday, 11)), 0);
}

TEST_F(CacheTest, grows_and_makes_anew_what_has_changed) {
  EXPECT_EQ(made(daily(sunday, 11)), 11);
  EXPECT_EQ(made(daily(sunday, 14)), 3);
  auto changed = daily(sunday, 14);
  changed->mark = [](double day) { return std::uint64_t(day) + (day == sunday + 4 ? 1000000 : 0); };
  changed->value = [](double day, double, double) { return day == sunday + 4 ? 2.0 : 1.0; };
  const auto kept = keep(std::move(changed));
  EXPECT_EQ(kept->read(4, 1)[0], 2);                           // read anew
  EXPECT_EQ(kept->read(5, 1), daily(sunday, 14)->read(5, 1));  // as it was
  EXPECT_EQ(made(daily(sunday + 2, 9)), 1);                    // the changed one; others are copied
  EXPECT_EQ(keep(daily(sunday + 2, 9))->read(0, 9), daily(sunday + 2, 9)->read(0, 9));
}

TEST_F(CacheTest, goes_on_after_a_kill) {
  EXPECT_EQ(made(daily(sunday, 11)), 11);
  comm.barrier();
  {  // as a kill leaves it: three times were never marked
    auto file = hdf5::File::open_for_update(comm, path);
    const std::vector<std::uint64_t> none(comm.is_root() ? 3 : 0, 0);
    file.root().write_box<std::uint64_t>("made_of", none, {{4}, {none.size()}});
    const std::vector<double> lost(comm.is_root() ? 24 : 0, -1e9);
    file.root().write_box<double>("fields", lost, {{5, 0, 0}, {lost.empty() ? 0U : 1U, 4, 6}});
    file.close();
  }
  EXPECT_EQ(made(daily(sunday, 11)), 3);
  EXPECT_EQ(keep(daily(sunday, 11))->read(0, 11), daily(sunday, 11)->read(0, 11));
}

TEST_F(CacheTest, refuses_what_is_not_its_own) {
  static_cast<void>(keep(daily(sunday, 11)));
  EXPECT_REFUSED("was made with other settings (x; now y)", keep(daily(sunday, 11), "y"));
  auto other = daily(sunday, 11);
  other->grid.latitude = {-4, -1, 1, 3};
  EXPECT_REFUSED("is of another grid", keep(std::move(other)));
  auto unknown = daily(sunday, 11);
  unknown->has_marks = false;
  EXPECT_REFUSED("nothing tells whether days is still the same", keep(std::move(unknown)));
  {
    auto file = hdf5::File::open_for_update(comm, path);
    const std::vector<double> one(comm.is_root() ? 1 : 0, 3.0);
    file.root().write_box<double>("fields", one, {{5, 2, 3}, {one.size(), 1, 1}});
    file.close();
  }
  const auto changed = keep(daily(sunday, 11));
  EXPECT_NO_THROW(static_cast<void>(changed->read(4, 1)));
  EXPECT_REFUSED("do not agree with their checksum", changed->read(5, 1));
}

class FilesTest : public CacheTest {
 protected:
  std::string write(const std::string& name, double day, std::vector<double> latitude = {0.5, -0.5},
                    double value = 20) {
    const auto where = folder + "/" + name;
    comm.barrier();
    if (comm.is_root()) {
      auto file = netcdf::Writer::create(where, netcdf::Format::classic);
      file.dimension("time", 1);
      file.dimension("lat", latitude.size());
      file.dimension("lon", 2);
      for (const char* axis : {"time", "lat", "lon"}) file.variable(axis, netcdf::Type::float64, {axis});
      file.variable("sst", netcdf::Type::float64, {"time", "lat", "lon"});
      file.attribute("time", "units", "days since 1800-01-01");
      file.attribute("lat", "units", "degrees_north");
      file.attribute("lon", "units", "degrees_east");
      file.attribute("sst", "units", "Celsius");
      file.write("time", std::vector<double>{day});
      file.write("lat", latitude);
      file.write("lon", std::vector<double>{0.5, 180.5});
      file.write("sst", std::vector<double>(2 * latitude.size(), value));
      file.close();
    }
    comm.barrier();
    return where;
  }
  /// Shorts in a file of netCDF-4, of which an unlimited time makes chunks.
  std::string write_chunked(const std::string& name, double day, double offset) {
    const auto where = folder + "/" + name;
    comm.barrier();
    if (comm.is_root()) {
      auto file = netcdf::Writer::create(where, netcdf::Format::netcdf4);
      file.dimension("time", 0);
      file.dimension("lat", 2);
      file.dimension("lon", 4);
      for (const char* axis : {"time", "lat", "lon"}) file.variable(axis, netcdf::Type::float64, {axis});
      file.variable("sst", netcdf::Type::int16, {"time", "lat", "lon"});
      file.attribute("time", "units", "days since 1800-01-01");
      file.attribute("lat", "units", "degrees_north");
      file.attribute("lon", "units", "degrees_east");
      file.attribute("sst", "units", "Celsius");
      file.attribute("sst", "scale_factor", 0.01, true);
      file.attribute("sst", "add_offset", offset, true);
      file.write("time", {0}, {1}, std::vector<double>{day});
      file.write("lat", std::vector<double>{0.5, -0.5});
      file.write("lon", std::vector<double>{0.5, 90.5, 180.5, 270.5});
      std::vector<double> stored;
      for (int k = 0; k < 8; ++k) stored.push_back(std::round(100 * std::sin(day + k)) + 1500);
      file.write("sst", {0, 0, 0}, {1, 2, 4}, stored);
      file.close();
    }
    comm.barrier();
    return where;
  }
  std::vector<std::string> paths;
};

TEST_F(FilesTest, are_looked_at_by_all_ranks_together) {
  for (int day = 0; day < 7; ++day) paths.push_back(write(fmt::format("{}.nc", day), sunday + 6 - day));
  auto files = look_at_files(comm, paths, "sst", {});
  ASSERT_EQ(files.size(), 7U);
  EXPECT_TRUE(put_in_order(files).empty());
  std::vector<std::unique_ptr<FieldSource>> sources;
  for (auto& file : files) sources.push_back(source_of(std::move(file), "sst"));
  const auto record = joined(std::move(sources));
  ASSERT_EQ(record->days.size(), 7U);
  EXPECT_EQ(record->days.front(), sunday);
  EXPECT_EQ(record->place(0), paths.back());
  EXPECT_EQ(record->grid.latitude, (std::vector<double>{-0.5, 0.5}));
  paths.push_back(write("7.nc", sunday + 7, {1.5, -0.5}));
  EXPECT_REFUSED("7.nc: is on another grid", look_at_files(comm, paths, "sst", {}));
}

TEST_F(FilesTest, of_netcdf4_are_read_from_their_chunks_as_by_the_library) {
  for (int day = 0; day < 14; ++day) {
    const double offset = day == 5 ? 2 : 0;  // a layout of its own
    paths.push_back(write_chunked(fmt::format("{}.nc", day), sunday + day, offset));
  }
  const auto week_of = [&](bool by_library, const std::vector<FieldFile>& looked_at) {
    std::vector<std::unique_ptr<FieldSource>> sources;
    for (auto file : looked_at) {
      if (by_library) file.layout = nullptr;
      sources.push_back(source_of(std::move(file), "sst"));
    }
    auto boxes = coarse(joined(std::move(sources)), 2, {}, std::nullopt);
    const auto source = means_of(std::move(boxes.source), {MeanPeriod::week});
    return source->read(0, 2);
  };
  const auto files = look_at_files(comm, paths, "sst", {});
  int n_apart = 0;
  for (const auto& file : files) n_apart += source_of(file, "sst")->read_apart(0, 1).has_value() ? 1 : 0;
  EXPECT_EQ(n_apart, 13);
  const auto values = week_of(false, files);
  EXPECT_EQ(values, week_of(true, files));
  on_root(comm, [&] { write_known_files(folder + "/known", "s", files); });
  comm.barrier();
  const auto again = look_at_files(comm, paths, "sst", {}, read_known_files(folder + "/known", "s"));
  EXPECT_NE(source_of(again[3], "sst")->read_apart(0, 1), std::nullopt);
  EXPECT_EQ(values, week_of(false, again));
  comm.barrier();  // others may still read the file as it was
  on_root(comm, [&] {
    std::filesystem::last_write_time(paths[3],
                                     std::filesystem::last_write_time(paths[3]) + std::chrono::hours(1));
  });
  comm.barrier();
  EXPECT_EQ(source_of(files[3], "sst")->read_apart(0, 1), std::nullopt);  // it may be another file now
}

TEST_F(FilesTest, that_are_preliminary_give_way) {
  paths = {write("oisst.20200301.nc", sunday), write("oisst.20200301_preliminary.nc", sunday),
           write("oisst.20200302_preliminary.nc", sunday + 1)};
  std::swap(paths[0], paths[1]);
  auto files = look_at_files(comm, paths, "sst", {});
  const auto notes = put_in_order(files);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].facts.name, folder + "/oisst.20200301.nc");
  EXPECT_EQ(files[0].facts.grid.size(), 4U);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_NE(notes[0].find("1 preliminary files give way to others of their times: oisst.20200301_pre"),
            std::string::npos);
  EXPECT_NE(notes[1].find("oisst.20200302_pre"), std::string::npos);
}

TEST_F(FilesTest, of_one_name_size_and_date_in_two_folders_are_two) {
  on_root(comm, [&] {
    for (const char* one : {"/first", "/second"}) std::filesystem::create_directories(folder + one);
  });
  comm.barrier();
  paths = {write("first/a.nc", sunday), write("second/a.nc", sunday + 1)};
  on_root(comm, [&] {
    std::filesystem::last_write_time(paths[1], std::filesystem::last_write_time(paths[0]));
    write_known_files(folder + "/known", "s", {look_at_fields(paths[0], "sst", {}, nullptr)});
  });
  comm.barrier();
  const auto files = look_at_files(comm, paths, "sst", {}, read_known_files(folder + "/known", "s"));
  EXPECT_EQ(files[1].facts.name, paths[1]);
  EXPECT_NE(files[0].facts.days, files[1].facts.days);
  EXPECT_NE(source_of(files[0], "sst")->stamp(0), source_of(files[1], "sst")->stamp(0));
  EXPECT_EQ(read_known_files(folder, "s").files.size(), 0U);  // of a folder
}

TEST_F(FilesTest, that_are_known_are_opened_again_where_they_have_changed) {
  paths = {write("a.nc", sunday), write("b.nc", sunday + 1), write("c.nc", sunday + 2)};
  const auto list = folder + "/known";
  const auto first = look_at_files(comm, paths, "sst", {});
  on_root(comm, [&] { write_known_files(list, "s", first); });
  comm.barrier();
  EXPECT_EQ(read_known_files(list, "other").files.size(), 0U);
  EXPECT_EQ(read_known_files(folder + "/none", "s").files.size(), 0U);
  auto known = read_known_files(list, "s");
  ASSERT_EQ(known.files.size(), 3U);
  EXPECT_EQ(known.grid.latitude, (std::vector<double>{-0.5, 0.5}));
  known.files.at(paths[1]).facts.units = "as it was known";  // what is taken unseen, and what is not
  known.files.at(paths[2]).facts.units = "as it was known";
  write("c.nc", sunday + 2, {0.5, -0.5}, 21);
  on_root(comm, [&] {
    std::filesystem::last_write_time(paths[2],
                                     std::filesystem::last_write_time(paths[2]) + std::chrono::hours(1));
  });
  const auto files = look_at_files(comm, paths, "sst", {}, known);
  EXPECT_EQ(files[1].facts.units, "as it was known");
  EXPECT_EQ(files[2].facts.units, "degree_Celsius");
  if (comm.is_root()) {  // a list that was damaged is as none
    std::fstream damaged(list, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(60);
    damaged.put('\x7f');
  }
  comm.barrier();
  EXPECT_EQ(read_known_files(list, "s").files.size(), 0U);
}

}  // namespace
}  // namespace quintet::ocean
