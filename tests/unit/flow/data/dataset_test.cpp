#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/fields/field_series.hpp"
#include "io/log/error.hpp"
#include "surrogates/flow/data/dataset.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::flow {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

/// A field of (sample, t, z, x).
using Function = std::function<double(double, double, double, double)>;

double linear(double sample, double t, double z, double x) { return 0.5 + sample + 2 * t - 3 * z + 0.25 * x; }

struct File {
  std::uint64_t n_samples = 3, n_frames = 12;
  int n_z = 16, n_x = 16;
  bool periodic = false;
  double spacing = 0.25, first = 0;
  std::map<std::string, double> parameters{{"Pr", 1}, {"Ra", 1e6}};
  std::vector<std::string> fields{"b", "w"};
  bool double_precision = false;
  Function b = linear, w = [](double, double t, double z, double) { return t * z; };
};

FieldSeriesHeader header_of(const File& file) {
  FieldSeriesHeader header;
  header.name = "test";
  FieldAxis z{"z", "1", {}, false, -0.5, 0.5}, x{"x", "1", {}, file.periodic, 0, 4};
  for (int j = 0; j < file.n_z; ++j)
    z.coordinates.push_back(-0.5 * std::cos(std::numbers::pi * (2 * j + 1) / (2 * file.n_z)));
  for (int i = 0; i < file.n_x; ++i)
    x.coordinates.push_back((i + (file.periodic ? 0.0 : 0.5)) * 4.0 / file.n_x);
  header.axes = {x, z};  // x slowest: the reader turns them
  for (const auto& name : file.fields) header.fields.push_back({name, "1", "", "", -1});
  header.parameters = file.parameters;
  header.n_samples = file.n_samples;
  header.double_precision = file.double_precision;
  return header;
}

std::string write(const SharedScratch& scratch, const std::string& name, const File& file) {
  const auto comm = Comm::world();
  const auto header = header_of(file);
  auto writer = FieldSeriesWriter::create(comm, scratch / name, header, hdf5::current_provenance());
  for (std::uint64_t sample = 0; sample < file.n_samples; ++sample)
    for (std::uint64_t frame = 0; frame < file.n_frames; ++frame) {
      const double t = file.first + file.spacing * frame;
      std::vector<std::vector<double>> values(header.fields.size());
      for (std::size_t f = 0; f < values.size() && comm.is_root(); ++f)
        for (const double x : header.axes[0].coordinates)
          for (const double z : header.axes[1].coordinates)
            values[f].push_back((f == 0 ? file.b : file.w)(sample, t, z, x));
      const auto shape = header.shape();
      writer.append<double>(sample, t, {values.begin(), values.end()},
                            {{0, 0}, {comm.is_root() ? shape[0] : 0, shape[1]}});
    }
  writer.close();
  return scratch / name;
}

FlowDataOptions options_of(const std::vector<std::string>& files) {
  FlowDataOptions options;
  options.files = files;
  options.fields = {"b", "w"};
  options.crop = {4, 8, 8};
  options.points = 50;
  options.low_resolution.factor = {2, 4, 4};
  options.split.validation = options.split.test = 1.0 / 3;
  return options;
}

std::vector<std::string> refused(const FlowDataOptions& options) {
  const auto message = message_of<InputError>([&] { FlowDataset(Comm::world(), options); });
  EXPECT_EQ(message.find('\n'), std::string::npos);
  return {message};
}
#define EXPECT_REFUSED(options, part) EXPECT_TRUE(contains(refused(options)[0], part)) << refused(options)[0]

/// What a model is said to be trained for holds the spacing of these nodes, and where it is `tight` nothing
/// else.
void expect_spacing_of(const FlowDataset& data, const BlockAxes& axes, bool tight) {
  const auto ranges = data.low_spacing_ranges();
  for (std::size_t d = 0; d < 3; ++d) {
    double least = 1e9, most = 0;
    for (int i = 1; i < axes[d].size(); ++i) {
      const double spacing = axes[d].coordinates[i] - axes[d].coordinates[i - 1];
      least = std::min(least, spacing), most = std::max(most, spacing);
    }
    EXPECT_GE(least, ranges[d].least - 1e-12) << d;
    EXPECT_LE(most, ranges[d].most + 1e-12) << d;
    if (!tight) continue;
    EXPECT_NEAR(least, ranges[d].least, 1e-12) << d;
    EXPECT_NEAR(most, ranges[d].most, 1e-12) << d;
  }
}

