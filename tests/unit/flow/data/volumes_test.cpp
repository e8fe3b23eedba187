#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "surrogates/flow/data/series_input.hpp"
#include "tests/unit/flow/data/dataset_cases.hpp"

// Volumes: fields on three axes of space, of which each frame is a sample.
namespace quintet::flow {
namespace {

using namespace datasets;

constexpr int n_z = 8, n_y = 12, n_x = 16;

/// f and g of (run, t, z, y, x); z has walls, y and x are periodic. Each rank gives some rows of the slowest.
std::string write_volumes(const SharedScratch& scratch, const std::string& name, int n_runs, int n_frames,
                          double spacing = 1) {
  const auto comm = Comm::world();
  FieldSeriesHeader header;
  header.name = "volumes";
  header.axes = {{"z", "1", {}, false, 0, n_z}, {"y", "1", {}, true, 0, n_y}, {"x", "1", {}, true, 0, n_x}};
  for (auto& axis : header.axes)
    for (int i = 0; i < axis.upper; ++i) axis.coordinates.push_back(axis.name == "z" ? i + 0.5 : i);
  header.fields = {{"f", "m", "", "", -1}, {"g", "1", "", "", -1}};
  header.n_samples = n_runs;
  auto writer = FieldSeriesWriter::create(comm, scratch / name, header, hdf5::current_provenance());
  for (int run = 0; run < n_runs; ++run)
    for (int frame = 0; frame < n_frames; ++frame) {
      std::vector<double> f, g;
      for (int k = 0; k < n_z && comm.is_root(); ++k)
        for (int j = 0; j < n_y; ++j)
          for (int i = 0; i < n_x; ++i) {
            f.push_back(100 * run + 10 * frame + 3 * (k + 0.5) + std::cos(two_pi * j / n_y));
            g.push_back(std::sin(two_pi * (i / double(n_x) + 0.1 * frame)) * std::cos(two_pi * j / n_y));
          }
      const std::uint64_t n = comm.is_root() ? n_z : 0;
      writer.append<double>(run, spacing * frame * frame, {f, g}, {{0, 0, 0}, {n, n_y, n_x}});
    }
  writer.close();
  return scratch / name;
}

FlowDataOptions volume_options(const std::string& file) {
  FlowDataOptions options;
  options.files = {file};
  options.fields = {"f", "g"};
  options.axes = {"z", "y", "x"};
  options.crop = {4, 8, 8};
  options.points = 40;
  options.low_resolution.factor = {2, 2, 2};
  options.split = {SplitBy::time, 0.2, 0.2};
  return options;
}

TEST(Volumes, each_frame_is_a_sample_of_its_run) {
  const SharedScratch scratch("volumes_samples");
  const FlowDataset data(Comm::world(), volume_options(write_volumes(scratch, "a.h5", 2, 5)));
  EXPECT_EQ(data.samples().size(), 10u);
  EXPECT_EQ(data.axis_names(), (std::vector<std::string>{"z", "y", "x"}));
  EXPECT_EQ(data.periodic(), (std::array{false, true, true}));
  EXPECT_EQ(data.n_samples(Split::train), 6);
  EXPECT_EQ(data.n_samples(Split::validation), 2);
  EXPECT_EQ(data.n_crops(Split::train), 6 * (n_z - 4 + 1) * n_y * n_x);
  EXPECT_TRUE(data.name(Split::train, 4).ends_with("a.h5, sample 1, frame 1")) << data.name(Split::train, 4);
  const auto runs = data.runs(Split::train);  // frames of runs, as a user knows them
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].first, 0);
  EXPECT_EQ(runs[1].n, 3);
  EXPECT_EQ(data.fingerprints(Split::test).size(), 2u);
  // Frames may lie at any times: these are 0, 1, 4, 9, 16.
  EXPECT_EQ(data.samples()[3].time, 9);
  // Its values are the frame's: f = 100 run + 10 frame + 3 z + cos y.
  EXPECT_FLOAT_EQ(data.high(Split::train, 4).values[0], 100 + 10 + 1.5F + 1);
}

TEST(Volumes, splits_by_sample_are_of_whole_runs) {
  const SharedScratch scratch("volumes_splits");
  auto options = volume_options(write_volumes(scratch, "a.h5", 4, 3));
  options.split = {SplitBy::sample, 0.25, 0.25};
  const FlowDataset data(Comm::world(), options);
  EXPECT_EQ(data.n_samples(Split::train), 6);
  EXPECT_EQ(data.n_samples(Split::validation), 3);
  EXPECT_TRUE(data.name(Split::validation, 0).ends_with("sample 2, frame 0"));
}

