#include "io/parallel/comm.hpp"
#include "physics/kinetics/frames.hpp"
#include "physics/kinetics/gkyl_reader.hpp"
#include "physics/kinetics/gkyl_writer.hpp"
#include "tests/fuzz/reader.hpp"
#include "tests/unit/kinetics/files_support.hpp"

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

}  // namespace

std::vector<Reader> readers() { return {{"gkyl", "a.gkyl", gkyl_files, read_gkyl_file}}; }

}  // namespace quintet::fuzz
