#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "surrogates/potential/model.hpp"

/// Makes models with random weights and writes them as DeePMD-kit's native .dp files, whole or deliberately
/// damaged.
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

  /// Put an array in; returns what the description says of it.
  Tree add(quintet::hdf5::Shape shape, std::vector<double> values) {
    const std::string number = std::to_string(datasets.size());
    const std::string name =
        "/variable_" + std::string(4 - std::min<std::size_t>(4, number.size()), '0') + number;
    datasets[name] = {std::move(shape), std::move(values)};
    return Tree::text(name);
  }
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
    layer.weight.resize(static_cast<std::size_t>(n_in) * width);
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

namespace detail {

inline std::string name_of(quintet::Activation activation) {
  static const char* names[] = {"linear", "tanh", "relu", "relu6", "softplus", "sigmoid", "silu", "gelu"};
  return names[static_cast<int>(activation)];
}

template <class Values>
Tree list_of(const Values& values) {
  Tree list = Tree::list();
  for (const auto value : values) list.append(Tree::integer(value));
  return list;
}

inline bool has_timesteps(const DenseLayer& layer) {
  for (const double dt : layer.timestep)
    if (dt != 1.0) return true;
  return false;
}

inline Tree layer(Document& document, const DenseLayer& dense) {
  Tree tree = Tree::map(), variables = Tree::map();
  const auto n_in = static_cast<std::uint64_t>(dense.n_in), n_out = static_cast<std::uint64_t>(dense.n_out);
  variables.set("w", document.add({n_in, n_out}, dense.weight));
  variables.set("b", document.add({n_out}, dense.bias));
  variables.set("idt", has_timesteps(dense) ? document.add({n_out}, dense.timestep) : Tree());
  tree.set("@class", Tree::text("Layer"));
  tree.set("@version", Tree::integer(2));
  tree.set("bias", Tree::boolean(true));
  tree.set("use_timestep", Tree::boolean(has_timesteps(dense)));
  tree.set("activation_function", Tree::text(name_of(dense.activation)));
  tree.set("resnet", Tree::boolean(dense.skip != DenseLayer::Skip::none));
  tree.set("precision", Tree::text("float64"));
  tree.set("trainable", Tree::boolean(true));
  tree.set("@variables", variables);
  return tree;
}

/// A collection of networks; hidden widths `neuron` without the fitting nets' output layer.
inline Tree networks(Document& document, const std::vector<Network>& all, const std::string& kind, int ndim,
                     int ntypes) {
  const bool fitting = kind == "fitting_network";
  Tree items = Tree::list();
  for (const auto& network : all) {
    std::vector<int> neuron;
    bool timesteps = false;
    Tree layers = Tree::list();
    for (const auto& dense : network.layers) {
      layers.append(layer(document, dense));
      neuron.push_back(dense.n_out);
      timesteps = timesteps || has_timesteps(dense);
    }
    if (fitting) neuron.pop_back();
    Tree tree = Tree::map();
    tree.set("@class", Tree::text(fitting ? "FittingNetwork" : "EmbeddingNetwork"));
    tree.set("@version", Tree::integer(fitting ? 1 : 2));
    tree.set("in_dim", Tree::integer(network.n_in()));
    if (fitting) tree.set("out_dim", Tree::integer(1));
    if (fitting) tree.set("bias_out", Tree::boolean(true));
    tree.set("neuron", list_of(neuron));
    tree.set("activation_function", Tree::text(name_of(network.layers.front().activation)));
    tree.set("resnet_dt", Tree::boolean(timesteps));
    if (!fitting) tree.set("bias", Tree::boolean(true));
    tree.set("precision", Tree::text("float64"));
    tree.set("layers", layers);
    items.append(tree);
  }
  Tree collection = Tree::map();
  collection.set("@class", Tree::text("NetworkCollection"));
  collection.set("@version", Tree::integer(1));
  collection.set("ndim", Tree::integer(ndim));
  collection.set("ntypes", Tree::integer(ntypes));
  collection.set("network_type", Tree::text(kind));
  collection.set("networks", items);
  return collection;
}

inline Tree statistics(Document& document, const std::vector<std::array<double, 4>>& rows, int n_slots) {
  std::vector<double> values;
  for (const auto& row : rows)
    for (int slot = 0; slot < n_slots; ++slot) values.insert(values.end(), row.begin(), row.end());
  return document.add({rows.size(), static_cast<std::uint64_t>(n_slots), 4}, values);
}

inline Tree hidden_widths(const Network& network, bool drop_last) {
  std::vector<int> widths;
  for (const auto& dense : network.layers) widths.push_back(dense.n_out);
  if (drop_last) widths.pop_back();
  return list_of(widths);
}

inline Tree descriptor(Document& document, const Model& model) {
  Tree tree = Tree::map(), environment = Tree::map(), variables = Tree::map();
  environment.set("rcut", Tree::number(model.rcut));
  environment.set("rcut_smth", Tree::number(model.rcut_smooth));
  variables.set("davg", statistics(document, model.mean, model.n_slots()));
  variables.set("dstd", statistics(document, model.deviation, model.n_slots()));
  tree.set("@class", Tree::text("Descriptor"));
  tree.set("type", Tree::text("se_e2_a"));
  tree.set("@version", Tree::integer(2));
  tree.set("rcut", Tree::number(model.rcut));
  tree.set("rcut_smth", Tree::number(model.rcut_smooth));
  tree.set("sel", list_of(model.sel));
  tree.set("neuron", hidden_widths(model.embedding.front(), false));
  tree.set("axis_neuron", Tree::integer(model.axis_neuron));
  tree.set("resnet_dt", Tree::boolean(false));
  tree.set("trainable", Tree::boolean(true));
  tree.set("type_one_side", Tree::boolean(model.type_one_side));
  tree.set("exclude_types", Tree::list());
  tree.set("env_protection", Tree::number(model.protection));
  tree.set("set_davg_zero", Tree::boolean(false));
  tree.set("activation_function", Tree::text("tanh"));
  tree.set("precision", Tree::text("float64"));
  tree.set("spin", Tree());
  tree.set("env_mat", environment);
  tree.set("embeddings", networks(document, model.embedding, "embedding_network", model.type_one_side ? 1 : 2,
                                  model.n_types()));
  tree.set("@variables", variables);
  return tree;
}

inline Tree fitting(Document& document, const Model& model) {
  Tree tree = Tree::map(), variables = Tree::map();
  const auto n = static_cast<std::uint64_t>(model.n_types());
  variables.set("bias_atom_e", document.add({n, 1}, model.atom_bias));
  for (const char* name : {"case_embd", "fparam_avg", "fparam_inv_std", "aparam_avg", "aparam_inv_std"})
    variables.set(name, Tree());
  tree.set("@class", Tree::text("Fitting"));
  tree.set("@version", Tree::integer(4));
  tree.set("type", Tree::text("ener"));
  tree.set("var_name", Tree::text("energy"));
  tree.set("ntypes", Tree::integer(model.n_types()));
  tree.set("dim_descrpt", Tree::integer(model.fitting.front().n_in()));
  tree.set("dim_out", Tree::integer(1));
  tree.set("neuron", hidden_widths(model.fitting.front(), true));
  tree.set("resnet_dt", Tree::boolean(true));
  tree.set("mixed_types", Tree::boolean(false));
  for (const char* name : {"numb_fparam", "numb_aparam", "dim_case_embd"}) tree.set(name, Tree::integer(0));
  tree.set("activation_function", Tree::text("tanh"));
  tree.set("precision", Tree::text("float64"));
  tree.set("exclude_types", Tree::list());
  tree.set("atom_ener", Tree::list());
  tree.set("nets", networks(document, model.fitting, "fitting_network", 1, model.n_types()));
  tree.set("@variables", variables);
  return tree;
}

/// The training input that conversion and compression by DeePMD-kit ask for.
inline Tree script(const Model& model, const Tree& type_map) {
  Tree tree = Tree::map(), descriptor = Tree::map(), fitting = Tree::map();
  descriptor.set("type", Tree::text("se_e2_a"));
  descriptor.set("rcut", Tree::number(model.rcut));
  descriptor.set("rcut_smth", Tree::number(model.rcut_smooth));
  descriptor.set("sel", list_of(model.sel));
  descriptor.set("neuron", hidden_widths(model.embedding.front(), false));
  descriptor.set("axis_neuron", Tree::integer(model.axis_neuron));
  descriptor.set("type_one_side", Tree::boolean(model.type_one_side));
  fitting.set("neuron", hidden_widths(model.fitting.front(), true));
  fitting.set("resnet_dt", Tree::boolean(true));
  tree.set("type_map", type_map);
  tree.set("descriptor", descriptor);
  tree.set("fitting_net", fitting);
  return tree;
}

}  // namespace detail

