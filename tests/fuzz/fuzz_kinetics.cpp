#include "io/fields/field_series.hpp"
#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/files/frames.hpp"
#include "physics/kinetics/files/gkyl_reader.hpp"
#include "physics/kinetics/files/gkyl_writer.hpp"
#include "tests/fuzz/reader.hpp"
#include "tests/unit/kinetics/files/files_support.hpp"

/// Readers of plasma distributions.
namespace quintet::fuzz {
namespace {

using namespace kinetics;

PhaseGrid grid() {
  PhaseGrid grid = kinetics::testing::odd_grid(1, 1);
  grid.cells = {3, 4};
  return grid;
}
PhaseBasis basis() { return {1, 1, 1, Family::serendipity}; }

std::vector<std::string> gkyl_files() {
  return {written("a-f_0.gkyl", [](const std::string& path) {
    const Decomposition decomposition(Comm::self(), grid(), {});
    GkylWriter(decomposition, basis(), path.substr(0, path.rfind("-f_0")))
        .write("f", 0, 0.5, kinetics::testing::numbered(decomposition, grid(), basis()));
  })};
}

void read_gkyl_file(const std::string& path) {
  const Decomposition decomposition(Comm::self(), grid(), {});
  const Distribution f("f", decomposition.block(grid()), basis().size());
  static_cast<void>(read_gkyl(path, decomposition, basis(), f));
}

std::vector<std::string> frame_files() {
  return {written("run.h5", [](const std::string& path) {
    const Decomposition decomposition(Comm::self(), grid(), {});
    const auto f = kinetics::testing::numbered(decomposition, grid(), basis());
    const auto field = kinetics::testing::numbered_field(decomposition.block(grid()), 8, 2);
    const auto density = kinetics::testing::numbered_field(decomposition.block(grid()), 1, 2);
    Species electrons;
    electrons.name = "elc";
    electrons.grid = grid();
    auto file = hdf5::File::create(Comm::self(), path);
    FrameWriter writer(file, decomposition, basis(), {electrons}, 0, {});
    for (int i = 0; i < 2; ++i) {
      kinetics::Frame frame;
      frame.step = i;
      frame.time = 0.5 * i;
      frame.f.push_back(f);
      frame.moments.push_back({{"m0", "Density.", density}});
      frame.fields.push_back({"field", "E, B, phi, psi.", field});
      writer.append(frame);
    }
  })};
}

void read_frame(const std::string& path) {
  const Decomposition decomposition(Comm::self(), grid(), {});
  const Distribution f("f", decomposition.block(grid()), basis().size());
  const FrameReader reader(Comm::self(), path);
  reader.read("elc", decomposition, basis(), f);
  reader.read("field", decomposition, grid(), basis(),
              kinetics::testing::numbered_field(decomposition.block(grid()), 8, 2));
}

void read_frames_as_fields(const std::string& path) {
  const auto reader = FieldSeriesReader::open(Comm::self(), path, {.part = "pictures/elc_x_vx"});
  static_cast<void>(reader.read<float>(0, 0, {0, reader.n_frames(0), {}}));
}

}  // namespace

std::vector<Reader> readers() {
  return {{"gkyl", "a.gkyl", gkyl_files, read_gkyl_file},
          {"frames", "run.h5", frame_files, read_frame},
          {"frames_as_fields", "run.h5", frame_files, read_frames_as_fields}};
}

}  // namespace quintet::fuzz
