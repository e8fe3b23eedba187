#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>

#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "io/netcdf/netcdf_writer.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/hdf5/foreign.hpp"

namespace quintet::netcdf {
namespace {

constexpr Format formats[] = {Format::classic, Format::offset64, Format::netcdf4};

/// Packed shorts as NOAA packs them: scale_factor 0.01f, missing_value 32767.
void write_packed(const std::string& path, Format format) {
  auto file = Writer::create(path, format);
  file.dimension("time", 0);
  file.dimension("lat", 2);
  file.dimension("lon", 3);
  file.variable("time", Type::float64, {"time"});
  file.variable("sst", Type::int16, {"time", "lat", "lon"});
  file.attribute("sst", "scale_factor", 0.01, true);
  file.attribute("sst", "add_offset", 0, true);
  file.attribute("sst", "missing_value", 32767);
  file.attribute("sst", "units", "degC ");
  file.attribute("time", "units", "days since 1800-1-1 00:00:00");
  file.write("time", {0}, {2}, std::vector<double>{66410, 66417});
  file.write("sst", {0, 0, 0}, {2, 2, 3},
             std::vector<double>{2659, -180, 32767, 0, 1, 2, 3, 4, 5, 6, 7, 3000});
  file.close();
}

TEST(NetcdfFile, a_number_beyond_its_type_is_no_bug_of_ours) {
  const Scratch scratch("netcdf_large");
  auto file = Writer::create(scratch / "large.nc", Format::netcdf4);
  file.dimension("x", 2);
  file.variable("sst", Type::float32, {"x"});

  EXPECT_THROW(file.write("sst", std::vector<double>{1, 1e300}), NumericalError);
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(NetcdfFile, every_format_is_read_back) {
  const Scratch scratch("netcdf");
  for (const auto format : formats) {
    write_packed(scratch / "a.nc", format);
    const auto file = File::open(scratch / "a.nc");
    const auto& sst = file.variable("sst");
    EXPECT_EQ(sst.shape, (std::vector<std::uint64_t>{2, 2, 3}));
    EXPECT_EQ(sst.dimensions, (std::vector<std::string>{"time", "lat", "lon"}));
    EXPECT_EQ(sst.type, "short");
    EXPECT_EQ(sst.text("units"), "degC");
    EXPECT_EQ(file.read(sst, {{1, 0, 1}, {1, 2, 2}}), (std::vector<double>{4, 5, 7, 3000}));
    const auto values = file.read_unpacked(sst);
    EXPECT_NEAR(values[0], 26.59, 1e-6);
    EXPECT_NEAR(values[1], -1.8, 1e-7);
    EXPECT_TRUE(std::isnan(values[2]));
    EXPECT_NEAR(values[11], 30, 1e-5);
    EXPECT_EQ(file.read_unpacked(file.variable("time")), (std::vector<double>{66410, 66417}));
  }
}

TEST(NetcdfFile, every_mark_of_missing_values_counts) {
  const Scratch scratch("netcdf_missing");
  const auto missing = [&](const std::function<void(Writer&)>& mark, Type type, double stored) {
    {
      auto file = Writer::create(scratch / "m.nc", Format::classic);
      file.dimension("x", 2);
      file.variable("v", type, {"x"});
      mark(file);
      file.write("v", std::vector<double>{stored, 1});
      file.close();
    }
    const auto read = File::open(scratch / "m.nc");
    const auto values = read.read_unpacked(read.variable("v"));
    EXPECT_EQ(values[1], 1);
    return std::isnan(values[0]);
  };
  EXPECT_FALSE(missing([](Writer&) {}, Type::int16, -32768));
  EXPECT_TRUE(missing([](Writer& w) { w.attribute("v", "_FillValue", -32768); }, Type::int16, -32768));
  EXPECT_TRUE(missing([](Writer& w) { w.attribute("v", "missing_value", -1e34); }, Type::float32, -1e34));
  EXPECT_TRUE(missing([](Writer& w) { w.attribute("v", "valid_max", 40); }, Type::float32, 50));
  EXPECT_TRUE(missing([](Writer& w) { w.attribute("v", "valid_min", -3); }, Type::float64, -4));
  EXPECT_TRUE(missing([](Writer&) {}, Type::int16, -32767));                  // the type's own fill value
  EXPECT_TRUE(missing([](Writer&) {}, Type::float32, 9.969209968386869e36));  // the same
  EXPECT_FALSE(missing([](Writer&) {}, Type::int8, -127));                    // bytes have none
}

TEST(NetcdfFile, a_filter_that_is_not_there_is_named_and_the_file_read_on) {
  const Scratch scratch("netcdf_filter");
  foreign::write_filtered(scratch / "a.nc");
  const auto file = File::open(scratch / "a.nc");
  const auto read = [&](const char* name) { return file.read(file.variable(name), {{0}, {30}}); };

  try {
    (void)read("zstd");
    FAIL() << "read without its filter";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("compressed by zstd (filter 32015)"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(read("skipped")[29], 30);
}

TEST(NetcdfFile, what_is_no_file_or_not_in_it_is_refused) {
  const Scratch scratch("netcdf_refused");
  EXPECT_TRUE(contains(refusal([&] { File::open(scratch / "absent.nc"); }), "no such file"));
  EXPECT_TRUE(contains(refusal([&] { File::open(scratch.path()); }), "a folder"));
  std::ofstream(scratch / "text.nc") << "this is a text";
  EXPECT_TRUE(contains(refusal([&] { File::open(scratch / "text.nc"); }), "cannot be read as netCDF"));
  // What is told of a file of another kind.
  const auto told = [&](const std::string& bytes) {
    std::ofstream(scratch / "other.nc", std::ios::binary) << bytes;
    return refusal([&] { File::open(scratch / "other.nc"); });
  };
  const std::string other_kinds[][2] = {
      {"this is a text", "it begins with 'this is a text'; expected a netCDF file"},
      {std::string("\x01\x02 ab\0\xff", 7), "it begins with '\\x01\\x02 ab\\x00\\xff'"},
      {"<!DOCTYPE html><html>", "it is a web page, as a download that failed leaves"},
      {std::string("\x1f\x8b\x08\0\0\0", 6), "it is a compressed file (gzip)"},
      {std::string("PK\x03\x04\0\0", 6), "it is a zip archive"},
      {std::string("GRIB\0\0\0\x02", 8), "it is a GRIB file, as weather services give: cdo -f nc copy"},
      {std::string("units metal\npair_style lj/cut 5\nrun 10\n"), "it is a LAMMPS input script"}};
  for (const auto& [bytes, text] : other_kinds) {
    const auto message = told(bytes);
    EXPECT_TRUE(contains(message, text)) << message;
    EXPECT_TRUE(contains(message, "other.nc")) << message;
  }
  EXPECT_NE(told(""), "");
  EXPECT_FALSE(contains(told(""), "begins with")) << told("");
  write_packed(scratch / "a.nc", Format::classic);
  const auto file = File::open(scratch / "a.nc");
  const auto message = refusal([&] { static_cast<void>(file.variable("ssT")); });
  EXPECT_TRUE(contains(message, "did you mean 'sst'")) << message;
  EXPECT_TRUE(contains(refusal([&] {
                         static_cast<void>(file.read(file.variable("time"), {{1}, {2}}));
                       }),
                       "2 from 1"));
}

TEST(NetcdfFile, a_file_that_was_cut_is_refused) {
  const Scratch scratch("netcdf_cut");
  for (const auto format : formats) {
    write_packed(scratch / "a.nc", format);
    std::ifstream stream(scratch / "a.nc", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    for (const std::size_t keep : {bytes.size() - 8, bytes.size() / 2, std::size_t{40}, std::size_t{3}}) {
      std::ofstream(scratch / "cut.nc", std::ios::binary) << bytes.substr(0, keep);
      const auto message = refusal([&] {
        const auto file = File::open(scratch / "cut.nc");
        static_cast<void>(file.read_unpacked(file.variable("sst")));
        static_cast<void>(file.read_unpacked(file.variable("time")));
      });
      EXPECT_FALSE(message.empty()) << "format " << static_cast<int>(format) << ", " << keep << " of "
                                    << bytes.size() << " bytes";
    }
  }
}

TEST(NetcdfFile, an_open_that_fails_says_why_and_never_that_the_file_is_cut) {
  const Scratch scratch("netcdf_many");
  for (const auto format : formats) {
    write_packed(scratch / "a.nc", format);
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const auto before = limit.rlim_cur;
    const int free = dup(0);
    close(free);
    int n_refused = 0;
    for (int more = 0; more < 8; ++more) {
      limit.rlim_cur = free + more;
      ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
      const auto message = refusal([&] { File::open(scratch / "a.nc"); });
      limit.rlim_cur = before;
      ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
      if (message.empty()) continue;
      ++n_refused;
      EXPECT_TRUE(contains(message, "Too many open files")) << more << ": " << message;
    }
    EXPECT_GT(n_refused, 0);
    EXPECT_LT(n_refused, 8);
  }
}

/// The sign of numbers is what _Unsigned says, of signed types and of unsigned ones.
TEST(NetcdfFile, signs_are_those_of_the_attribute) {
  const Scratch scratch("netcdf_sign");
  for (const auto format : formats)
    for (const std::string word : {"true", "false"}) {
      auto file = Writer::create(scratch / "a.nc", format);
      file.dimension("x", 3);
      file.variable("v", Type::int16, {"x"});
      file.attribute("v", "_Unsigned", word);
      file.attribute("v", "_FillValue", -1);
      file.attribute("v", "valid_max", -6);
      file.write("v", std::vector<double>{-7, -5, -1});
      file.close();
      const auto read = File::open(scratch / "a.nc");
      const auto values = read.read_unpacked(read.variable("v"));
      EXPECT_EQ(values[0], word == "true" ? 65529 : -7);
      EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[2]));
    }
}

}  // namespace
}  // namespace quintet::netcdf
