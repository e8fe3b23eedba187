#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "io/fields/field_series.hpp"
#include "tests/unit/ocean/record_cases.hpp"

namespace quintet::ocean {
namespace {

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
    day.format = i % 2 == 0 ? netcdf::Format::netcdf4 : netcdf::Format::classic;
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