TEST(FlowDataset, crops_and_targets_of_a_linear_field_are_exact) {
  const SharedScratch scratch("flow_linear");
  const FlowDataset data(Comm::world(), options_of({write(scratch, "a.h5", {})}));
  const auto& statistics = data.statistics();

  const auto batch = data.batch(Split::train, 5, 17, 0, 20);

  EXPECT_EQ(batch.low_shape, (std::array<int, 3>{2, 2, 2}));
  expect_spacing_of(data, data.low(Split::train, 0).axes, false);
  for (const auto& axes : batch.axes) expect_spacing_of(data, axes, false);
  ASSERT_EQ(batch.low.size(), 20u * 2 * 8);
  ASSERT_EQ(batch.targets.size(), 20u * 50 * 2);
  for (std::size_t s = 0; s < 20; ++s) {
    const auto& axes = batch.axes[s];
    std::size_t i = s * 16;
    for (const double t : axes[0].coordinates)
      for (const double z : axes[1].coordinates)
        for (const double x : axes[2].coordinates)
          EXPECT_NEAR(statistics.physical(0, batch.low[i++]), linear(0, t, z, x), 1e-5);
    for (std::size_t p = 0; p < 50; ++p) {
      const double* at = &batch.points[3 * (50 * s + p)];
      EXPECT_NEAR(statistics.physical(0, batch.targets[2 * (50 * s + p)]), linear(0, at[0], at[1], at[2]),
                  1e-5);
      for (std::size_t d = 0; d < 3; ++d) {
        EXPECT_GE(at[d], axes[d].lower);
        EXPECT_LE(at[d], axes[d].upper);
      }
    }
    EXPECT_EQ(axes[1].wall_lower, axes[1].lower == -0.5);
    EXPECT_FALSE(axes[0].wall_lower);
  }
  EXPECT_EQ(data.parameter_names(), (std::vector<std::string>{"Pr", "Ra"}));
  EXPECT_EQ(batch.parameters[1], 1e6);
}

TEST(FlowDataset, any_ranks_draw_the_same_and_share_the_work) {
  const auto comm = Comm::world();
  const SharedScratch scratch("flow_ranks");
  File file;
  file.periodic = true;
  file.b = [](double s, double t, double z, double x) {
    return std::sin(two_pi * x / 4 + 3 * t + s) * (1 + z) + s;
  };
  const FlowDataset data(comm, options_of({write(scratch, "a.h5", file)}));
  const FlowDataset alone(Comm::self(), options_of({scratch / "a.h5"}));
  const int n = 6, mine = n / comm.size(), first = comm.rank() * mine;

  const auto part = data.batch(Split::train, 1, 3, first, mine);
  const auto whole = alone.batch(Split::train, 1, 3, 0, n);

  EXPECT_EQ(comm.all_gather(std::span<const float>(part.targets)), whole.targets);
  EXPECT_EQ(comm.all_gather(std::span<const float>(part.low)), whole.low);
  EXPECT_EQ(comm.all_gather(std::span<const double>(part.points)), whole.points);
  EXPECT_EQ(data.statistics().mean, alone.statistics().mean);
  EXPECT_EQ(data.statistics().deviation, alone.statistics().deviation);
  EXPECT_NE(data.batch(Split::train, 1, 4, 0, 1).points, data.batch(Split::train, 1, 3, 0, 1).points);
  EXPECT_NE(data.batch(Split::train, 2, 3, 0, 1).points, data.batch(Split::train, 1, 3, 0, 1).points);
}

