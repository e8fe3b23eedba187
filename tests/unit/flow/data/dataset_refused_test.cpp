#include <cmath>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/flow/data/dataset.hpp"
#include "tests/unit/flow/data/dataset_cases.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::flow {
namespace {

using namespace datasets;

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
  EXPECT_EQ(data.runs(Split::validation)[0].first, 0);
  EXPECT_EQ(data.runs(Split::validation)[0].n, 12);
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
