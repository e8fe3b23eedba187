#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"
#include "tests/unit/fields/fields_support.hpp"
#include "tests/unit/hdf5/small_files.hpp"

namespace quintet {
namespace {

using namespace testing;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<double> expected(std::size_t field, std::uint64_t sample, std::uint64_t first,
                             std::uint64_t n_frames) {
  std::vector<double> values;
  for (std::uint64_t frame = first; frame < first + n_frames; ++frame)
    for (std::uint64_t i = 0; i < 6; ++i)
      for (std::uint64_t k = 0; k < 5; ++k) values.push_back(value_at(field, sample, frame, i, k));
  return values;
}

TEST(FieldSeries, what_was_written_on_any_ranks_is_read) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_series");
  const auto header = small_header();
  write_small(comm, scratch / "a.h5", header, 3);

  const auto reader = FieldSeriesReader::open(comm, scratch / "a.h5");

  const auto& found = reader.header();
  EXPECT_EQ(found.name, "rayleigh_benard");
  ASSERT_EQ(found.axes.size(), 2u);
  EXPECT_EQ(found.axes[0].name, "x");
  EXPECT_EQ(found.axes[0].coordinates, header.axes[0].coordinates);
  EXPECT_TRUE(found.axes[0].periodic);
  EXPECT_EQ(found.axes[0].upper, 3);
  EXPECT_FALSE(found.axes[1].periodic);
  EXPECT_EQ(found.axes[1].lower, -0.5);
  EXPECT_EQ(found.axes[1].units, "d");
  EXPECT_EQ(found.parameters, header.parameters);
  EXPECT_EQ(found.seeds, header.seeds);
  EXPECT_EQ(reader.times(), (std::vector<double>{0, 0.25, 0.5}));
  EXPECT_EQ(reader.time_spacing(), 0.25);
  ASSERT_EQ(found.fields.size(), 4u);
  for (std::size_t f = 0; f < 4; ++f) {
    EXPECT_EQ(found.fields[f].name, header.fields[f].name);
    for (std::uint64_t sample = 0; sample < 2; ++sample)
      EXPECT_EQ(reader.read<double>(static_cast<int>(f), sample, {0, 3, {}}), expected(f, sample, 0, 3));
  }
}

TEST(FieldSeries, each_rank_reads_its_own_part_in_the_order_it_asks_for) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_parts");
  write_small(comm, scratch / "a.h5", small_header(), 3);
  const auto reader = FieldSeriesReader::open(comm, scratch / "a.h5", {.axes = {"z", "x"}});
  EXPECT_EQ(reader.header().axes[0].name, "z");
  EXPECT_EQ(reader.header().shape(), (hdf5::Shape{5, 6}));

  const std::uint64_t rank = comm.rank();
  const auto values = reader.read<float>(3, 1, {1, 2, {{1, rank}, {3, 2}}});

  std::vector<float> all;
  for (std::uint64_t frame = 1; frame < 3; ++frame)
    for (std::uint64_t k = 1; k < 4; ++k)
      for (std::uint64_t i = rank; i < rank + 2; ++i) all.push_back(value_at(3, 1, frame, i, k));
  EXPECT_EQ(values, all);
  EXPECT_TRUE(reader.read<float>(3, 1, {1, 0, {}}).empty());
}