TEST(FlowDataset, crops_of_a_periodic_axis_wrap) {
  const SharedScratch scratch("flow_periodic");
  File file;
  file.periodic = true;
  file.n_x = 64;
  file.b = [](double, double, double, double x) { return std::cos(two_pi * x / 4); };
  file.w = [](double s, double t, double z, double) { return s + t * z; };
  auto options = options_of({write(scratch, "a.h5", file)});
  options.crop[2] = 16;
  const FlowDataset data(Comm::world(), options);
  const auto error_of = [](const FlowDataset& set, const Batch& batch) {
    double error = 0;
    for (std::size_t p = 0; p < batch.targets.size() / 2; ++p)
      error = std::max(error, std::abs(set.statistics().physical(0, batch.targets[2 * p]) -
                                       std::cos(two_pi * batch.points[3 * p + 2] / 4)));
    return error;
  };

  const auto batch = data.batch(Split::train, 1, 1, 0, 40);
  bool wraps = false;
  for (const auto& axes : batch.axes) {
    wraps = wraps || axes[2].upper > 4;
    EXPECT_NEAR(axes[2].upper - axes[2].lower, 15.0 / 16, 1e-12);
    EXPECT_FALSE(axes[2].periodic);
  }
  EXPECT_TRUE(wraps);
  const double spacing = 4.0 / 64;
  EXPECT_LT(error_of(data, batch), 1.01 * std::pow(two_pi / 4 * spacing, 2) / 8);

  options.crop[2] = 64;
  const FlowDataset whole(Comm::world(), options);
  const auto all = whole.batch(Split::train, 1, 1, 0, 10);
  EXPECT_TRUE(all.axes[0][2].periodic);
  EXPECT_NEAR(all.axes[0][2].upper - all.axes[0][2].lower, 4, 1e-12);
  EXPECT_LT(error_of(whole, all), 1.01 * std::pow(two_pi / 4 * spacing, 2) / 8);
  EXPECT_EQ(whole.n_crops(Split::train), 9 * 9 * 64);
}

TEST(FlowDataset, statistics_are_of_the_train_split_alone) {
  const SharedScratch scratch("flow_statistics");
  File file;
  file.b = [](double s, double t, double z, double x) {
    return s < 2 ? linear(0, t, z, x) * (s == 1 ? 50 : 1) : 1e6;
  };
  const FlowDataset data(Comm::world(), options_of({write(scratch, "a.h5", file)}));

  double sum = 0, squares = 0;
  const auto train = data.high(Split::train, 0);
  const std::size_t n = train.n_points();
  for (std::size_t i = 0; i < n; ++i) sum += train.values[i];
  for (std::size_t i = 0; i < n; ++i) squares += std::pow(train.values[i] - sum / n, 2);

  EXPECT_NEAR(data.statistics().mean[0], sum / n, 1e-9);
  EXPECT_NEAR(data.statistics().deviation[0], std::sqrt(squares / n), 1e-9);
  EXPECT_EQ(data.n_samples(Split::train), 1);
  EXPECT_EQ(data.name(Split::test, 0), scratch / "a.h5, sample 2");
  EXPECT_EQ(data.high(Split::test, 0).values[0], 1e6F);
}

TEST(FlowDataset, no_crop_crosses_from_one_part_of_time_to_another) {
  const SharedScratch scratch("flow_time");
  File file;
  file.n_frames = 20;
  auto options = options_of({write(scratch, "a.h5", file)});
  options.split = {SplitBy::time, 0.2, 0.25};
  const FlowDataset data(Comm::world(), options);

  EXPECT_EQ(data.n_samples(Split::validation), 3);
  EXPECT_EQ(data.n_crops(Split::train), 3 * (11 - 3) * 9 * 9);
  EXPECT_EQ(data.n_crops(Split::test), 3 * (5 - 3) * 9 * 9);
  const std::array<std::array<double, 2>, 3> ends{{{0, 2.5}, {2.75, 3.5}, {3.75, 4.75}}};
  for (std::size_t k = 0; k < 3; ++k) {
    double least = 10, most = 0;
    for (const auto& axes : data.batch(static_cast<Split>(k), 1, 1, 0, 200).axes) {
      least = std::min(least, axes[0].lower);
      most = std::max(most, axes[0].upper);
    }
    EXPECT_EQ(least, ends[k][0]);
    EXPECT_EQ(most, ends[k][1]);
  }
  EXPECT_EQ(data.low(Split::train, 0).axes[0].size(), 5);  // of 11 frames
  EXPECT_EQ(data.low(Split::train, 0).axes[2].size(), 4);
}

