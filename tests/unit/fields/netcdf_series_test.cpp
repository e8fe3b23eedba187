#include <cmath>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>

#include "io/fields/series_text.hpp"
#include "io/fields/staggered.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/netcdf_writer.hpp"
#include "tests/unit/fields/fields_support.hpp"

namespace quintet::netcdf_series_test {
namespace {

using namespace testing;
using netcdf::Type;
using netcdf::Writer;

constexpr int n_t = 3;

/// n numbers from `first` on, `step` apart.
std::vector<double> line(int n, double first, double step) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(first + step * i);
  return values;
}

void coordinate(Writer& file, const std::string& name, const std::vector<double>& points) {
  file.dimension(name, points.size());
  file.variable(name, Type::float64, {name});
  file.write(name, points);
}

using Function = std::function<double(double t, double z, double x)>;

void field(Writer& file, const std::string& name, const std::vector<double>& z, const std::vector<double>& x,
           const std::vector<std::string>& dimensions, const Function& f) {
  std::vector<double> values;
  for (int t = 0; t < n_t; ++t)
    for (const double zk : z)
      for (const double xi : x) values.push_back(f(0.5 * t, zk, xi));
  file.variable(name, Type::float64, dimensions);
  file.write(name, values);
}

double wave(double t, double z, double x) {
  return std::sin(std::numbers::pi * x) * (1 + z * z * z - z) + t;  // period 2 in x, a polynomial of z
}

/// Oceananigans' grid: 16 x 8 cells, x periodic from 0 to 2, z with walls at -1 and 0.
void write_ocean(const std::string& path, bool newer, bool with_faces = true) {
  const std::string xc = newer ? "x_caa" : "xC", xf = newer ? "x_faa" : "xF", zc = newer ? "z_aac" : "zC",
                    zf = newer ? "z_aaf" : "zF", y = newer ? "y_aca" : "yC";
  const auto x_centre = line(16, 0.0625, 0.125), x_face = line(16, 0, 0.125),
             z_centre = line(8, -0.9375, 0.125), z_face = line(9, -1, 0.125);
  auto file = Writer::create(path);
  coordinate(file, "time", line(n_t, 0, 0.5));
  file.attribute("time", "units", "seconds");
  coordinate(file, xc, x_centre);
  coordinate(file, zc, z_centre);
  if (with_faces) {
    coordinate(file, xf, x_face);
    coordinate(file, zf, z_face);
  }
  coordinate(file, y, {0.5});
  field(file, "b", z_centre, x_centre, {"time", zc, y, xc}, wave);
  if (with_faces) {
    field(file, "u", z_centre, x_face, {"time", zc, y, xf}, wave);
    field(file, "w", z_face, x_centre, {"time", zf, y, xc}, wave);
  }
  file.close();
}

FieldSeriesReader opened(const std::string& path, const FieldSeriesOptions& options = {}) {
  return FieldSeriesReader::open(Comm::self(), path, options);
}

TEST(NetcdfSeries, oceananigans_faces_come_to_the_centres) {
  const Scratch scratch("oceananigans");
  for (const bool newer : {false, true}) {
    write_ocean(scratch / "a.nc", newer);
    const auto reader = opened(scratch / "a.nc", {.axes = {"z", "x"}, .fields = {"b", "u", "w"}});
    const auto& header = reader.header();
    EXPECT_FALSE(header.axes[0].periodic);
    EXPECT_EQ(header.axes[0].lower, -1);
    EXPECT_EQ(header.axes[0].upper, 0);
    EXPECT_TRUE(header.axes[1].periodic);
    EXPECT_EQ(header.axes[1].lower, 0);
    EXPECT_EQ(header.axes[1].upper, 2);
    for (const char* name : {"b", "u", "w"}) {
      const auto values = reader.read<double>(header.field(name), 0, {1, 2, {{1, 0}, {6, 16}}});
      // Cubics are exact along z; along x their error is at most 9/384 (pi h)^4 of the amplitude.
      const double tolerance =
          name[0] == 'u' ? 1.4 * 9.0 / 384 * std::pow(std::numbers::pi * 0.125, 4) : 1e-13;
      std::size_t at = 0;
      for (int t = 1; t < 3; ++t)
        for (int k = 1; k < 7; ++k)
          for (int i = 0; i < 16; ++i)
            EXPECT_NEAR(values[at++], wave(0.5 * t, -0.9375 + 0.125 * k, 0.0625 + 0.125 * i), tolerance)
                << name;
    }
    const auto text = reader.reading().text();
    for (const char* part :
         {"u interpolated from faces to centres along x, by polynomials of degree 3",
          "w interpolated from faces to centres along z", "axis x periodic from 0 to 2, with as many faces",
          "axis z has walls from -1 to 0, its first and last face", "times in seconds", "of one point"})
      EXPECT_TRUE(contains(text, part)) << text;
  }
}

TEST(NetcdfSeries, cells_without_faces_must_be_said_to_be_periodic_or_not) {
  const Scratch scratch("oceananigans_centres");
  write_ocean(scratch / "a.nc", false, false);
  const auto message = message_of<InputError>([&] { (void)opened(scratch / "a.nc"); });
  EXPECT_TRUE(
      contains(message, "has no faces of axis z, which would tell whether it is periodic: say periodic"))
      << message;
  const auto reader =
      opened(scratch / "a.nc",
             {.axes = {"z", "x"}, .facts = {{"x", {.periodic = true}}, {"z", {.periodic = false}}}});
  EXPECT_EQ(reader.header().axes[0].lower, -1);
  EXPECT_EQ(reader.header().axes[0].upper, 0);
  EXPECT_EQ(reader.header().axes[1].lower, 0);
  EXPECT_EQ(reader.header().axes[1].upper, 2);
  EXPECT_TRUE(contains(message_of<InputError>([&] {
                         write_ocean(scratch / "b.nc", false);
                         (void)opened(scratch / "b.nc", {.facts = {{"x", {.periodic = false}}}});
                       }),
                       "axis x has 16 cells and 16 faces"));
}

/// x falls, time is not the slowest dimension, values are packed; beside them what is no field.
TEST(NetcdfSeries, any_order_of_dimensions_and_a_falling_coordinate) {
  const Scratch scratch("netcdf_series");
  const auto z = line(6, 0, 1), x = line(4, 3, -1);
  {
    auto file = Writer::create(scratch / "a.nc");
    coordinate(file, "z", z);
    coordinate(file, "t", line(n_t, 0, 0.5));
    coordinate(file, "x", x);
    std::vector<double> values;
    for (const double zk : z)
      for (int t = 0; t < n_t; ++t)
        for (const double xi : x) values.push_back(100 * t + 10 * zk + xi);
    file.variable("buoyancy", Type::int16, {"z", "t", "x"});
    file.attribute("buoyancy", "scale_factor", 0.5, true);
    file.attribute("buoyancy", "units", "m s-2");
    file.write("buoyancy", values);
    file.variable("profile", Type::float64, {"z"});
    file.write("profile", z);
    file.variable("energy", Type::float64, {"t"});
    file.write("energy", line(n_t, 1, 1));
    file.variable("Ra", Type::float64, {});
    file.write("Ra", std::vector<double>{1e5});
    file.close();
  }
  const auto reader = opened(scratch / "a.nc", {.axes = {"z", "x"}});
  EXPECT_EQ(reader.header().fields[0].name, "b");
  EXPECT_EQ(reader.header().fields[0].units, "m s-2");
  EXPECT_EQ(reader.header().axes[1].coordinates, (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(reader.parameters(0).at("Ra"), 1e5);
  EXPECT_EQ(reader.read<double>(0, 0, {1, 1, {{2, 1}, {2, 2}}}), (std::vector<double>{60.5, 61, 65.5, 66}));
  const auto text = field_series_text(scratch / "a.nc");
  for (const char* part :
       {"1 sample of 3 frames", "axis z: 6 points from 0 to 5 (1), equally spaced",
        "times: 3 from 0 to 1 (1), 0.5 apart", "field b (m s-2): 0 to 26.5 in the first frame",
        "parameter Ra: 100000", "assumed: buoyancy is b", "profile (has no dimension t)"})
    EXPECT_TRUE(contains(text, part)) << text;
  const auto wanted =
      message_of<InputError>([&] { (void)opened(scratch / "a.nc", {.fields = {"profile"}}); });
  EXPECT_TRUE(contains(wanted, "profile: has no dimension t")) << wanted;
}

TEST(NetcdfSeries, a_file_without_times_is_refused_and_what_holds_no_fields_says_so) {
  const Scratch scratch("netcdf_untimed");
  {
    auto file = Writer::create(scratch / "a.nc", netcdf::Format::classic);
    coordinate(file, "x", line(4, 0, 1));
    file.close();
  }
  EXPECT_TRUE(contains(message_of<InputError>([&] { (void)opened(scratch / "a.nc"); }),
                       "has no times: expected a variable time"));
  EXPECT_TRUE(contains(field_series_text(scratch / "a.nc"), "Not read as fields over time: "));
}

TEST(Staggered, names_of_dimensions_say_where_values_lie) {
  using field_formats::staggered_location;
  const struct {
    const char *name, *axis;
    bool face;
  } rows[] = {{"xC", "x", false},    {"zF", "z", true},    {"x_faa", "x", true},
              {"y_aca", "y", false}, {"z_aaf", "z", true}, {"x_fca", "x", true}};
  for (const auto& row : rows) {
    const auto found = staggered_location(row.name);
    ASSERT_TRUE(found.has_value()) << row.name;
    EXPECT_EQ(found->axis, row.axis);
    EXPECT_EQ(found->face, row.face);
  }
  for (const char* name : {"x", "lat", "xD", "x_aaf", "z_abc", ""})
    EXPECT_FALSE(staggered_location(name).has_value()) << name;
}

}  // namespace
}  // namespace quintet::netcdf_series_test