TEST(FieldSeries, a_restart_gives_the_file_of_the_uninterrupted_run) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_restart");
  const auto header = small_header();
  write_small(comm, scratch / "whole.h5", header, 4);
  {
    auto writer = FieldSeriesWriter::create(comm, scratch / "cut.h5", header, hdf5::current_provenance());
    for (std::uint64_t frame = 0; frame < 3; ++frame)
      append_frame(writer, comm, header, 0, frame + 7, 0.3 * frame);
    writer.truncate(0, 0);
    for (std::uint64_t frame = 0; frame < 4; ++frame)
      append_frame(writer, comm, header, 0, frame, 0.25 * frame);
    for (std::uint64_t frame = 0; frame < 4; ++frame)
      append_frame(writer, comm, header, 1, frame, 0.25 * frame);
    writer.close();
  }
  auto writer = FieldSeriesWriter::reopen(comm, scratch / "cut.h5", header);
  EXPECT_EQ(writer.n_frames(0), 4u);
  writer.truncate(1, 2);
  writer.truncate(0, 1);
  for (std::uint64_t frame = 1; frame < 4; ++frame)
    append_frame(writer, comm, header, 0, frame, 0.25 * frame);
  for (std::uint64_t frame = 2; frame < 4; ++frame)
    append_frame(writer, comm, header, 1, frame, 0.25 * frame);
  const auto older = message_of<InputError>([&] { writer.truncate(0, 5); });
  writer.close();

  const auto whole = FieldSeriesReader::open(comm, scratch / "whole.h5");
  const auto cut = FieldSeriesReader::open(comm, scratch / "cut.h5");
  EXPECT_EQ(cut.times(), whole.times());
  for (int f = 0; f < 4; ++f)
    for (std::uint64_t sample = 0; sample < 2; ++sample)
      EXPECT_EQ(cut.read<double>(f, sample, {0, 4, {}}), whole.read<double>(f, sample, {0, 4, {}}));
  EXPECT_TRUE(contains(older, "sample 0 has 4 frames; it cannot be cut to 5: the file is older")) << older;
}

/// What a killed run may have left of a file with three frames: counts that are ahead, times that are zeros.
void leave_as_killed(const std::string& path, std::vector<std::int64_t> counts, std::vector<double> times) {
  auto file = hdf5::File::open_for_update(Comm::self(), path);
  file.root().write<std::int64_t>("n_frames", counts, {counts.size()}, {});
  auto dimensions = file.root().group("dimensions");
  auto time = dimensions.series<double>("time", {}, {});
  time.truncate(0);
  time.append_entries<double>(times.size(), times);
  file.close();
}

TEST(FieldSeries, frames_that_a_kill_left_unfinished_do_not_count_and_are_cut) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_killed");
  const auto header = small_header();
  const std::pair<std::vector<std::int64_t>, std::vector<double>> left[] = {
      {{5, 4}, {0, 0.25, 0.5}},           // counts ahead of times and frames
      {{5, 5}, {0, 0.25, 0.5, 0.75, 1}},  // frames without their data
      {{5, 5}, {0, 0.25, 0.5, 0, 0}}};    // zeros that were cut
  for (const auto& [counts, times] : left) {
    write_small(comm, scratch / "a.h5", header, 3);
    if (comm.is_root()) leave_as_killed(scratch / "a.h5", counts, times);
    comm.barrier();
    EXPECT_EQ(FieldSeriesReader::open(comm, scratch / "a.h5").n_frames(0), 3u);

    auto writer = FieldSeriesWriter::reopen(comm, scratch / "a.h5", header);
    ASSERT_EQ(writer.n_frames(1), 3u);
    writer.truncate(2);
    for (std::uint64_t sample = 0; sample < 2; ++sample) append_frame(writer, comm, header, sample, 2, 0.5);
    writer.close();

    const auto reader = FieldSeriesReader::open(comm, scratch / "a.h5");
    EXPECT_EQ(reader.times(), (std::vector<double>{0, 0.25, 0.5}));
    EXPECT_EQ(reader.read<double>(3, 1, {0, 3, {}}), expected(3, 1, 0, 3));
  }
}

TEST(FieldSeries, a_frame_counts_on_the_disk_once_it_is_flushed) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_flushed");
  const auto header = small_header(1);
  auto writer = FieldSeriesWriter::create(comm, scratch / "a.h5", header, hdf5::current_provenance());
  const auto frames_on_disk = [&](const std::string& copy) {
    comm.barrier();
    if (comm.is_root()) std::filesystem::copy_file(scratch / "a.h5", scratch / copy);
    comm.barrier();
    return hdf5::File::open(comm, scratch / copy).root().read<std::int64_t>("n_frames");
  };

  EXPECT_EQ(frames_on_disk("none.h5"), (std::vector<std::int64_t>{0}));
  append_frame(writer, comm, header, 0, 0, 0);
  writer.flush();
  append_frame(writer, comm, header, 0, 1, 0.25);
  EXPECT_EQ(frames_on_disk("one.h5"), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(FieldSeriesReader::open(comm, scratch / "one.h5").read<double>(1, 0, {0, 1, {}}),
            expected(1, 0, 0, 1));
}