TEST(FlowDataset, every_place_is_equally_likely) {
  const SharedScratch scratch("flow_uniform");
  File file;
  file.n_samples = 1;
  file.n_frames = 6;
  auto options = options_of({write(scratch, "a.h5", file)});
  options.split = {SplitBy::sample, 0, 0};
  options.crop = {4, 14, 16};
  options.low_resolution.factor = {2, 2, 2};
  options.points = 1;
  const FlowDataset data(Comm::world(), options);
  ASSERT_EQ(data.n_crops(Split::train), 9);

  std::map<std::pair<double, double>, int> counts;
  const int n = 1800;
  for (int step = 0; step < n / 20; ++step)
    for (const auto& axes : data.batch(Split::train, 11, step, 0, 20).axes)
      ++counts[{axes[0].lower, axes[1].lower}];

  ASSERT_EQ(counts.size(), 9u);
  double chi_squared = 0;
  for (const auto& [place, count] : counts) chi_squared += std::pow(count - n / 9.0, 2) / (n / 9.0);
  EXPECT_LT(chi_squared, 26.1);  // 8 degrees of freedom: passed by chance in 999 of 1000
}

TEST(FlowDataset, low_resolution_from_a_coarse_run_lies_where_that_has_its_points) {
  const SharedScratch scratch("flow_coarse");
  File fine, coarse;
  fine.n_frames = 13;
  coarse.n_frames = 6;
  coarse.spacing = 0.5;
  coarse.first = 0.25;
  coarse.n_z = 6;
  coarse.n_x = 5;
  auto options = options_of({write(scratch, "fine.h5", fine)});
  options.low_resolution.files = {write(scratch, "coarse.h5", coarse)};
  const FlowDataset data(Comm::world(), options);

  const auto batch = data.batch(Split::train, 5, 17, 0, 20);
  expect_spacing_of(data, data.low(Split::train, 0).axes, true);

  for (std::size_t s = 0; s < 20; ++s) {
    const auto& axes = batch.axes[s];
    EXPECT_NEAR(axes[0].coordinates[1] - axes[0].coordinates[0], 0.5, 1e-12);
    EXPECT_NEAR(axes[2].coordinates[1] - axes[2].coordinates[0], 0.8, 1e-12);
    std::size_t i = s * 16;
    for (const double t : axes[0].coordinates)
      for (const double z : axes[1].coordinates)
        for (const double x : axes[2].coordinates)
          EXPECT_NEAR(data.statistics().physical(0, batch.low[i++]), linear(0, t, z, x), 1e-5);
    for (std::size_t p = 50 * s; p < 50 * (s + 1); ++p)
      EXPECT_NEAR(data.statistics().physical(0, batch.targets[2 * p]),
                  linear(0, batch.points[3 * p], batch.points[3 * p + 1], batch.points[3 * p + 2]), 1e-5);
  }
  EXPECT_EQ(data.n_crops(Split::train), 5 * 5 * 4);
  EXPECT_EQ(data.low(Split::test, 0).axes[1].size(), 6);

  coarse.parameters["Ra"] = 2e6;
  options.low_resolution.files = {write(scratch, "other.h5", coarse)};
  EXPECT_REFUSED(options, "other.h5, sample 0: has other parameters than");
}