/// The file of a float64 model without exclusions, tables and other extras.
inline Document document(const Model& model) {
  Document document;
  Tree tree = Tree::map(), variables = Tree::map(), type_map = Tree::list();
  for (const auto& name : model.type_names) type_map.append(Tree::text(name));
  const auto n = static_cast<std::uint64_t>(model.n_types());
  variables.set("out_bias", document.add({1, n, 1}, model.output_bias));
  variables.set("out_std", document.add({1, n, 1}, std::vector<double>(n, 1.0)));
  tree.set("@class", Tree::text("Model"));
  tree.set("@version", Tree::integer(2));
  tree.set("type", Tree::text("standard"));
  tree.set("type_map", type_map);
  tree.set("atom_exclude_types", Tree::list());
  tree.set("pair_exclude_types", Tree::list());
  tree.set("rcond", Tree());
  tree.set("preset_out_bias", Tree());
  tree.set("@variables", variables);
  tree.set("descriptor", detail::descriptor(document, model));
  tree.set("fitting", detail::fitting(document, model));
  document.description = Tree::map();
  document.description.set("software", Tree::text("quintet"));
  document.description.set("backend", Tree::text("dpmodel"));
  document.description.set("model", tree);
  document.description.set("model_def_script", detail::script(model, type_map));
  return document;
}

}  // namespace dp
