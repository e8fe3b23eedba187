#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numbers>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/fields/xdmf.hpp"
#include "io/log/error.hpp"
#include "physics/kinetics/files/distribution_io.hpp"
#include "physics/kinetics/files/field_points.hpp"
#include "physics/kinetics/files/frames.hpp"
#include "physics/kinetics/files/whole_frames.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"
#include "tests/unit/kinetics/files/files_support.hpp"

namespace quintet::kinetics {
namespace {

using namespace testing;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// One or two species in 2x2v p1, and what frame i of their run holds: the numbered values times i + 1.
struct SampleRun {
  Comm comm = Comm::world();
  SharedScratch scratch;
  PhaseBasis basis{2, 2, 1, Family::serendipity};
  std::vector<Species> species;
  std::string path = scratch / "run.h5";

  explicit SampleRun(int n_species = 1, const std::string& name = "frames") : scratch(name) {
    for (const char* of : {"elc", "ion"}) {
      if (n_species-- == 0) break;
      Species one;
      one.name = of;
      one.mass = species.empty() ? 1 : 1836;
      one.grid = odd_grid(2, 2);
      if (!species.empty()) one.grid.cells[3] = 7;
      species.push_back(one);
    }
  }
  [[nodiscard]] const PhaseGrid& grid() const { return species[0].grid; }
  [[nodiscard]] Decomposition split(int way = 0) const {
    const auto all = rank_grids(comm.size(), 4);
    return {comm, grid(), all[way % all.size()]};
  }
  [[nodiscard]] Distribution f(const Decomposition& decomposition, int s, int i) const {
    const auto result = numbered(decomposition, species[s].grid, basis);
    for (std::size_t k = 0; k < result.data.size(); ++k) result.data(k) *= i + 1;
    return result;
  }
  [[nodiscard]] ConfField field(const Decomposition& decomposition, int components, int i) const {
    const auto result = numbered_field(decomposition.block(grid()), components, 4);
    for (std::size_t k = 0; k < result.size(); ++k) result.data()[k] *= i + 1;
    return result;
  }
  [[nodiscard]] Frame frame(const Decomposition& decomposition, int i) const {
    Frame result;
    result.step = 10 * i;
    result.time = 0.5 * i;
    const auto em = field(decomposition, 8, i), density = field(decomposition, 1, i);
    for (int s = 0; s < std::ssize(species); ++s) {
      result.f.push_back(f(decomposition, s, i));
      result.moments.push_back({{"m0", "Density.", density}});
    }
    result.fields.push_back({"field", "E, B, phi, psi.", em});
    result.points.push_back({"b_x", "1", "Magnetic field.", em, 3});
    result.points.push_back({"elc_density", "1", "Density.", density, 0});
    return result;
  }
  void write(int first, int last, std::optional<std::int64_t> restart_step = {}, int way = 0) const {
    const auto decomposition = split(way);
    auto file = restart_step ? hdf5::File::open_for_update(comm, path) : hdf5::File::create(comm, path);
    FrameWriter writer(file, decomposition, basis, species, 0, restart_step);
    for (int i = first; i <= last; ++i) writer.append(frame(decomposition, i));
  }
};

TEST(Frames, any_frame_is_read_back_bit_by_bit_on_any_split) {
  const SampleRun run(2);
  run.write(0, 1);

  for (int way = 0; way < 2; ++way)
    for (int i = 0; i < 2; ++i) {
      const auto decomposition = run.split(way + 1);
      const FrameReader reader(run.comm, run.path, i - 2);
      EXPECT_EQ(reader.frame(), i);
      EXPECT_EQ(reader.step(), 10 * i);
      EXPECT_EQ(reader.time(), 0.5 * i);
      for (int s = 0; s < 2; ++s) {
        Distribution f("f", decomposition.block(run.species[s].grid), 16);
        reader.read(run.species[s].name, decomposition, run.basis, f);
        EXPECT_TRUE(equal(f, run.f(decomposition, s, i)));
      }
      ConfField em("em", decomposition.block(run.grid()).n_conf(), 8, 4);
      reader.read("field", decomposition, run.grid(), run.basis, em);
      EXPECT_TRUE(equal(em, run.field(decomposition, 8, i)));
    }
}

TEST(Frames, a_restart_cuts_all_that_has_frames_even_if_it_writes_none) {
  const SampleRun run;
  run.write(0, 3);
  run.write(2, 1, 10);

  const auto file = hdf5::File::open(run.comm, run.path);
  const auto paths = frame_series(file.root());
  EXPECT_GT(paths.size(), 3u);
  for (const auto& path : paths) EXPECT_EQ(file.root().shape(path).front(), 2u) << path;
}

TEST(Frames, a_restart_drops_later_frames_and_goes_on_on_another_split) {
  const SampleRun run, whole(1, "whole");
  whole.write(0, 3);
  run.write(0, 2);
  run.write(1, 1, 5, 1);  // from a checkpoint of step 5: frames of steps 10 and 20 go
  {
    const auto file = hdf5::File::open(run.comm, run.path);
    EXPECT_EQ(file.root().read<std::int64_t>("frames/step"), (std::vector<std::int64_t>{0, 10}));
    EXPECT_EQ(file.root().shape("species/elc/moments/m0"), (hdf5::Shape{2, 7, 5, 1, 4}));
    EXPECT_EQ(file.root().shape("species/elc/f/frame_2"), (hdf5::Shape{0}));
  }
  run.write(2, 3, 10, 2);

  const auto file = hdf5::File::open(run.comm, run.path), expected = hdf5::File::open(run.comm, whole.path);
  for (const char* name : {"frames/time", "species/elc/moments/m0", "coefficients/field", "fields/time",
                           "fields/b_x", "fields/elc_density", "species/elc/f/frame_3"}) {
    ASSERT_EQ(file.root().shape(name), expected.root().shape(name)) << name;
    EXPECT_EQ(file.root().read<double>(name), expected.root().read<double>(name)) << name;
  }
  EXPECT_EQ(text_of(run.scratch / "run.fields.xmf"), text_of(whole.scratch / "run.fields.xmf"));
  EXPECT_EQ(text_of(run.scratch / "run.elc_y_vx.xmf"), text_of(whole.scratch / "run.elc_y_vx.xmf"));
}

TEST(Frames, what_a_kill_left_unfinished_is_no_frame) {
  const SampleRun run, whole(1, "whole");
  whole.write(0, 3);
  run.write(0, 3);
  if (run.comm.is_root()) {  // steps and times ahead, zeros among them; less of one field than of the others
    auto file = hdf5::File::open_for_update(Comm::self(), run.path);
    auto root = file.root();
    auto step = root.series<std::int64_t>("frames/step", {}, {});
    auto time = root.series<double>("frames/time", {}, {});
    step.append_entries<std::int64_t>(2, std::vector<std::int64_t>{0, 0});
    time.append_entries<double>(2, std::vector<double>{0, 0});
    auto shape = root.shape("coefficients/field");
    shape.erase(shape.begin());
    root.series<double>("coefficients/field", shape, {}).truncate(3);
  }
  run.comm.barrier();
  EXPECT_EQ(FrameReader(run.comm, run.path).step(), 20);

  run.write(2, 3, 10, 1);

  const auto file = hdf5::File::open(run.comm, run.path), expected = hdf5::File::open(run.comm, whole.path);
  for (const char* name : {"frames/time", "coefficients/field", "fields/b_x", "species/elc/f/frame_3"}) {
    ASSERT_EQ(file.root().shape(name), expected.root().shape(name)) << name;
    EXPECT_EQ(file.root().read<double>(name), expected.root().read<double>(name)) << name;
  }
}

TEST(Frames, fields_are_values_on_points_with_coordinates_mask_and_units) {
  const SampleRun run;
  run.write(0, 1);

  const auto file = hdf5::File::open(run.comm, run.path);
  const auto group = file.root().open_group("fields");
  const auto x = group.read<double>("x", {14}), y = group.read<double>("y", {10}),
             time = group.read<double>("time", {2});
  const auto mask = group.read<std::uint8_t>("mask", {10, 14});
  const auto b_x = group.read<double>("b_x", {2, 10, 14});

  EXPECT_DOUBLE_EQ(x[0], 2.5 / 7 / 4);
  EXPECT_DOUBLE_EQ(x[13], 2.5 - 2.5 / 7 / 4);
  EXPECT_DOUBLE_EQ(y[1], 3 * 3.5 / 5 / 4);
  EXPECT_EQ(time, (std::vector<double>{0, 0.5}));
  EXPECT_EQ(std::count(mask.begin(), mask.end(), 1), 140);
  EXPECT_EQ(group.member_text_attribute("b_x", "units"), "1");
  for (const auto& [i, j] : {std::pair(0, 0), std::pair(5, 3), std::pair(13, 9)}) {
    // Point (i, j) lies in cell (i/2, j/2), at xi = -1/2 or 1/2.
    const std::array xi{i % 2 - 0.5, j % 2 - 0.5};
    double expected = 0;
    for (int mode = 0; mode < 4; ++mode)
      expected += unique_value((i / 2) * 5 + j / 2, 30 + mode) * run.basis.conf().value(mode, xi);
    EXPECT_NEAR(b_x[j * 14 + i], expected, 1e-13 * std::abs(expected));
    EXPECT_NEAR(b_x[140 + j * 14 + i], 2 * expected, 1e-13 * std::abs(expected));
  }
}

TEST(Frames, a_picture_in_1x1v_is_f_itself_and_its_sum_is_the_number_of_particles) {
  const auto comm = Comm::world();
  for (const auto& ranks : rank_grids(comm.size(), 2)) {
    const PhaseBasis basis(1, 1, 2, Family::serendipity);
    const auto grid = odd_grid(1, 1);
    const Decomposition decomposition(comm, grid, ranks);
    const auto f = numbered(decomposition, grid, basis);

    const auto picture = phase_picture(decomposition, basis, f, 0, 1, 3, 3);

    ASSERT_EQ(picture.n_a, 21);
    ASSERT_EQ(picture.n_b, 39);
    const std::array xi{0.0, 2.0 / 3};  // point 1 of 3 in x, 2 of 3 in v
    double expected = 0;
    for (int mode = 0; mode < 8; ++mode) expected += unique_value(4 * 13 + 11, mode) * basis.value(mode, xi);
    EXPECT_NEAR(picture.values[(11 * 3 + 2) * 21 + 4 * 3 + 1], expected, 1e-12 * std::abs(expected));
  }
}

TEST(Frames, a_picture_integrates_over_the_other_velocities_and_averages_over_the_other_coordinates) {
  const SampleRun run;
  const auto decomposition = run.split(1);
  const auto f = run.f(decomposition, 0, 0);
  const auto& grid = run.grid();

  const auto picture = phase_picture(decomposition, run.basis, f, 1, 2, 1, 1);

  // At the centre of a cell in (y, vx), only the mean over (x, vy) of each cell counts, twice the modes' root
  // 1/2.
  double expected = 0;
  for (int i = 0; i < 7; ++i)
    for (int k = 0; k < 6; ++k)
      expected += unique_value(((i * 5 + 2) * 13 + 8) * 6 + k, 0) * 0.25 / 7 * grid.width(3);
  ASSERT_EQ(picture.n_a, 5);
  EXPECT_NEAR(picture.values[8 * 5 + 2], expected, 1e-12 * std::abs(expected));
}

TEST(Frames, what_cannot_be_read_is_said_with_the_file) {
  const SampleRun run;
  run.write(0, 1);
  const auto decomposition = run.split();
  const FrameReader reader(run.comm, run.path);
  Distribution f("f", decomposition.block(run.grid()), 16);
  auto other = run.grid();
  other.upper[0] = 3;
  Distribution longer("f", decomposition.block(other), 16);
  ConfField one("one", f.block.n_conf(), 1, 4);
  const auto said = [](const auto& action) { return message_of<InputError>(action); };

  EXPECT_EQ(said([&] { FrameReader(run.comm, run.path, 7); }),
            run.path + ": has no frame 7: it holds 2 (0 to 1; -1 is the last)");
  EXPECT_EQ(said([&] { reader.read("muon", decomposition, run.basis, f); }),
            run.path + ": has no species 'muon'; it has elc");
  EXPECT_TRUE(contains(said([&] { reader.read("elc", decomposition, run.basis, longer); }),
                       run.path +
                           ": species/elc/f/frame_1 has another grid than this run: the file has cells "
                           "[7, 5, 13, 6], lower [0, 0, -6, -7], upper [2.5, 3.5, 6, 7], the run cells"));
  EXPECT_EQ(said([&] { reader.read("field", decomposition, run.grid(), run.basis, one); }),
            run.path + ": 'field' has frames of shape [7, 5, 8, 4], this run needs [7, 5, 1, 4]");
  { auto file = hdf5::File::create(run.comm, run.scratch / "other.h5"); }
  EXPECT_EQ(said([&] { FrameReader(run.comm, run.scratch / "other.h5"); }),
            run.scratch / "other.h5: has no frames: expected a run.h5 of vlasov");
}

TEST(Frames, a_run_does_not_go_on_in_the_file_of_another) {
  SampleRun run;
  run.write(0, 1);
  const auto decomposition = run.split();
  auto file = hdf5::File::open_for_update(run.comm, run.path);

  EXPECT_EQ(message_of<InputError>([&] { FrameWriter(file, decomposition, run.basis, run.species, 0, {}); }),
            run.path + ": holds 2 frames already; a new run needs a new file");
  run.species[0].grid.upper[2] = 9;
  EXPECT_TRUE(contains(
      message_of<InputError>([&] { FrameWriter(file, decomposition, run.basis, run.species, 0, 10); }),
      "species 'elc' has the grid cells [7, 5, 13, 6], lower [0, 0, -6, -7], upper [2.5, 3.5, 6, 7], this "
      "run cells"));
}

TEST(Xdmf, a_frame_names_its_part_of_the_dataset) {
  const auto comm = Comm::world();
  const SharedScratch scratch("xdmf");
  XdmfSeries series(comm, scratch / "a.xmf",
                    {"run.h5", {{"a<b", "/fields/a<b"}}, {{-1, 0.5, 4}, {0, 0.25, 8}}}, {0.0});

  series.append(0.125);

  const auto text = text_of(scratch / "a.xmf");
  EXPECT_TRUE(text.starts_with("<?xml version=\"1.0\" ?>\n<Xdmf Version=\"3.0\">"));
  EXPECT_TRUE(text.ends_with("</Grid>\n</Grid>\n</Domain>\n</Xdmf>\n"));
  EXPECT_TRUE(contains(text, R"(<Grid Name="frame_1" GridType="Uniform">
<Time Value="0.125"/>
<Topology TopologyType="3DCoRectMesh" Dimensions="1 4 8"/>
<Geometry GeometryType="ORIGIN_DXDYDZ">
<DataItem Format="XML" Dimensions="3">0 -1 0</DataItem>
<DataItem Format="XML" Dimensions="3">1 0.5 0.25</DataItem>
</Geometry>
<Attribute Name="a&lt;b" AttributeType="Scalar" Center="Node">
<DataItem ItemType="HyperSlab" Dimensions="1 4 8">
<DataItem Format="XML" Dimensions="3 3">1 0 0 1 1 1 1 4 8</DataItem>
<DataItem Format="HDF" NumberType="Float" Precision="8" Dimensions="2 4 8">run.h5:/fields/a&lt;b</DataItem>)"));
  EXPECT_EQ(message_of<ResourceError>([&] { XdmfSeries(comm, scratch / "absent/a.xmf", {}, {}); }),
            scratch / "absent/a.xmf: cannot be written: No such file or directory");
}

TEST(Frames, agree_with_their_checksums_on_any_split_and_one_that_has_changed_is_told_of) {
  const SampleRun run(2);
  const auto altered = [&](int step) {
    const auto decomposition = run.split();
    auto file = hdf5::File::open_for_update(run.comm, run.path);
    return FrameWriter(file, decomposition, run.basis, run.species, 0, step).altered();
  };
  run.write(0, 2);
  EXPECT_EQ(altered(20), "");
  run.write(0, 2, {}, 1);
  EXPECT_EQ(altered(20), "");

  for (const char* name : {"species/ion/f/frame_1", "species/elc/moments/m0", "coefficients/field",
                           "fields/b_x", "pictures/elc_y_vx"}) {
    run.write(0, 2);
    {
      auto file = hdf5::File::open_for_update(run.comm, run.path);
      const auto shape = file.root().shape(name);
      hdf5::Box box{hdf5::Shape(shape.size(), 1), hdf5::Shape(shape.size(), 1)};
      for (std::size_t d = 1; d < shape.size(); ++d) box.start[d] = std::min(box.start[d], shape[d] - 1);
      auto value = file.root().read_box<double>(name, box);
      value[0] = -3 - value[0];
      if (!run.comm.is_root()) {
        value.clear();
        box.count.assign(shape.size(), 0);
      }
      file.root().write_box<double>(name, value, box);
    }
    EXPECT_EQ(altered(20), "frame 1 does not agree with its checksum") << name;
    EXPECT_NO_THROW(FrameReader(run.comm, run.path, 0)) << name;
    EXPECT_TRUE(contains(message_of<InputError>([&] { FrameReader(run.comm, run.path, 1); }),
                         "frame 1 does not agree with its checksum"))
        << name;
  }
}

}  // namespace
}  // namespace quintet::kinetics