TEST(Volumes, targets_are_the_fields_at_their_points_and_crops_wrap_along_periodic_axes) {
  const SharedScratch scratch("volumes_targets");
  auto options = volume_options(write_volumes(scratch, "a.h5", 1, 5));
  options.split = {SplitBy::time, 0, 0};
  const FlowDataset data(Comm::world(), options);
  bool wraps = false;
  for (int step = 0; step < 20; ++step) {
    const auto batch = data.batch(Split::train, 3, step, 0, 2);
    for (int s = 0; s < 2; ++s) {
      wraps = wraps || batch.axes[s][1].upper > n_y;
      EXPECT_EQ(batch.axes[s][0].wall_lower, batch.axes[s][0].lower == 0);
      double frame = 0;
      for (int p = 0; p < 40; ++p) {
        const double* at = &batch.points[3 * (s * 40 + p)];
        const double f = data.statistics().physical(0, batch.targets[2 * (s * 40 + p)]);
        // 10 frame + 3 z + what lies between points of cos y: the same frame at all points of a crop.
        const double below = std::floor(at[1]), r = at[1] - below;
        const double cosine =
            (1 - r) * std::cos(two_pi * below / n_y) + r * std::cos(two_pi * (below + 1) / n_y);
        const double found = (f - 3 * at[0] - cosine) / 10;
        if (p == 0) frame = std::round(found);
        EXPECT_NEAR(found, frame, 1e-4);
      }
    }
  }
  EXPECT_TRUE(wraps);
}

TEST(Volumes, statistics_are_of_the_frames_to_learn_from) {
  const SharedScratch scratch("volumes_statistics");
  const FlowDataset data(Comm::world(), volume_options(write_volumes(scratch, "a.h5", 1, 5)));
  EXPECT_NEAR(data.statistics().mean[0], 10 * 1.0 + 3 * n_z / 2.0, 1e-4);  // of frames 0, 1, 2
}

TEST(Volumes, large_frames_are_read_in_parts) {
  const SharedScratch scratch("volumes_parts");
  const auto options = volume_options(write_volumes(scratch, "a.h5", 2, 3));
  const auto reader = open_series(options.files[0], options);
  std::vector<float> whole(3 * n_z * n_y * n_x), part(2 * n_y * n_x);
  read_values(reader, 0, 1, {0, 3, {}}, 0, whole.data());
  read_values(reader, 0, 1, {2, 1, {{5, 0, 0}, {2, n_y, n_x}}}, 0, part.data());
  const auto begin = whole.begin() + (2 * n_z + 5) * n_y * n_x;
  EXPECT_TRUE(std::equal(part.begin(), part.end(), begin));
}

TEST(Volumes, what_makes_no_volumes_is_refused_in_one_line) {
  const SharedScratch scratch("volumes_refused");
  const auto file = write_volumes(scratch, "a.h5", 2, 5);
  auto options = volume_options(file);
  options.crop = {10, 8, 8};
  EXPECT_REFUSED(options, "a.h5, sample 0, frame 0: has 8 points along 'z', but data.crop asks for 10");
  options.crop = {8, 8, 8};  // just what there is
  EXPECT_EQ(FlowDataset(Comm::world(), options).n_crops(Split::train), 6 * n_y * n_x);
  options = volume_options(file);
  options.axes = {"z", "x"};
  EXPECT_REFUSED(options, "its axes are z, y, x; those asked for are z, x");
  options.axes = {"z", "y", "w"};
  EXPECT_REFUSED(options, "its axes are z, y, x; those asked for are z, y, w");
  options = volume_options(file);
  options.fields = {"f", "h"};
  EXPECT_REFUSED(options, "has no field 'h' of data.fields");
  options = volume_options(file);
  options.split = {SplitBy::sample, 0.5, 0.4};  // of two runs
  EXPECT_REFUSED(options, "2 samples leave none to train on");
  options.split = {SplitBy::time, 0.5, 0.4};  // 3 and 2 of 5 frames
  EXPECT_REFUSED(options, "the train split has 0 of its 5 frames");
  options.split = {SplitBy::time, 0.4, 0.4};
  EXPECT_EQ(FlowDataset(Comm::world(), options).n_samples(Split::train), 2);
  options = volume_options(file);
  const double bytes = 2.0 * 5 * 2 * n_z * n_y * n_x * sizeof(float);
  options.memory = (bytes - 1) * 1e-9;
  EXPECT_REFUSED(options, "but data.memory allows");
  options.memory = (bytes + 1) * 1e-9;
  EXPECT_EQ(FlowDataset(Comm::world(), options).samples().size(), 10u);
}

TEST(Volumes, the_same_flow_in_two_splits_is_refused) {
  const SharedScratch scratch("volumes_twice");
  const auto file = write_volumes(scratch, "a.h5", 1, 5);
  auto options = volume_options(file);
  options.files = {file, write_volumes(scratch, "b.h5", 1, 5)};
  options.split = {SplitBy::sample, 0.5, 0};
  EXPECT_REFUSED(options, "have 5 frames in common");
}

TEST(Volumes, coarse_runs_have_the_frames_of_the_fine_ones) {
  const SharedScratch scratch("volumes_coarse");
  auto options = volume_options(write_volumes(scratch, "a.h5", 2, 5));
  options.low_resolution.files = {write_volumes(scratch, "b.h5", 2, 5)};
  const FlowDataset data(Comm::world(), options);
  EXPECT_EQ(data.batch(Split::train, 1, 0, 0, 1).low_shape, (std::array{2, 4, 4}));
  options.low_resolution.files = {write_volumes(scratch, "c.h5", 2, 5, 2)};
  EXPECT_REFUSED(options, "has time 2, but ");
}

}  // namespace
}  // namespace quintet::flow
