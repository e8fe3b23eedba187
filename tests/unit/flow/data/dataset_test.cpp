#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "surrogates/flow/data/dataset.hpp"
#include "tests/unit/flow/data/dataset_cases.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::flow {
namespace {

using namespace datasets;

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

TEST(FlowDataset, reading_is_given_up_when_asked) {
  const auto comm = Comm::world();
  const SharedScratch scratch("flow_interrupted");
  const auto options = options_of({write(scratch, "a.h5", {})});
  int asked = 0;
  static_cast<void>(FlowDataset(comm, options, [&] { return ++asked < 0; }));
  const int most = asked;
  EXPECT_GE(most, 4);
  for (const int at : {1, most / 2, most}) {
    asked = 0;
    const bool is_mine = comm.rank() == comm.size() - 1;  // one rank alone is asked to stop
    EXPECT_THROW(FlowDataset(comm, options, [&] { return ++asked == at && is_mine; }), Interrupted) << at;
  }
}

TEST(Samples, some_frames_of_one_run_are_read_alone) {
  const auto comm = Comm::world();
  const SharedScratch scratch("flow_choice");
  auto options = options_of({write(scratch, "a.h5", {})});
  const Samples all(comm, options.files, options);
  constexpr int run = 1, first = 3, n = 5;
  const std::size_t frame = all[run].n_points() / all[run].n_frames(), bytes = 2 * n * frame * sizeof(float);
  options.memory = 1e-9 * static_cast<double>(bytes) * (1 + 1e-9);
  EXPECT_THROW(Samples(comm, options.files, options), InputError);

  const Samples some(comm, options.files, options, {}, SampleChoice{run, first, n});

  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].name, all[run].name);
  ASSERT_EQ(some[0].n_frames(), n);
  const auto &axis = some[0].axes[0], &whole = all[run].axes[0];
  EXPECT_EQ(axis.lower, whole.coordinates[first]);
  EXPECT_EQ(axis.upper, whole.coordinates[first + n - 1]);
  for (int t = 0; t < n; ++t) {
    EXPECT_EQ(axis.coordinates[t], whole.coordinates[first + t]);
    EXPECT_EQ(axis.widths[t], whole.widths[first + t]);
    for (int f = 0; f < 2; ++f)
      for (std::size_t i = 0; i < frame; ++i)
        ASSERT_EQ(some[0].values[(f * n + t) * frame + i],
                  all[run].values[(f * all[run].n_frames() + first + t) * frame + i]);
  }
  options.memory *= 0.9;
  EXPECT_THROW(Samples(comm, options.files, options, {}, SampleChoice{run, first, n}), InputError);
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

}  // namespace
}  // namespace quintet::flow
