#include <cmath>
#include <filesystem>
#include <numbers>
#include <span>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/unit/fields/fields_support.hpp"

// Files laid out as Dedalus 3.0.5 and 2.2 lay them out: 4 x 6 points of Fourier times Chebyshev.

namespace quintet::dedalus_test {
namespace {

using namespace testing;

constexpr std::uint64_t n_x = 4, n_z = 6;

double x_of(std::uint64_t i) { return 0.5 * i; }
double z_of(std::uint64_t k) {
  return -0.5 * std::cos(std::numbers::pi * (2 * static_cast<double>(k) + 1) / (2.0 * n_z));
}
std::vector<double> points(std::uint64_t n, double (*at)(std::uint64_t)) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < n; ++i) values.push_back(at(i));
  return values;
}

/// The value of a task's component at a time and a point.
double value_of(const std::string& task, std::uint64_t component, double time, std::uint64_t ix,
                std::uint64_t iz) {
  return static_cast<double>(task.size()) * 1000 + 500 * static_cast<double>(component) + 10 * time + ix +
         0.1 * iz;
}

using Texts = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

/// A task from `first` on along x, `n` points.
void write_task(hdf5::Group& root, const std::string& name, std::uint64_t n_components,
                const std::vector<double>& times, std::uint64_t first = 0, std::uint64_t n = n_x) {
  std::vector<double> values;
  for (const double time : times)
    for (std::uint64_t c = 0; c < std::max<std::uint64_t>(n_components, 1); ++c)
      for (std::uint64_t i = first; i < first + n; ++i)
        for (std::uint64_t k = 0; k < n_z; ++k) values.push_back(value_of(name, c, time, i, k));
  hdf5::Shape shape{times.size(), n, n_z};
  if (n_components > 0) shape.insert(shape.begin() + 1, n_components);
  auto tasks = root.group("tasks");
  tasks.write<double>(name, values, shape, {});
  tasks.set_member_attribute(name, "DIMENSION_LABELS",
                             n_components > 0 ? Texts{"t", "", "x", "z"} : Texts{"t", "x", "z"});
  tasks.set_member_attribute(name, "grid_space", Integers{1, 1});
}

void write_scales(hdf5::Group& root, const std::vector<double>& times, double stretch = 1) {
  auto scales = root.group("scales");
  scales.write<double>("sim_time", times, {times.size()}, {});
  auto z = points(n_z, z_of);
  for (double& value : z) value *= stretch;
  scales.write<double>("x_hash_6d51", points(n_x, x_of), {n_x}, {});
  scales.write<double>("z_hash_5585", z, {n_z}, {});
  scales.write<double>("z_hash_7c9c", std::vector<double>(9, 0.5), {9}, {});  // of another scale
  root.set_attribute("handler_name", "snapshots");
}

void write_set(const std::string& path, const std::vector<double>& times, double stretch = 1) {
  auto file = hdf5::File::create(Comm::self(), path);
  write_scales(file.root(), times, stretch);
  write_task(file.root(), "buoyancy", 0, times);
  write_task(file.root(), "p", 0, times);
  write_task(file.root(), "u", 2, times);
  auto tasks = file.root().group("tasks");
  tasks.write<double>("profile", std::vector<double>(times.size() * n_z), {times.size(), 1, n_z}, {});
  tasks.set_member_attribute("profile", "DIMENSION_LABELS", Texts{"t", "constant", "z"});
  tasks.write<double>("b_hat", std::vector<double>(times.size() * n_x * n_z), {times.size(), n_x, n_z}, {});
  tasks.set_member_attribute("b_hat", "grid_space", Integers{0, 0});
}

const FieldSeriesOptions convection{.axes = {"z", "x"}, .fields = {"p", "b", "u", "w"}};

FieldSeriesReader opened(const std::string& path, const FieldSeriesOptions& options = convection) {
  return FieldSeriesReader::open(Comm::self(), path, options);
}

std::string refused(const std::string& path, const FieldSeriesOptions& options = convection) {
  return message_of<InputError>([&] {
    const auto reader = opened(path, options);
    (void)reader.read<double>(0, 0, {0, reader.n_frames(0), {}});
  });
}

