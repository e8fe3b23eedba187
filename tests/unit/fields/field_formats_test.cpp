#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "io/files/zip_file.hpp"
#include "io/log/error.hpp"
#include "tests/support/zip_writer.hpp"
#include "tests/unit/fields/fields_support.hpp"

namespace quintet {
namespace {

using namespace testing;

float number(int i) { return 0.5F * i - 3; }

std::vector<float> numbers(int n, int from = 0) {
  std::vector<float> values;
  for (int i = 0; i < n; ++i) values.push_back(number(from + i));
  return values;
}

/// A file of The Well's `rayleigh_benard`: 2 runs of 3 frames on 4 x 5 points, single precision, nothing of
/// ours.
void write_well(const std::string& path) {
  auto file = hdf5::File::create(Comm::self(), path);
  auto& root = file.root();
  root.set_attribute("dataset_name", "rayleigh_benard");
  root.set_attribute("grid_type", "cartesian");
  root.set_attribute("n_spatial_dims", 2);
  root.set_attribute("n_trajectories", 2);
  auto dimensions = root.group("dimensions");
  dimensions.set_attribute("spatial_dims", std::vector<std::string>{"x", "y"});
  dimensions.write<float>("time", std::vector<float>{0, 0.25, 0.5}, {3}, {});
  dimensions.write<float>("x", std::vector<float>{0, 1, 2, 3}, {4}, {});
  dimensions.write<float>("y", std::vector<float>{0.1F, 0.2F, 0.5F, 0.8F, 0.9F}, {5}, {});
  auto boundary = root.group("boundary_conditions/x_periodic");
  boundary.set_attribute("bc_type", "PERIODIC");
  boundary.set_attribute("associated_dims", std::vector<std::string>{"x"});
  auto wall = root.group("boundary_conditions/y_wall_dirichlet");
  wall.set_attribute("bc_type", "WALL");
  wall.set_attribute("associated_dims", std::vector<std::string>{"y"});
  auto scalars = root.group("scalars");
  scalars.set_attribute("field_names", std::vector<std::string>{"Rayleigh", "Prandtl", "delta"});
  scalars.write<float>("Rayleigh", std::vector<float>{1e6F}, {}, {});
  scalars.write<float>("Prandtl", std::vector<float>{0.5F}, {1}, {});
  scalars.write<float>("delta", std::vector<float>{0.25F, 0.75F}, {2}, {});
  auto t0 = root.group("t0_fields"), t1 = root.group("t1_fields");
  t0.set_attribute("field_names", std::vector<std::string>{"buoyancy", "pressure", "bottom"});
  t0.write<float>("buoyancy", numbers(120), {2, 3, 4, 5}, {});
  t0.write<float>("pressure", numbers(120, 1000), {2, 3, 4, 5}, {});
  t0.write<float>("bottom", numbers(4), {4}, {});  // a field that does not vary: left out
  t0.set_member_attribute("bottom", "time_varying", std::vector<std::int64_t>{0});
  t1.set_attribute("field_names", std::vector<std::string>{"velocity"});
  t1.write<float>("velocity", numbers(240, 2000), {2, 3, 4, 5, 2}, {});
  root.group("t2_fields").set_attribute("field_names", std::vector<std::string>{});
}

TEST(Well, its_rayleigh_benard_is_read_under_the_names_of_our_equations) {
  const Scratch scratch("well");
  write_well(scratch / "a.hdf5");

  const auto reader = FieldSeriesReader::open(Comm::self(), scratch / "a.hdf5", {.axes = {"z", "x"}});

  const auto& header = reader.header();
  ASSERT_EQ(header.fields.size(), 4u);
  EXPECT_EQ(header.n_samples, 2u);
  EXPECT_EQ(header.axes[0].name, "z");
  EXPECT_EQ(header.axes[0].lower, 0);
  EXPECT_EQ(header.axes[0].upper, 1);
  EXPECT_FALSE(header.axes[0].periodic);
  EXPECT_TRUE(header.axes[1].periodic);
  EXPECT_EQ(header.axes[1].upper, 4);
  EXPECT_EQ(reader.time_spacing(), 0.25);
  EXPECT_EQ(reader.parameters(1), (std::map<std::string, double>{{"Ra", 1e6}, {"Pr", 0.5}, {"delta", 0.75}}));
  ASSERT_EQ(header.wall_values.size(), 2u);
  EXPECT_EQ(header.wall_values[0].value, 1);
  EXPECT_TRUE(header.wall_values[1].upper);
  EXPECT_EQ(header.wall_values[1].value, 0);
  EXPECT_TRUE(contains(reader.reading().text(), "axis z from 0 to 1, as all of rayleigh_benard"));
  const auto b = reader.read<double>(header.field("b"), 1, {2, 1, {}});
  const auto w = reader.read<float>(header.field("w"), 0, {1, 1, {{3, 1}, {2, 2}}});
  EXPECT_EQ(b[0 * 4 + 3], number(60 + 40 + 3 * 5 + 0));  // z 0, x 3
  EXPECT_EQ(w,
            (std::vector<float>{number(2000 + 2 * (20 + 5 + 3) + 1), number(2000 + 2 * (20 + 10 + 3) + 1),
                                number(2000 + 2 * (20 + 5 + 4) + 1), number(2000 + 2 * (20 + 10 + 4) + 1)}));
}

/// Members of an archive as the reference's: p, b, u, w [3, 4, 5], float32, and what `more` says.
std::vector<zip::Member> reference_members(std::vector<zip::Member> more = {}) {
  std::vector<zip::Member> members;
  for (const auto* name : {"p", "b", "u", "w"})
    members.push_back(
        {std::string(name) + ".npy",
         zip::npy<float>("<f4", "(3, 4, 5)", numbers(60, 100 * static_cast<int>(members.size())))});
  members.insert(members.end(), more.begin(), more.end());
  return members;
}

const FieldSeriesOptions reference_options{.axes = {"z", "x"},
                                           .facts = {{"x", {0, 4, true, AxisFacts::Points::uniform}},
                                                     {"z", {-0.5, 0.5, false, AxisFacts::Points::chebyshev}}},
                                           .parameters = {{"Ra", 1e6}},
                                           .time_spacing = 0.25};

TEST(Npz, the_references_arrays_are_a_series_once_their_grid_is_stated) {
  const Scratch scratch("npz");
  for (const bool compressed : {false, true})
    for (const bool zip64 : {false, true}) {
      zip::write(scratch / "a.npz", zip::archive(reference_members(), compressed, zip64));
      const auto reader = FieldSeriesReader::open(Comm::self(), scratch / "a.npz", reference_options);
      const auto& header = reader.header();
      ASSERT_EQ(header.fields.size(), 4u);
      EXPECT_EQ(header.fields[1].name, "b");
      EXPECT_EQ(header.axes[1].coordinates, (std::vector<double>{0, 1, 2, 3}));
      EXPECT_NEAR(header.axes[0].coordinates[0], -0.5 * std::cos(std::numbers::pi / 10), 1e-15);
      EXPECT_NEAR(header.axes[0].coordinates[2], 0, 1e-15);
      EXPECT_EQ(reader.times(), (std::vector<double>{0.25, 0.5, 0.75}));
      EXPECT_EQ(reader.parameters(0).at("Ra"), 1e6);
      const auto u = reader.read<double>(2, 0, {1, 2, {{1, 2}, {3, 1}}});
      EXPECT_EQ(u,
                (std::vector<double>{number(200 + 20 + 11), number(200 + 20 + 12), number(200 + 20 + 13),
                                     number(200 + 40 + 11), number(200 + 40 + 12), number(200 + 40 + 13)}));
    }
}

TEST(Npz, uniform_points_of_a_bounded_axis_are_cell_centres) {
  const Scratch scratch("npz_uniform");
  zip::write(scratch / "a.npz", zip::archive(reference_members(), false, false));
  auto options = reference_options;
  options.facts["z"].points = AxisFacts::Points::uniform;
  const auto reader = FieldSeriesReader::open(Comm::self(), scratch / "a.npz", options);
  const auto& z = reader.header().axes[0];
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(z.coordinates[i], -0.4 + 0.2 * i, 1e-15);
  EXPECT_EQ(z.lower, -0.5);
  EXPECT_EQ(z.upper, 0.5);
}

TEST(Npz, coordinates_times_and_numbers_of_the_archive_are_used) {
  const Scratch scratch("npz_own");
  zip::write(
      scratch / "a.npz",
      zip::archive(reference_members({{"x.npy", zip::npy<double>("<f8", "(4,)", {0, 0.5, 1, 1.5})},
                                      {"z.npy", zip::npy<double>("<f8", "(5,)", {-0.4, -0.2, 0, 0.2, 0.4})},
                                      {"t.npy", zip::npy<double>("<f8", "(3,)", {1, 2, 4})},
                                      {"Pr.npy", zip::npy<double>("<f8", "()", {0.71})},
                                      {"names.npy", zip::npy<double>("<U4", "(1,)", {0, 0})}}),
                   true, false));
  const auto reader = FieldSeriesReader::open(Comm::self(), scratch / "a.npz",
                                              {.facts = {{"z", {.lower = -0.5, .upper = 0.5}}}});
  EXPECT_EQ(reader.parameters(0).at("Pr"), 0.71);
  EXPECT_EQ(reader.header().axes[0].upper, 1.5);
  EXPECT_EQ(reader.header().axes[1].lower, -0.5);
  EXPECT_FALSE(reader.time_spacing().has_value());
}

TEST(Npz, what_is_not_needed_is_named_and_passed_over) {
  const Scratch scratch("npz_foreign");
  auto options = reference_options;
  options.fields = {"p", "b", "u", "w"};
  std::vector<float> turned(60);
  for (int t = 0; t < 3; ++t)
    for (int x = 0; x < 4; ++x)
      for (int z = 0; z < 5; ++z) turned[t + 3 * (x + 4 * z)] = number((t * 4 + x) * 5 + z);
  auto members = reference_members({{"note.npy", zip::npy<double>("|O", "()", {0})},
                                    {"mask.npy", zip::npy<char>("|b1", "(2, 2, 2)", std::vector<char>(8, 1))},
                                    {"q.npy", zip::npy<float>("<f4", "(1, 4, 5)", numbers(20))},
                                    {"cut.npy", zip::npy<float>("<f4", "(9, 9)", numbers(3))},
                                    {"steps.npy", zip::npy<std::int16_t>("<i2", "(3,)", {1, 2, 3})}});
  auto fortran = zip::npy<float>("<f4", "(3, 4, 5)", turned);
  fortran.replace(fortran.find("False"), 5, "True ");
  members[0] = {"p.npy", fortran};
  zip::write(scratch / "a.npz", zip::archive(members, true, false));

  const auto reader = FieldSeriesReader::open(Comm::self(), scratch / "a.npz", options);

  EXPECT_EQ(reader.header().fields.size(), 4u);
  EXPECT_EQ(reader.reading().not_used,
            (std::vector<std::string>{"note (type |O)", "cut (type <f4)", "mask (2, 2, 2)", "q (1, 4, 5)",
                                      "steps (3,)"}));
  const auto p = reader.read<double>(0, 0, {1, 2, {{1, 2}, {3, 1}}});
  EXPECT_EQ(p, (std::vector<double>{number(20 + 11), number(20 + 12), number(20 + 13), number(40 + 11),
                                    number(40 + 12), number(40 + 13)}));
  options.fields.push_back("cut");
  EXPECT_TRUE(contains(
      message_of<InputError>([&] { FieldSeriesReader::open(Comm::self(), scratch / "a.npz", options); }),
      "cut: the file is truncated"));
}

TEST(Npz, its_own_times_are_not_overridden) {
  const Scratch scratch("npz_times");
  zip::write(
      scratch / "a.npz",
      zip::archive(reference_members({{"sim_time.npy", zip::npy<double>("<f8", "(3,)", {1, 1.25, 1.5})}}),
                   true, false));
  auto options = reference_options;

  EXPECT_EQ(FieldSeriesReader::open(Comm::self(), scratch / "a.npz", options).times(),
            (std::vector<double>{1, 1.25, 1.5}));
  options.time_spacing = 0.2503;
  EXPECT_TRUE(contains(
      message_of<InputError>([&] { FieldSeriesReader::open(Comm::self(), scratch / "a.npz", options); }),
      "its frames are 0.25 apart by its own times, and time_spacing is given as 0.2503"));
}

TEST(Npz, what_is_missing_or_does_not_fit_is_said) {
  const Scratch scratch("npz_refused");
  const auto refused = [&](const std::vector<zip::Member>& members, const FieldSeriesOptions& options) {
    zip::write(scratch / "a.npz", zip::archive(members, false, false));
    return message_of<InputError>([&] {
      (void)FieldSeriesReader::open(Comm::self(), scratch / "a.npz", options).read<float>(0, 0, {0, 1, {}});
    });
  };
  auto untimed = reference_options;
  untimed.time_spacing.reset();
  EXPECT_TRUE(
      contains(refused(reference_members(), {}), "a.npz: has no coordinates 'x': state the ends and points"));
  EXPECT_TRUE(contains(refused(reference_members(), untimed),
                       "a.npz: has no times 't': state the time between frames"));
  EXPECT_TRUE(contains(refused({{"p.npy", zip::npy<float>("<f4", "(4,)", numbers(4))}}, {}),
                       "holds no array [t, x, z]"));
  EXPECT_TRUE(
      contains(refused(reference_members({{"q.npy", zip::npy<float>("<f4", "(1, 4, 5)", numbers(20))}}),
                       reference_options),
               "a.npz: q: has shape (1, 4, 5), but that of 'p' is (3, 4, 5)"));
  EXPECT_TRUE(
      contains(refused({{"p.npy", zip::npy<float>("<f4", "(3, 4, 6)", numbers(60))}}, reference_options),
               "a.npz: p: the file is truncated: shape (3, 4, 6)"));
  auto nan = numbers(60);
  nan[7] = std::nanf("");
  EXPECT_TRUE(contains(refused({{"p.npy", zip::npy<float>("<f4", "(3, 4, 5)", nan)}}, reference_options),
                       "field 'p' is nan in frame 0 of sample 0 at point [1, 2]"));
}

TEST(Zip, damage_anywhere_is_an_input_error_and_a_changed_value_is_noticed) {
  const Scratch scratch("zip_damage");
  std::mt19937 generator(5);
  for (const bool compressed : {false, true}) {
    const auto bytes = zip::archive(reference_members(), compressed, true);
    const auto read_all = [&](const std::string& content) {
      zip::write(scratch / "a.npz", content);
      const auto reader = FieldSeriesReader::open(Comm::self(), scratch / "a.npz", reference_options);
      std::vector<float> all;
      for (int f = 0; f < std::ssize(reader.header().fields); ++f) {
        const auto values = reader.read<float>(f, 0, {0, 3, {}});
        all.insert(all.end(), values.begin(), values.end());
      }
      return all;
    };
    const auto good = read_all(bytes);
    int n_refused = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
      auto changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << generator() % 8));
      std::vector<float> values;
      const auto message = message_of<InputError>([&] { values = read_all(changed); });
      n_refused += message.empty() ? 0 : 1;
      EXPECT_TRUE(!message.empty() || values.size() != good.size() || values == good) << i;
    }
    EXPECT_GT(n_refused, 100);
    for (std::size_t n = 0; n < bytes.size(); n += 7)
      EXPECT_NE(message_of<InputError>([&] { (void)read_all(bytes.substr(0, n)); }), "") << n;
  }
}

TEST(Zip, sizes_that_no_file_can_hold_are_refused_before_memory_is_asked_for) {
  const Scratch scratch("zip_liar");
  auto bytes = zip::archive({{"p.npy", zip::npy<float>("<f4", "(3, 4, 5)", numbers(60))}}, true, false);
  const auto entry = bytes.rfind("PK\1\2");
  bytes.replace(entry + 24, 4, zip::little_endian(0xfffffff0, 4));
  zip::write(scratch / "a.npz", bytes);
  const auto message = message_of<InputError>([&] { (void)ZipFile(scratch / "a.npz"); });
  EXPECT_TRUE(contains(message, "member 'p.npy' claims 4294967280 bytes, packed into")) << message;
}

TEST(Zip, archives_of_numpy_itself_are_read) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  const std::string path = std::string(source ? source : ".") + "/../shared/data/convection/cb_10000.npz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const ZipFile file(path);
  EXPECT_TRUE(file.has("tri.npy"));
  EXPECT_EQ(file.size("x.npy"), 640u);
  EXPECT_EQ(file.read("tri.npy").size(), file.size("tri.npy"));  // its checksum agrees
}

}  // namespace
}  // namespace quintet