/// Rows lie on the grid's points, also across the end of a period, and no rank's share changes them.
TEST(FlowDataset, rows_are_the_grid_s_own) {
  const SharedScratch scratch("flow_rows");
  File file;
  file.periodic = true;
  const auto wave = [](double sample, double t, double z, double x) {
    return sample + std::sin(two_pi * (x / 4 + t)) + z;
  };
  file.b = wave;
  auto options = options_of({write(scratch, "a.h5", file)});
  const auto expect_rows = [&](const FlowDataset& data, int n_points, bool whole) {
    const auto kind = data.rows();
    EXPECT_EQ(kind.axis, 2);
    EXPECT_EQ(kind.n_points, n_points);
    EXPECT_EQ(kind.whole, whole);
    const auto batch = data.batch(Split::train, 5, 3, 0, 6, 4),
               part = data.batch(Split::train, 5, 3, 4, 2, 4);
    const auto& rows = batch.rows;
    ASSERT_EQ(rows.targets.size(), std::size_t(2 * 6 * 4 * n_points));
    const std::ptrdiff_t shared = 4 * 4 * n_points;
    EXPECT_TRUE(
        std::equal(part.rows.points.begin(), part.rows.points.end(), rows.points.begin() + 3 * shared));
    EXPECT_TRUE(
        std::equal(part.rows.targets.begin(), part.rows.targets.end(), rows.targets.begin() + 2 * shared));
    for (std::size_t i = 0; i < rows.points.size() / 3; ++i) {
      const double* point = &rows.points[3 * i];
      const auto& crop = batch.axes[i / (4 * n_points)];
      for (std::size_t d = 0; d < 3; ++d) {
        EXPECT_GE(point[d], crop[d].lower - 1e-9);
        EXPECT_LE(point[d], crop[d].upper + 1e-9);
      }
      if (i % n_points > 0) {
        EXPECT_NEAR(point[2] - point[-1], 0.25, 1e-9);
      }
      EXPECT_NEAR(data.statistics().physical(0, rows.targets[2 * i]), wave(0, point[0], point[1], point[2]),
                  2e-6)
          << "no power is lost to interpolation";
    }
    EXPECT_EQ(data.batch(Split::train, 5, 3, 0, 6).targets, batch.targets) << "rows change no other draw";
  };
  expect_rows(FlowDataset(Comm::world(), options), 8, false);
  options.crop = {4, 8, 16};
  expect_rows(FlowDataset(Comm::world(), options), 16, true);
  File coarse = file;
  coarse.n_x = 8;
  options.low_resolution.files = {write(scratch, "coarse.h5", coarse)};
  options.low_resolution.factor = {1, 1, 2};
  expect_rows(FlowDataset(Comm::world(), options), 16, true);
  options.crop = {4, 8, 10};
  expect_rows(FlowDataset(Comm::world(), options), 8, false);
}

TEST(FlowDataset, what_one_file_tells_and_another_does_not_is_refused_until_it_is_given) {
  const SharedScratch scratch("flow_parameters");
  File plain, slips;
  slips.parameters["slip_bottom"] = 1;
  slips.w = [](double, double t, double z, double) { return 2 * t * z; };
  auto options = options_of({write(scratch, "plain.h5", plain), write(scratch, "slips.h5", slips)});
  EXPECT_REFUSED(options, "does not tell slip_bottom, which is 1 in");
  options.describe_files.parameters = {{"slip_bottom", 0}};
  const FlowDataset data(Comm::world(), options);
  EXPECT_EQ(data.parameter_names(), (std::vector<std::string>{"Pr", "Ra", "slip_bottom"}));
}