/// Field by field, frame by frame, point by point as they were written.
void expect_values(const FieldSeriesReader& reader) {
  const auto& header = reader.header();
  const struct {
    const char *field, *task;
    std::uint64_t component;
  } rows[] = {{"b", "buoyancy", 0}, {"p", "p", 0}, {"u", "u", 0}, {"w", "u", 1}};
  for (const auto& row : rows) {
    const auto values =
        reader.read<double>(header.field(row.field), 0, {1, reader.n_frames(0) - 1, {{1, 1}, {4, 3}}});
    std::size_t at = 0;
    for (std::uint64_t t = 1; t < reader.n_frames(0); ++t)
      for (std::uint64_t k = 1; k < 5; ++k)
        for (std::uint64_t i = 1; i < 4; ++i)
          EXPECT_EQ(values[at++], value_of(row.task, row.component, reader.times()[t], i, k)) << row.field;
  }
}

TEST(Dedalus, a_handlers_folder_is_one_series_of_all_sets) {
  const Scratch scratch("dedalus");
  std::filesystem::create_directory(scratch / "snapshots");
  write_set(scratch / "snapshots/snapshots_s1.h5", {0, 0.24, 0.51});
  write_set(scratch / "snapshots/snapshots_s2.h5", {0.75, 0.99});
  write_set(scratch / "snapshots/snapshots_s10.h5", {1.25});

  for (const std::string folder : {"snapshots", "snapshots/"}) {
    const auto reader = opened(scratch / folder);
    EXPECT_EQ(reader.times(), (std::vector<double>{0, 0.24, 0.51, 0.75, 0.99, 1.25}));
    EXPECT_FALSE(reader.header().axes[0].periodic);
    EXPECT_EQ(reader.header().axes[0].lower, -0.5);
    EXPECT_EQ(reader.header().axes[0].upper, 0.5);
    EXPECT_TRUE(reader.header().axes[1].periodic);
    EXPECT_EQ(reader.header().axes[1].upper, 2);
    expect_values(reader);
    const auto text = reader.reading().text();
    for (const char* part :
         {"buoyancy is b", "u[1] is w", "axis z has walls at -0.5 and 0.5: its points are Chebyshev's",
          "axis x periodic from 0 to 2", "3 sets", "profile (constant along an axis)",
          "b_hat (coefficients, not on a grid)"})
      EXPECT_TRUE(contains(text, part)) << text;
  }
  expect_values(opened(scratch / "snapshots/snapshots_s1.h5"));
}

TEST(Dedalus, frames_of_a_run_begun_again_replace_those_before) {
  const Scratch scratch("dedalus_again");
  write_set(scratch / "run_s1.h5", {0, 0.25, 0.5, 0.75});
  write_set(scratch / "run_s2.h5", {0.5, 0.7, 1});
  const auto reader = opened(scratch / "");
  EXPECT_EQ(reader.times(), (std::vector<double>{0, 0.25, 0.5, 0.7, 1}));
  EXPECT_TRUE(contains(reader.reading().text(),
                       "set 2 begins at time 0.5, before the end of those before: 2 of their"));
  expect_values(reader);
}

/// A set of two processes: x points 0 and 1 to 3.
void write_parts(const std::string& folder, const std::vector<double>& times, bool version_2) {
  std::filesystem::create_directory(folder);
  const std::uint64_t first[] = {0, 1}, n[] = {1, 3};
  for (int p = 0; p < 2; ++p) {
    auto file = hdf5::File::create(Comm::self(), folder + "/s_s1_p" + std::to_string(p) + ".h5");
    for (const char* name : {"b", "p", "u"}) {
      const std::uint64_t components = !version_2 && name[0] == 'u' ? 2 : 0;
      write_task(file.root(), name, components, times, first[p], n[p]);
      auto tasks = file.root().group("tasks");
      Integers start{static_cast<std::int64_t>(first[p]), 0}, whole{n_x, n_z};
      if (components > 0) start.insert(start.begin(), 0), whole.insert(whole.begin(), 2);
      tasks.set_member_attribute(name, version_2 ? "start" : "local_start", start);
      tasks.set_member_attribute(name, "global_shape", whole);
    }
    if (!version_2) continue;
    write_task(file.root(), "w", 0, times, first[p], n[p]);
    file.root().group("tasks").set_member_attribute("w", "start",
                                                    Integers{static_cast<std::int64_t>(first[p]), 0});
    file.root().group("tasks").set_member_attribute("w", "global_shape", Integers{n_x, n_z});
    auto scales = file.root().group("scales");
    scales.write<double>("sim_time", times, {times.size()}, {});
    scales.group("x").write<double>("1.0", points(n_x, x_of), {n_x}, {});
    scales.group("z").write<double>("1.0", points(n_z, z_of), {n_z}, {});
  }
}