TEST(FieldSeries, a_full_disk_takes_no_part_of_a_frame) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_full");
  const auto header = small_header(1);
  auto writer = FieldSeriesWriter::create(comm, scratch / "a.h5", header, hdf5::current_provenance());
  append_frame(writer, comm, header, 0, 0, 0);
  writer.flush();
  std::string message;
  {
    const SmallFiles limit(std::filesystem::file_size(scratch / "a.h5") + 500);
    message = message_of<ResourceError>([&] { append_frame(writer, comm, header, 0, 1, 0.25); });
    comm.barrier();
  }
  EXPECT_TRUE(contains(message, "cannot write")) << message;
  EXPECT_EQ(writer.n_frames(0), 1u);

  append_frame(writer, comm, header, 0, 1, 0.25);  // there is room again
  writer.close();

  EXPECT_EQ(FieldSeriesReader::open(comm, scratch / "a.h5").read<double>(2, 0, {0, 2, {}}),
            expected(2, 0, 0, 2));
}

TEST(FieldSeries, only_the_series_that_is_there_is_continued) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_other");
  write_small(comm, scratch / "a.h5", small_header(), 1);
  const auto reopened = [&](const FieldSeriesHeader& header) {
    return message_of<InputError>([&] { (void)FieldSeriesWriter::reopen(comm, scratch / "a.h5", header); });
  };
  auto axes = small_header(), parameters = small_header(), fields = small_header(),
       precision = small_header();
  axes.axes[1].upper = 0.6;
  parameters.parameters["Ra"] = 2e6;
  fields.fields.pop_back();
  fields.fields.back() = {"w", "1", "", "w", -1};
  precision.double_precision = false;

  EXPECT_EQ(reopened(small_header()), "");
  EXPECT_TRUE(contains(reopened(axes), "holds another series than the one to be continued: its axes differ"));
  EXPECT_TRUE(contains(reopened(parameters), "its parameters differ"));
  EXPECT_TRUE(contains(reopened(fields), "its fields differ"));
  EXPECT_TRUE(contains(reopened(precision), "its precision differ"));
  EXPECT_TRUE(contains(reopened(small_header(1)), "its samples or their seeds differ"));
}

TEST(FieldSeries, frames_that_are_missing_are_refused) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_missing");
  const auto header = small_header();
  {
    auto writer = FieldSeriesWriter::create(comm, scratch / "a.h5", header, hdf5::current_provenance());
    for (std::uint64_t frame = 0; frame < 3; ++frame)
      append_frame(writer, comm, header, 0, frame, 0.25 * frame);
    append_frame(writer, comm, header, 1, 0, 0);
    const auto other = message_of<InputError>([&] { append_frame(writer, comm, header, 1, 1, 0.3); });
    const auto back = message_of<InputError>([&] { append_frame(writer, comm, header, 0, 3, 0.5); });
    EXPECT_TRUE(contains(other, "frame 1 of sample 1 has time 0.3, that of the samples before 0.25"))
        << other;
    EXPECT_TRUE(contains(back, "a frame at time 0.5 cannot follow the one at 0.5")) << back;
    writer.close();
  }
  const auto reader = FieldSeriesReader::open(comm, scratch / "a.h5");

  EXPECT_EQ(reader.n_frames(0), 3u);
  EXPECT_EQ(reader.n_frames(1), 1u);
  EXPECT_EQ(reader.read<double>(1, 1, {0, 1, {}}), expected(1, 1, 0, 1));
  const auto missing = message_of<InputError>([&] { (void)reader.read<double>(1, 1, {0, 2, {}}); });
  const auto outside = message_of<InputError>([&] { (void)reader.read<double>(1, 0, {3, 1, {}}); });
  const auto part = message_of<InputError>([&] {
    (void)reader.read<double>(1, 0, {0, 1, {{0, 0}, {7, 5}}});
  });
  EXPECT_TRUE(
      contains(missing, "frames 0 to 2 of sample 1 are asked for, but it has 1 of 3: its run ended early"))
      << missing;
  EXPECT_TRUE(contains(outside, "frames 3 to 4 of sample 0 are asked for, but it has 3")) << outside;
  EXPECT_TRUE(
      contains(part, "a part of shape [7, 5] from [0, 0] is asked for, but the grid has shape [6, 5]"))
      << part;
}