TEST(FlowDataset, the_reference_counts_by_index) {
  const SharedScratch scratch("flow_reference");
  File file;
  file.periodic = true;
  auto options = options_of({write(scratch, "a.h5", file)});
  options.reference_compatible = true;
  options.crop = {8, 16, 8};
  options.low_resolution.factor = {2, 8, 4};
  const FlowDataset data(Comm::world(), options);
  const double dt = 0.25, dx = 0.25;

  const auto batch = data.batch(Split::train, 5, 17, 0, 20);

  EXPECT_EQ(data.n_crops(Split::train), 5 * 1 * 9);  // no wrapping
  for (std::size_t s = 0; s < 20; ++s) {
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_NEAR(batch.axes[s][0].coordinates[k], static_cast<double>(k) / 3, 1e-14);
    EXPECT_EQ(batch.axes[s][1].coordinates, (std::vector<double>{0, 1}));
    const auto low = [&](std::size_t t, std::size_t z, std::size_t x) {
      return data.statistics().physical(0, batch.low[s * 2 * 16 + (t * 2 + z) * 2 + x]);
    };
    EXPECT_NEAR(low(1, 0, 0) - low(0, 0, 0), 2 * 7.0 / 3 * dt, 1e-5);  // 7 intervals by 3
    EXPECT_NEAR(low(0, 0, 1) - low(0, 0, 0), 0.25 * 7 * dx, 1e-5);
    for (std::size_t p = 50 * s; p < 50 * (s + 1); ++p) {
      const double* at = &batch.points[3 * p];
      const double index = at[1] * 15;  // z is linear between its points, which are taken as equally spaced
      const auto z = [](int j) { return -0.5 * std::cos(std::numbers::pi * (2 * j + 1) / 32); };
      const int j = std::min(static_cast<int>(index), 14);
      const double height = z(j) + (index - j) * (z(j + 1) - z(j));
      EXPECT_NEAR(data.statistics().physical(0, batch.targets[2 * p]),
                  low(0, 0, 0) + 2 * at[0] * 7 * dt - 3 * (height - z(0)) + 0.25 * at[2] * 7 * dx, 1e-5);
    }
  }
}

TEST(FlowDataset, what_cannot_be_trained_on_is_refused_in_one_line) {
  const SharedScratch scratch("flow_refused");
  const auto file = write(scratch, "a.h5", {});
  const auto with = [&](const std::function<void(FlowDataOptions&)>& change) {
    auto options = options_of({file});
    change(options);
    return options;
  };
  using Options = FlowDataOptions;
  EXPECT_REFUSED(with([](Options& o) {
                   o.crop = {14, 8, 8};
                 }),
                 "a.h5, sample 0: has 12 frames along 't', but data.crop asks for 14");
  EXPECT_REFUSED(with([](Options& o) {
                   o.crop = {4, 8, 32};
                 }),
                 "has 16 points along 'x', but data.crop asks for 32");
  EXPECT_REFUSED(with([](Options& o) {
                   o.crop = {4, 6, 8};
                 }),
                 "data.crop: 6 points cannot be made 4 times fewer");
  EXPECT_REFUSED(with([](Options& o) {
                   o.fields = {"b", "u"};
                 }),
                 "a.h5: has no field 'u' of data.fields; it has: b, w");
  EXPECT_REFUSED(with([](Options& o) {
                   o.axes = {"y", "x"};
                 }),
                 "its axes are x, z; those asked for are y, x");
  EXPECT_REFUSED(with([](Options& o) {
                   o.split = {SplitBy::time, 0.2, 0};
                 }),
                 "the validation split has 2 of its 12 frames, but data.crop asks for 4");
  EXPECT_REFUSED(with([](Options& o) { o.memory = 1e-6; }), "GB of memory, but data.memory allows 1e-06 GB");

  File two;
  two.n_samples = 2;
  auto options = options_of({write(scratch, "two.h5", two)});
  EXPECT_REFUSED(options, "2 samples leave none to train on after 1 for validation and 1 for the test");
  two.fields = {"b"};
  options = options_of({file, write(scratch, "one_field.h5", two)});
  EXPECT_REFUSED(options, "one_field.h5: has no field 'w' of data.fields; it has: b");
  two.fields = {"b", "w"};
  two.periodic = true;
  options = options_of({file, write(scratch, "periodic.h5", two)});
  EXPECT_REFUSED(options, "periodic.h5, sample 0: axis 'x' is periodic, but that of");
  File constant;
  constant.b = [](double, double, double, double) { return 3.0; };
  constant.w = [](double s, double t, double z, double) { return s + t * z; };
  options = options_of({write(scratch, "constant.h5", constant)});
  EXPECT_REFUSED(options, "field 'b' is 3 everywhere in the train split");
  const FlowDataset data(Comm::world(), with([](Options& o) { o.split = {SplitBy::sample, 0, 0.1}; }));
  EXPECT_TRUE(contains(message_of<InputError>([&] { (void)data.batch(Split::validation, 1, 1, 0, 1); }),
                       "there is no validation split"));
  EXPECT_TRUE(contains(message_of<InputError>([&] { (void)data.high(Split::test, 4); }),
                       "there is no sample 4 in the test split, which has 1"));
}

