#pragma once

#include <string>
#include <vector>

#include "io/hdf5/file.hpp"
#include "surrogates/experts/registry.hpp"
#include "surrogates/potential/model/dp_writer.hpp"
#include "tests/support/deep_potential_writer.hpp"
#include "tests/support/scratch.hpp"

/// Small models with random weights, and registries of them.
namespace quintet::experts {

inline potential::Model small_model(unsigned seed, int width = 8) {
  dp::Shape shape;
  shape.rcut = 4;
  shape.sel = {8, 16};
  shape.embedding = {4, 8};
  shape.fitting = {width, width};
  shape.axis = 2;
  return dp::random_model(shape, seed);
}

inline std::string write_model(const Scratch& scratch, unsigned seed, int width = 8) {
  const auto path = scratch / ("model_" + std::to_string(seed) + ".dp");
  potential::write_dp(path, small_model(seed, width));
  return path;
}

inline Expert water(const std::string& id, double least = 0, double most = 1) {
  Expert expert;
  expert.id = id;
  expert.app = "dpmd";
  expert.kind = "deep_potential";
  expert.precision = "float64";
  expert.memory = 1000;
  expert.range = {{"fraction_O", least, most, "1"}};
  expert.words = {{"type", "O"}, {"type", "H"}};
  return expert;
}

inline hdf5::Provenance maker() {
  auto provenance = hdf5::current_provenance();
  provenance.program = "test";
  return provenance;
}

}  // namespace quintet::experts