TEST(FieldSeries, values_that_are_not_finite_are_never_written_but_where_the_mask_is_0) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_mask");
  auto header = small_header(1);
  header.fields = {{"sst", "degC", "Sea-surface temperature.", "", -1}};
  header.mask.assign(30, 1);
  header.mask[7] = 0;
  std::vector<double> values(30);
  for (std::size_t i = 0; i < 30; ++i) values[i] = i;
  values[7] = std::numeric_limits<double>::quiet_NaN();
  auto writer = FieldSeriesWriter::create(comm, scratch / "a.h5", header, hdf5::current_provenance());
  const bool root = comm.is_root();
  const auto append = [&](double time) {
    const auto given = root ? std::span<const double>(values) : std::span<const double>();
    writer.append<double>(0, time, {given}, {{0, 0}, {root ? 6u : 0u, 5}});
  };

  append(0);
  values[8] = std::numeric_limits<double>::infinity();
  const auto message = message_of<NumericalError>([&] { append(1); });
  writer.close();

  EXPECT_TRUE(contains(message, "field 'sst' is inf at time 1; the frame was not written")) << message;
  const auto reader = FieldSeriesReader::open(comm, scratch / "a.h5", {.axes = {"z", "x"}});
  const auto read = reader.read<double>(0, 0, {0, 1, {}});
  EXPECT_EQ(reader.header().mask[2 * 6 + 1], 0);  // z 2, x 1
  EXPECT_EQ(read[2 * 6 + 1], 0);
  EXPECT_EQ(read[3 * 6 + 1], 8);
  EXPECT_EQ(reader.n_frames(0), 1u);
  EXPECT_EQ(reader.header().fields[0].units, "degC");
}

TEST(FieldSeries, files_of_ours_with_coordinates_are_no_netcdf) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_other");
  {
    auto file = hdf5::File::create(comm, scratch / "modes.h5");
    hdf5::write_header(file.root(), "quintet.ocean_modes", 1, hdf5::current_provenance());
    const std::vector<double> values{1, 2, 3};
    file.root().write("time", std::span<const double>(values), {3}, {"1", {"time"}, "Times."});
    file.root().write("a", std::span<const double>(values), {3}, {"1", {"time"}, "Values."});
  }

  const auto refusal =
      message_of<InputError>([&] { (void)FieldSeriesReader::open(comm, scratch / "modes.h5"); });

  EXPECT_TRUE(contains(refusal, "has schema 'quintet.ocean_modes'")) << refusal;
}

TEST(FieldSeries, headers_that_make_no_series_are_refused) {
  const auto refused = [](auto change) {
    auto header = small_header();
    change(header);
    return message_of<InputError>([&] { check_header(header, "a.h5"); });
  };
  using Header = FieldSeriesHeader;
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refused([](Header&) {}), "");
  EXPECT_EQ(refused([](Header& h) { h.axes[0].coordinates[3] = 0.5; }),
            "a.h5: axis 'x': coordinates must ascend, but number 3 is 0.5 after 1");
  EXPECT_EQ(refused([](Header& h) { h.axes[0].upper = 2.5; }),
            "a.h5: axis 'x': points from 0 to 2.5 are not within its period [0, 2.5)");
  EXPECT_EQ(refused([](Header& h) { h.axes[1].lower = -0.3; }),
            "a.h5: axis 'z': points from -0.4 to 0.4 are not within its domain [-0.3, 0.5]");
  EXPECT_EQ(refused([](Header& h) { h.fields[1].name = "x"; }),
            "a.h5: the name 'x' is given twice (t and time are taken)");
  EXPECT_EQ(refused([](Header& h) { h.fields[1].name = "b c"; }),
            "a.h5: 'b c' is no name: expected at most 64 letters, digits and '_', a letter first");
  EXPECT_EQ(refused([](Header& h) { h.fields.pop_back(); }),
            "a.h5: dataset 'velocity' is neither one scalar nor a vector with components 0 to 1 in order");
  EXPECT_EQ(refused([&](Header& h) { h.parameters["Pr"] = nan; }), "a.h5: the parameter 'Pr' is nan");
  EXPECT_EQ(refused([](Header& h) { h.mask.resize(3); }), "a.h5: the mask has 3 points, the grid 30");
  EXPECT_EQ(refused([](Header& h) { h.seeds.pop_back(); }), "a.h5: has 1 seeds for 2 samples");
  EXPECT_EQ(refused([](Header& h) { h.axes.clear(); }), "a.h5: has 0 axes of space; expected 1 to 3");
  EXPECT_EQ(message_of<InputError>([&] { (void)small_header().field("q"); }),
            "there is no field 'q'; there are: p, b, u, w");
}