TEST(Dedalus, parts_of_processes_make_a_whole_or_are_refused) {
  const Scratch scratch("dedalus_parts");
  write_parts(scratch / "s_s1", {0, 0.5, 1}, false);
  EXPECT_TRUE(contains(refused(scratch / "s_s1"), "has no scales: Dedalus writes them into"));
  {
    auto file = hdf5::File::create(Comm::self(), scratch / "s_s1.h5");
    write_scales(file.root(), {0, 0.5, 1});
    for (const char* name : {"b", "p"})
      write_task(file.root(), name, 0, {0, 0.5, 1});  // in place of virtual ones
    write_task(file.root(), "u", 2, {0, 0.5, 1});
  }
  for (const std::string path : {"", "s_s1", "s_s1.h5"}) {
    const auto reader = opened(scratch / path);
    EXPECT_TRUE(contains(reader.reading().text(), "a file for each process"));
    const auto w = reader.read<double>(reader.header().field("w"), 0, {1, 1, {{2, 0}, {1, 4}}});
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(w[i], value_of("u", 1, 0.5, i, 2));
  }
  EXPECT_TRUE(
      contains(refused(scratch / "s_s1/s_s1_p1.h5"), "is the part of one process of Dedalus: name the set"));
  std::filesystem::copy(scratch / "s_s1/s_s1_p1.h5", scratch / "s_s1/s_s1_p2.h5");
  EXPECT_TRUE(contains(refused(scratch / "s_s1"), "have the same points of task"));
  std::filesystem::remove(scratch / "s_s1/s_s1_p2.h5");
  std::filesystem::remove(scratch / "s_s1/s_s1_p1.h5");
  EXPECT_TRUE(contains(refused(scratch / "s_s1"), "have 6 of the 24 values of task 'b': one is missing"));
}

TEST(Dedalus, version_2_has_scales_in_each_file_and_numbers_for_components) {
  const Scratch scratch("dedalus_2");
  write_parts(scratch / "s_s1", {0, 0.5, 1}, true);
  const auto reader = opened(scratch / "s_s1");
  EXPECT_EQ(reader.header().fields.size(), 4u);
  EXPECT_EQ(reader.header().axes[0].upper, 0.5);
  const auto w = reader.read<double>(reader.header().field("w"), 0, {1, 1, {{2, 0}, {1, 4}}});
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(w[i], value_of("w", 0, 0.5, i, 2));
}

TEST(Dedalus, a_write_that_was_cut_short_is_left_out_and_more_are_refused) {
  const Scratch scratch("dedalus_cut");
  for (const std::size_t n_times : {3, 4}) {
    write_set(scratch / "a_s1.h5", {0, 0.5});
    {
      auto file = hdf5::File::open_for_update(Comm::self(), scratch / "a_s1.h5");
      const std::vector<double> times{0, 0.5, 1, 1.5};
      file.root().group("scales").write<double>("sim_time", std::span(times).first(n_times), {n_times}, {});
    }
    if (n_times == 4) {
      EXPECT_TRUE(contains(refused(scratch / "a_s1.h5"), "set 1 has 4 writes, of which its tasks have 2"));
      continue;
    }
    const auto reader = opened(scratch / "a_s1.h5");
    EXPECT_EQ(reader.times(), (std::vector<double>{0, 0.5}));
    EXPECT_TRUE(contains(reader.reading().text(), "the last of 3 writes of set 1, which is not whole"));
  }
}

