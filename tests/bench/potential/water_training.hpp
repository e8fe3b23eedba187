#pragma once

#include <string>
#include <vector>

#include "surrogates/potential/training/data.hpp"
#include "surrogates/potential/training/initialise.hpp"

/// The training of water that benchmarks time.
namespace quintet::potential {

/// A DeePMD system of O and H.
inline std::vector<LabelledSystem> read_water(const std::string& path) {
  DataOptions options;
  options.type_map = {"O", "H"};
  return read_systems({path}, options);
}

/// The usual model of water, with the weights that `dpmd train` begins with.
inline Model water_model(const std::vector<LabelledSystem>& systems, bool single_precision) {
  NetworkOptions options;
  options.type_map = {"O", "H"};
  options.sel = {46, 92};
  options.embedding = {25, 50, 100};
  options.fitting = {240, 240, 240};
  options.axis_neuron = 16;
  options.type_one_side = true;
  options.single_precision = single_precision;
  return initial_model(options, systems);
}

}  // namespace quintet::potential