/// Three samples, of which the last is the first one in so many frames.
File alike(int n_frames) {
  File file;
  file.b = [n_frames](double s, double t, double z, double x) {
    return linear(s == 2 && t < 0.25 * n_frames - 0.1 ? 0 : s, t, z, x);
  };
  return file;
}

TEST(FlowDataset, the_same_flow_in_two_splits_is_refused) {
  const SharedScratch scratch("flow_copies");
  EXPECT_REFUSED(options_of({write(scratch, "copy.h5", alike(12))}), "copy.h5, sample 0 and ");
  EXPECT_REFUSED(options_of({scratch / "copy.h5"}),
                 "copy.h5, sample 2 have 12 frames in common: the same flow would be in the train and in the "
                 "test split");
  EXPECT_REFUSED(options_of({write(scratch, "seven.h5", alike(7))}), "have 7 frames in common");

  const FlowDataset six(Comm::world(), options_of({write(scratch, "six.h5", alike(6))}));
  auto options = options_of({scratch / "copy.h5"});
  options.crop = {2, 8, 8};
  options.split = {SplitBy::time, 0.2, 0.2};
  EXPECT_REFUSED(options_of({scratch / "copy.h5"}), "in common");
  const FlowDataset by_time(Comm::world(), options);  // each time is in one split
}

TEST(FlowDataset, nearly_equal_times_are_made_equal) {
  const auto comm = Comm::world();
  const SharedScratch scratch("flow_late");
  const auto late = [](int i) { return 0.25 * i + (i % 3 == 1 ? 0.1 : 0); };
  File file;
  file.b = [&late](double s, double t, double z, double x) {
    return linear(s, 0, z, x) + std::pow(late(static_cast<int>(4 * t + 0.5)), 3);
  };
  const auto path = write(scratch, "a.h5", file);
  {
    auto opened = hdf5::File::open_for_update(comm, path);
    std::vector<double> times;
    for (int i = 0; i < 12; ++i) times.push_back(late(i));
    opened.root().group("dimensions").write<double>("time", times, {12}, {});
  }
  comm.barrier();

  const FlowDataset data(comm, options_of({path}));

  const auto block = data.high(Split::train, 0);
  const std::size_t frame = block.n_points() / 12;
  ASSERT_EQ(block.axes[0].size(), 12);
  for (std::size_t i = 0; i < 12; ++i) {
    const double t = block.axes[0].coordinates[i];
    EXPECT_NEAR(t, 0.25 * i, 1e-12);
    EXPECT_NEAR(block.values[i * frame] - block.values[0], t * t * t, 1e-4);
  }
}

TEST(FlowDataset, frames_are_known_again_in_any_file) {
  const SharedScratch scratch("flow_fingerprints");
  const FlowDataset data(Comm::world(), options_of({write(scratch, "a.h5", {})}));
  File one;
  one.n_samples = 1;
  one.double_precision = true;
  one.b = [](double, double t, double z, double x) { return static_cast<float>(linear(0, t, z, x)); };
  one.w = [](double, double t, double z, double) { return static_cast<float>(t * z); };
  auto options = options_of({write(scratch, "b.h5", one)});
  options.split = {SplitBy::sample, 0, 0};
  const FlowDataset same(Comm::world(), options);

  EXPECT_EQ(data.fingerprints(Split::train).size(), 12u);
  EXPECT_EQ(data.fingerprints(Split::train), same.fingerprints(Split::train));
  EXPECT_NE(data.fingerprints(Split::train), data.fingerprints(Split::test));
  EXPECT_EQ(data.frames(Split::validation, 0), (std::pair{0, 12}));
}