TEST(FieldSeries, paraview_finds_each_field_of_each_frame) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_xdmf");
  write_small(comm, scratch / "a.h5", small_header(), 3);

  const auto text = text_of(scratch / "a.sample_1.xmf");

  EXPECT_TRUE(
      contains(text, "<Time Value=\"0.5\"/>\n<Topology TopologyType=\"3DRectMesh\" Dimensions=\"1 6 5\"/>"));
  EXPECT_TRUE(contains(text, R"(<Attribute Name="w" AttributeType="Scalar" Center="Node">
<DataItem ItemType="HyperSlab" Dimensions="1 6 5">
<DataItem Format="XML" Dimensions="3 5">1 2 0 0 1 1 1 1 1 1 1 1 6 5 1</DataItem>
<DataItem Format="HDF" NumberType="Float" Precision="8" Dimensions="2 3 6 5 2">a.h5:/t1_fields/velocity</DataItem>)"))
      << text;
}

TEST(FieldSeries, a_frame_that_has_changed_is_told_of) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_checksums");
  const auto header = small_header();
  const auto path = scratch / "a.h5";
  write_small(comm, path, header, 3);
  EXPECT_EQ(FieldSeriesWriter::reopen(comm, path, header).altered(), "");
  {
    auto file = hdf5::File::open_for_update(comm, path);
    const std::uint64_t n = comm.is_root() ? 1 : 0;
    const std::vector<double> value(n, 0.5);
    file.root().write_box<double>("t1_fields/velocity", value, {{1, 2, 3, 1, 1}, {n, n, n, n, n}});
  }
  EXPECT_EQ(FieldSeriesWriter::reopen(comm, path, header).altered(),
            "frame 2 does not agree with its checksum");

  const auto read = [&](std::uint64_t sample, std::uint64_t n) {
    static_cast<void>(FieldSeriesReader::open(comm, path).read<float>(0, sample, {0, n, {}}));
  };
  EXPECT_NO_THROW(read(0, 3));
  EXPECT_NO_THROW(read(1, 2));
  const auto message = message_of<InputError>([&] { read(1, 3); });
  EXPECT_TRUE(contains(message, "sample 1: frame 2 does not agree with its checksum")) << message;
}

TEST(FieldSeries, frames_that_a_program_without_checksums_appended_have_none) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_checksums_that_lack");
  const auto header = small_header();
  const auto path = scratch / "a.h5";
  write_small(comm, path, header, 3);
  hdf5::File::open_for_update(comm, path).root().resize("frame_checksum", {2, 1});

  EXPECT_EQ(FieldSeriesWriter::reopen(comm, path, header).altered(), "");

  const auto sums = hdf5::File::open(comm, path).root().read<std::uint64_t>("frame_checksum");
  ASSERT_EQ(sums.size(), 6u);
  EXPECT_EQ(sums[2], hdf5::no_checksum);
  EXPECT_EQ(sums[4], hdf5::no_checksum);
  EXPECT_NO_THROW(static_cast<void>(FieldSeriesReader::open(comm, path).read<float>(0, 1, {0, 3, {}})));
}