TEST(Dedalus, what_does_not_belong_together_is_said) {
  const Scratch scratch("dedalus_refused");
  const auto with = [&](auto change) {
    write_set(scratch / "a_s1.h5", {0, 0.5});
    {
      auto file = hdf5::File::open_for_update(Comm::self(), scratch / "a_s1.h5");
      change(file.root());
    }
    return refused(scratch / "a_s1.h5");
  };
  EXPECT_EQ(with([](hdf5::Group&) {}), "");
  EXPECT_TRUE(contains(with([](hdf5::Group& root) {
                         root.group("scales").write<double>("x_hash_2", points(n_x, z_of), {n_x}, {});
                       }),
                       "has two scales of x with 4 points each"));
  EXPECT_TRUE(contains(
      with([](hdf5::Group& root) {
        root.group("scales").write<double>("z_hash_5585", std::vector<double>{0, 1, 3, 4, 5, 7}, {n_z}, {});
      }),
      "the points of axis z are not those of a Fourier or a Chebyshev basis: state its ends"));
  EXPECT_TRUE(contains(
      with([](hdf5::Group& root) {
        root.group("tasks").write<double>("p", std::vector<double>(2 * n_z * n_z), {2, n_z, n_z}, {});
        root.group("tasks").set_member_attribute("p", "DIMENSION_LABELS", Texts{"t", "x", "z"});
      }),
      "tasks/p is on a grid [6, 6] of x, z, but buoyancy on [4, 6] of x, z: write them on one grid"));
  write_set(scratch / "a_s1.h5", {0, 0.5});
  write_set(scratch / "a_s2.h5", {1, 1.5}, 2);
  EXPECT_TRUE(contains(refused(scratch / ""), "axis z of set 2 has other points than in set 1: two runs?"));
  write_set(scratch / "b_s2.h5", {1, 1.5});
  EXPECT_TRUE(contains(refused(scratch / ""), "holds sets of several handlers, a, b: name the files of one"));
  std::filesystem::create_directory(scratch / "empty");
  EXPECT_TRUE(contains(refused(scratch / "empty"), "is a folder without fields over time; expected"));
}

TEST(Dedalus, ends_that_are_given_go_before_those_of_the_points) {
  const Scratch scratch("dedalus_ends");
  write_set(scratch / "a_s1.h5", {0, 0.5});
  auto options = convection;
  options.facts = {{"z", {.lower = 0, .upper = 1, .points = AxisFacts::Points::chebyshev}}};
  const auto reader = opened(scratch / "a_s1.h5", options);
  EXPECT_EQ(reader.header().axes[0].upper, 1);
  EXPECT_NEAR(reader.header().axes[0].coordinates[0], 0.5 + z_of(0), 1e-15);
  EXPECT_FALSE(contains(reader.reading().text(), "axis z has walls")) << reader.reading().text();
}

TEST(Dedalus, points_at_half_spacings_are_asked_for) {
  const Scratch scratch("dedalus_sines");
  write_parts(scratch / "s_s1", {0, 0.5, 1}, true);
  {
    auto file = hdf5::File::open_for_update(Comm::self(), scratch / "s_s1/s_s1_p0.h5");
    file.root()
        .group("scales/x")
        .write<double>("1.0", std::vector<double>{0.25, 0.75, 1.25, 1.75}, {n_x}, {});
  }
  auto options = convection;
  EXPECT_TRUE(contains(refused(scratch / "s_s1", options),
                       "axis x has points at half spacings, as of a SinCos basis"));
  options.facts = {{"x", {.periodic = true}}};
  EXPECT_EQ(opened(scratch / "s_s1", options).header().axes[1].lower, 0.25);
  options.facts = {{"x", {.lower = 0, .upper = 2, .periodic = false}}};
  EXPECT_EQ(opened(scratch / "s_s1", options).header().axes[1].upper, 2);
}

TEST(Dedalus, a_name_of_its_own_is_kept_where_it_is_asked_for) {
  const Scratch scratch("dedalus_names");
  write_set(scratch / "a_s1.h5", {0, 0.5});
  const auto all = opened(scratch / "a_s1.h5", {});
  EXPECT_EQ(all.header().fields.size(), 4u);
  const auto own = opened(scratch / "a_s1.h5", {.fields = {"buoyancy", "u"}});
  EXPECT_NO_THROW((void)own.header().field("buoyancy"));
}

}  // namespace
}  // namespace quintet::dedalus_test
