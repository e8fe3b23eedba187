#include <cmath>

#include <gtest/gtest.h>

#include "io/fields/field_series.hpp"
#include "io/log/error.hpp"
#include "physics/kinetics/files/field_points.hpp"
#include "physics/kinetics/files/frames.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"
#include "tests/unit/kinetics/files/files_support.hpp"

namespace quintet::kinetics {
namespace {

using namespace testing;

/// Frames of a 1x1v run as vlasov writes them, to be read as any application's fields.
struct PlasmaRun {
  Comm comm = Comm::world();
  SharedScratch scratch{"fields_over_time"};
  PhaseGrid grid = odd_grid(1, 1);
  PhaseBasis basis{1, 1, 1, Family::serendipity};
  std::string path = scratch / "run.h5";
  std::vector<double> picture, density;  ///< of the last frame; density on rank 0

  explicit PlasmaRun(std::vector<double> edges = {}) {
    grid.velocity_edges[0] = std::move(edges);
    const Decomposition decomposition(comm, grid, {comm.size(), 1, 1, 1, 1, 1});
    Species electrons;
    electrons.name = "elc";
    electrons.grid = grid;
    auto file = hdf5::File::create(comm, path);
    FrameWriter writer(file, decomposition, basis, {electrons}, 0, {});
    const auto f = numbered(decomposition, grid, basis);
    const auto field = numbered_field(decomposition.block(grid), 8, 2);
    for (int i = 0; i < 3; ++i) {
      Frame frame;
      frame.step = i;
      frame.time = 0.5 * i;
      frame.f.push_back(f);
      frame.points.push_back({"e_x", "V/m", "Electric field.", field, 0});
      writer.append(frame);
    }
    picture = phase_picture(decomposition, basis, f, 0, 1, 2, 2).values;
    density = field_points(decomposition, grid, basis.conf(), field, 0, 2);
    file.close();
  }
};

TEST(FieldsOverTime, pictures_of_phase_space_are_a_field_on_x_and_v) {
  const PlasmaRun run;

  const auto reader = FieldSeriesReader::open(run.comm, run.path, {.part = "pictures/elc_x_vx"});

  const auto& header = reader.header();
  ASSERT_EQ(header.axes.size(), 2u);
  EXPECT_EQ(header.axes[0].name, "vx");
  EXPECT_EQ(header.axes[1].name, "x");
  EXPECT_TRUE(header.axes[1].periodic);
  EXPECT_FALSE(header.axes[0].periodic);
  EXPECT_EQ(header.axes[0].lower, run.grid.lower[1]);
  EXPECT_EQ(header.axes[1].upper, run.grid.upper[0]);
  for (const int d : {0, 1}) {
    const auto expected = point_coordinates(run.grid, d, 2);
    ASSERT_EQ(header.axes[1 - d].size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(header.axes[1 - d].coordinates[i], expected[i], 1e-12);
  }
  EXPECT_EQ(header.fields[0].name, "f");
  EXPECT_EQ(reader.time_spacing(), 0.5);
  EXPECT_EQ(reader.read<double>(0, 0, {2, 1, {}}), run.picture);
}

TEST(FieldsOverTime, velocity_cells_of_any_width_have_their_points) {
  std::vector<double> edges;
  for (int i = 0; i <= 13; ++i) edges.push_back(-4 + 8 * std::pow(i / 13.0, 1.2));
  edges.front() = odd_grid(1, 1).lower[1];
  edges.back() = odd_grid(1, 1).upper[1];
  const PlasmaRun run(edges);
  const auto reader = FieldSeriesReader::open(run.comm, run.path, {.part = "pictures/elc_x_vx"});
  const auto expected = point_coordinates(run.grid, 1, 2);
  ASSERT_EQ(reader.header().axes[0].size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(reader.header().axes[0].coordinates[i], expected[i], 1e-12);
}

TEST(FieldsOverTime, fields_on_points_are_a_series_too) {
  const PlasmaRun run;
  const auto reader = FieldSeriesReader::open(run.comm, run.path, {.part = "fields"});
  EXPECT_EQ(reader.header().fields[0].name, "e_x");
  EXPECT_EQ(reader.header().fields[0].units, "V/m");
  EXPECT_EQ(reader.header().axes[0].coordinates, point_coordinates(run.grid, 0, 2));
  const auto values = reader.read<double>(0, 0, {1, 1, {}});
  if (run.comm.is_root()) {
    EXPECT_EQ(values, run.density);
  }
}

TEST(FieldsOverTime, the_part_that_is_meant_must_be_named) {
  const PlasmaRun run;
  const auto which = message_of<InputError>([&] { (void)FieldSeriesReader::open(run.comm, run.path); });
  const auto other = message_of<InputError>(
      [&] { (void)FieldSeriesReader::open(run.comm, run.path, {.part = "pictures/ion"}); });
  EXPECT_EQ(which,
            run.path + ": holds several series; name the part that is meant: fields, pictures/elc_x_vx");
  EXPECT_EQ(other, run.path + ": has no part 'pictures/ion'; it has: fields, pictures/elc_x_vx");
}

}  // namespace
}  // namespace quintet::kinetics