TEST(FieldSeries, checksums_are_of_numbers_as_they_are_stored) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_checksums_of_single_precision");
  auto header = small_header();
  header.double_precision = false;
  write_small(comm, scratch / "a.h5", header, 2);
  EXPECT_EQ(FieldSeriesWriter::reopen(comm, scratch / "a.h5", header).altered(), "");
}

TEST(FieldSeries, checksums_are_the_same_on_any_ranks) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_checksums_of_ranks");
  const auto header = small_header();
  write_small(comm, scratch / "together.h5", header, 2);
  if (comm.is_root()) write_small(Comm::self(), scratch / "alone.h5", header, 2);
  comm.barrier();
  const auto sums = [&](const std::string& name) {
    return hdf5::File::open(comm, scratch / name).root().read<std::uint64_t>("frame_checksum");
  };
  EXPECT_EQ(sums("together.h5"), sums("alone.h5"));
}

TEST(FieldSeries, a_frame_in_parts_is_the_frame) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_parts");
  const auto header = small_header();
  write_small(comm, scratch / "whole.h5", header, 2);
  auto writer = FieldSeriesWriter::create(comm, scratch / "parts.h5", header, hdf5::current_provenance());
  const UnevenRows rows(comm, header.axes[0].size());
  for (std::uint64_t sample = 0; sample < 2; ++sample)
    for (std::uint64_t frame = 0; frame < 2; ++frame) {
      writer.begin_frame(sample, 0.25 * frame);
      for (std::uint64_t row = 0; row < 6; ++row) {  // equally often on all ranks, of which some have none
        const std::uint64_t n = row < rows.count ? 1 : 0;
        std::vector<std::vector<double>> values(4);
        for (std::size_t f = 0; f < 4; ++f)
          for (std::uint64_t k = 0; k < 5 * n; ++k)
            values[f].push_back(value_at(f, sample, frame, rows.offset + row, k));
        writer.add_part<double>({values.begin(), values.end()}, {{n * (rows.offset + row), 0}, {n, 5}});
      }
      EXPECT_EQ(writer.n_frames(sample), frame);  // it counts when it is whole
      writer.end_frame();
    }
  writer.close();
  const auto sums = [&](const std::string& name) {
    return hdf5::File::open(comm, scratch / name).root().read<std::uint64_t>("frame_checksum");
  };
  EXPECT_EQ(sums("parts.h5"), sums("whole.h5"));
  const auto reader = FieldSeriesReader::open(comm, scratch / "parts.h5");
  for (std::size_t f = 0; f < 4; ++f)
    EXPECT_EQ(reader.read<double>(static_cast<int>(f), 1, {0, 2, {}}), expected(f, 1, 0, 2));
}

TEST(FieldSeries, parts_that_make_no_frame_are_refused_and_do_not_count) {
  const auto comm = Comm::world();
  const SharedScratch scratch("field_parts_lacking");
  const auto header = small_header(1);
  auto writer = FieldSeriesWriter::create(comm, scratch / "a.h5", header, hdf5::current_provenance());
  writer.begin_frame(0, 0);
  const std::uint64_t n = comm.is_root() ? 5 : 0;  // of 6 rows
  const std::vector<double> values(n * 5, 1.0);
  const std::vector<std::span<const double>> fields(4, std::span<const double>(values));
  writer.add_part<double>(fields, {{0, 0}, {n, 5}});
  EXPECT_TRUE(
      contains(message_of<InputError>([&] { writer.end_frame(); }), "the ranks give 25 values of 30"));
  EXPECT_EQ(writer.n_frames(0), 0u);
  writer.drop_frame();
  EXPECT_TRUE(writer.times().empty());
  append_frame(writer, comm, header, 0, 0, 0.5);  // the file is as before
  writer.close();
  const auto reader = FieldSeriesReader::open(comm, scratch / "a.h5");
  EXPECT_EQ(reader.times(), std::vector<double>{0.5});
  EXPECT_EQ(reader.read<double>(2, 0, {0, 1, {}}), expected(2, 0, 0, 1));
}

}  // namespace
}  // namespace quintet
