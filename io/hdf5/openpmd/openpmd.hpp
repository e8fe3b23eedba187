#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace quintet::hdf5 {

/// A quantity on a uniform grid, as the openPMD standard has it.
struct OpenPmdMesh {
  struct Component {
    std::string name;            ///< "x"; "" for a scalar
    std::vector<double> values;  ///< row-major, the first axis slowest
  };
  std::string name;  ///< "E", "electrons_density"
  std::string text;  ///< one sentence
  /// Powers of length, mass, time, current, temperature, amount and luminous intensity in its unit.
  std::array<double, 7> dimension{};
  std::vector<Component> components;
};

/// What a program says of one instant.
struct OpenPmdIteration {
  std::int64_t step = 0;
  double time = 0, dt = 0;
  std::vector<std::string> axes;       ///< slowest first: {"y", "x"}
  std::vector<std::uint64_t> shape;    ///< points along each
  std::vector<double> lower, spacing;  ///< of the grid, along each; points are in the middle of its cells
  std::vector<OpenPmdMesh> meshes;
  std::string software, version, comment;
};

/// Write an iteration as a file of its own, `FOLDER/data_STEP.h5`, which has that name once it is whole; one
/// process's own.
///
/// Follows the openPMD standard 1.1.0, encoding fileBased, without extensions: what openPMD-viewer, yt and
/// ParaView read. All unitSI are 1: the numbers are in the units of the run. Source: A. Huebl et al. (2015),
/// doi:10.5281/zenodo.591699. Throws ResourceError.
void write_openpmd(const std::string& folder, const OpenPmdIteration& iteration);

}  // namespace quintet::hdf5