/// 1e5 and a wave of this height.
File absolute(double height, bool double_precision) {
  File file;
  file.double_precision = double_precision;
  file.b = [height](double s, double t, double, double x) {
    return 1e5 + height * std::sqrt(2) * std::sin(two_pi * x / 4 + t + s);
  };
  return file;
}

TEST(FlowDataset, a_mean_too_large_for_single_precision_is_taken_off_in_double) {
  const SharedScratch scratch("flow_offset");
  const FlowDataset data(Comm::world(), options_of({write(scratch, "a.h5", absolute(0.01, true))}));
  const FlowDataset small(Comm::world(), options_of({write(scratch, "b.h5", absolute(20, true))}));

  EXPECT_NEAR(data.samples().offsets()[0], 1e5, 0.01);
  EXPECT_EQ(data.samples().offsets()[1], 0);
  EXPECT_NEAR(data.statistics().deviation[0], 0.01, 1e-6);
  const auto block = data.high(Split::train, 0);
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_NEAR(block.values[i] + (data.samples().offsets()[0] - 1e5),
                0.01 * std::sqrt(2) * std::sin(two_pi * block.axes[2].coordinates[i] / 4), 1e-9);
  EXPECT_EQ(small.samples().offsets()[0], 0);  // steps of 0.0006 deviations: as they are
}

TEST(FlowDataset, what_was_rounded_with_its_mean_is_refused) {
  const SharedScratch scratch("flow_rounded");
  EXPECT_REFUSED(options_of({write(scratch, "a.h5", absolute(0.9, false))}),
                 "it was rounded to single precision with its mean");
  const FlowDataset data(Comm::world(), options_of({write(scratch, "b.h5", absolute(1.5, false))}));
  EXPECT_EQ(data.samples().offsets()[0], 0);
}

TEST(FlowDataset, missing_frames_nan_and_unequal_spacing_are_refused) {
  const auto comm = Comm::world();
  const SharedScratch scratch("flow_bad_data");
  write(scratch, "a.h5", {});
  const auto changed = [&](const std::function<void(hdf5::Group&)>& change) -> std::string {
    {
      write(scratch, "a.h5", {});
      auto file = hdf5::File::open_for_update(comm, scratch / "a.h5");
      change(file.root());
    }
    comm.barrier();
    return refused(options_of({scratch / "a.h5"}))[0];
  };
  const auto missing = changed([](hdf5::Group& root) {
    root.write<std::int64_t>("n_frames", std::vector<std::int64_t>{12, 3, 12}, {3}, {});
  });
  const auto nan = changed([&](hdf5::Group& root) {
    const std::vector<double> value(comm.is_root() ? 1 : 0, std::nan(""));
    root.write_box<double>("t0_fields/w", value, {{1, 2, 3, 4}, {value.size(), 1, 1, 1}});
    const std::vector<std::uint64_t> none(value.size(),
                                          ~std::uint64_t{0});  // no checksum: it would speak first
    root.write_box<std::uint64_t>("frame_checksum", none, {{1, 2}, {value.size(), value.size()}});
  });
  const auto unequal = changed([](hdf5::Group& root) {
    std::vector<double> times;
    for (int i = 0; i < 12; ++i) times.push_back(0.25 * i + (i > 6 ? 1 : 0));
    root.group("dimensions").write<double>("time", times, {12}, {});
  });
  EXPECT_TRUE(contains(missing, "a.h5, sample 1: has 3 frames along 't', but data.crop asks for 4"))
      << missing;
  EXPECT_TRUE(contains(nan, "field 'w' is nan in frame 2 of sample 1 at point [3, 4]")) << nan;
  EXPECT_TRUE(contains(unequal, "a.h5: its frames are unequally spaced in time")) << unequal;
}

}  // namespace
}  // namespace quintet::flow
