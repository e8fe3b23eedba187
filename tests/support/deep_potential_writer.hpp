#pragma once

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/model/model.hpp"

/// Models with random weights, and .dp files taken apart and put together again, deliberately damaged.
namespace dp {

using quintet::Tree;
using quintet::potential::DenseLayer;
using quintet::potential::Model;
using quintet::potential::Network;

/// The parts of a .dp file: the description and its datasets by name ("/variable_0000").
struct Document {
  struct Dataset {
    quintet::hdf5::Shape shape;
    std::vector<double> values;
  };
  Tree description;
  std::map<std::string, Dataset> datasets;
};

inline void write(const Document& document, const std::string& path) {
  auto file = quintet::hdf5::File::create(quintet::Comm::self(), path);
  for (const auto& [name, data] : document.datasets)
    file.root().write<double>(name.substr(1), data.values, data.shape, {});
  file.root().set_attribute("json", quintet::to_json(document.description, 0));
  file.close();
}

inline void collect_names(const Tree& tree, std::vector<std::string>& names) {
  if (tree.is_scalar() && tree.as_text().rfind("/variable_", 0) == 0) names.push_back(tree.as_text());
  if (tree.is_list())
    for (const auto& item : tree.items()) collect_names(item, names);
  if (tree.is_map())
    for (const auto& entry : tree.entries()) collect_names(entry.second, names);
}

inline Document read(const std::string& path) {
  const auto file = quintet::hdf5::File::open(quintet::Comm::self(), path);
  Document document{quintet::parse_yaml(file.root().text_attribute("json"), path), {}};
  std::vector<std::string> names;
  collect_names(document.description, names);
  for (const auto& name : names)
    document.datasets[name] = {file.root().shape(name), file.root().read<double>(name)};
  return document;
}

/// A network with normal weights of variance 1/(in + out), as DeePMD-kit starts one; `output` scales its last
/// layer.
inline Network random_network(int n_in, const std::vector<int>& widths, bool timesteps, double output,
                              std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Network network;
  for (const int width : widths) {
    DenseLayer layer;
    layer.n_in = n_in;
    layer.n_out = width;
    layer.weight.resize(std::int64_t{n_in} * width);
    for (double& w : layer.weight) w = normal(random) / std::sqrt(n_in + width);
    layer.bias.resize(width);
    for (double& b : layer.bias) b = normal(random);
    if (width == n_in) layer.skip = DenseLayer::Skip::identity;
    if (width == 2 * n_in) layer.skip = DenseLayer::Skip::doubled;
    layer.timestep.assign(width, 1.0);
    if (timesteps && layer.skip != DenseLayer::Skip::none)
      for (double& dt : layer.timestep) dt = 0.1 + 0.001 * normal(random);
    n_in = width;
    network.layers.push_back(std::move(layer));
  }
  if (output > 0) {
    DenseLayer last;
    last.n_in = n_in;
    last.n_out = 1;
    for (int i = 0; i < n_in; ++i) last.weight.push_back(output * normal(random) / std::sqrt(n_in + 1.0));
    last.bias = {0.0};
    last.timestep = {1.0};
    last.activation = quintet::Activation::linear;
    network.layers.push_back(std::move(last));
  }
  return network;
}

/// A model of the given shape with random weights and statistics like liquid water's.
struct Shape {
  double rcut = 6, rcut_smooth = 0.5;
  std::vector<int> sel{46, 92}, embedding{25, 50, 100}, fitting{240, 240, 240};
  int axis = 16;
  bool type_one_side = true;
  double output = 40;  ///< scale of the fitting nets' last layer: forces near 0.5 eV/angstrom in water
};

inline Model random_model(const Shape& shape, unsigned seed) {
  std::mt19937_64 random(seed);
  Model model;
  model.type_names = {"O", "H"};
  model.rcut = shape.rcut;
  model.rcut_smooth = shape.rcut_smooth;
  model.sel = shape.sel;
  model.axis_neuron = shape.axis;
  model.type_one_side = shape.type_one_side;
  model.mean = {{0.05, 0, 0, 0}, {0.048, 0, 0, 0}};
  model.deviation = {{0.14, 0.086, 0.086, 0.086}, {0.124, 0.077, 0.077, 0.077}};
  for (int i = 0; i < (shape.type_one_side ? 2 : 4); ++i)
    model.embedding.push_back(random_network(1, shape.embedding, false, 0, random));
  for (int t = 0; t < 2; ++t)
    model.fitting.push_back(
        random_network(shape.embedding.back() * shape.axis, shape.fitting, true, shape.output, random));
  model.atom_bias = {0, 0};
  model.output_bias = {-187.0, -93.5};
  model.excluded_descriptor_pairs.assign(4, false);
  model.excluded_pairs.assign(4, false);
  model.excluded_atoms.assign(2, false);
  model.excluded_fitting.assign(2, false);
  return model;
}

}  // namespace dp
