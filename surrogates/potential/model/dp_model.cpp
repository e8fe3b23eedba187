#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "surrogates/networks/activation_names.hpp"
#include "surrogates/potential/model/dp_source.hpp"

namespace quintet::potential {

DpFile::DpFile(const std::string& path, const DpSource& source) : path_(path), source_(source) {
  QUINTET_CHECK(source.tree().has("model"), "{}: the model description has no entry 'model'", path);
}

std::vector<double> DpFile::array(const Tree& owner, const std::string& name, long n) const {
  const Tree* variables = owner.find("@variables");
  const Tree* entry = variables ? variables->find(name) : nullptr;
  if (!entry || entry->is_null()) return {};
  return dataset(entry->as_text(), name, n);
}

std::vector<double> DpFile::dataset(const std::string& dataset, const std::string& meaning, long n) const {
  auto values = source_.values(dataset);
  QUINTET_CHECK(n < 0 || std::ssize(values) == n, "{}: {} ({}) holds {} values, expected {}", path_, meaning,
                dataset, values.size(), n);
  for (std::size_t i = 0; i < values.size(); ++i)
    QUINTET_CHECK(std::isfinite(values[i]), "{}: {} ({}) is {} at position {}: the model is damaged", path_,
                  meaning, dataset, values[i], i);
  return values;
}

void refuse(const DpFile& file, const std::string& what, const std::string& way) {
  throw InputError(
      fmt::format("{}: {} is not supported (dpmd runs energy models with the descriptors se_e2_a, se_e2_r, "
                  "se_e3, dpa1 without attention layers, and hybrids of them){}",
                  file.path(), what, way.empty() ? "" : "; " + way));
}

bool given(const Tree& owner, const char* key) {
  const Tree* value = owner.find(key);
  if (!value || value->is_null()) return false;
  if (value->is_list()) return !value->items().empty();
  if (value->is_scalar()) return value->as_text() != "false" && value->as_text() != "0";
  return true;
}

bool single_precision(const DpFile& file, const Tree& part, const char* name) {
  const std::string precision = part.has("precision") ? part.at("precision").as_text() : "default";
  if (precision == "default" || precision == "float64" || precision == "double") return false;
  if (precision == "float32" || precision == "single") return true;
  refuse(file, fmt::format("precision {} of the {}", precision, name));
}

namespace {

/// DeePMD-kit does not tell capitals from small letters.
Activation activation(const DpFile& file, std::string name) {
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (name == "none") return Activation::linear;
  if (name == "gelu_tf") return Activation::gelu;
  if (const auto known = networks::activation_named(name)) return *known;
  refuse(file, fmt::format("activation function '{}'", name));
}

DenseLayer read_layer(const DpFile& file, const Tree& tree, int n_in) {
  const Tree& variables = tree.at("@variables");
  const auto shape = file.shape(variables.at("w").as_text());
  QUINTET_CHECK(shape.size() == 2 && static_cast<int>(shape[0]) == n_in && shape[1] > 0,
                "{}: a layer's weights ({}) have shape [{}], expected [{}, outputs]", file.path(),
                variables.at("w").as_text(), fmt::join(shape, ", "), n_in);
  DenseLayer layer;
  layer.n_in = n_in;
  layer.n_out = shape[1];
  layer.weight = file.array(tree, "w");
  layer.bias = file.array(tree, "b", -1);
  if (layer.bias.empty()) layer.bias.assign(layer.n_out, 0.0);
  layer.timestep = file.array(tree, "idt", -1);
  if (layer.timestep.empty()) layer.timestep.assign(layer.n_out, 1.0);
  QUINTET_CHECK(std::ssize(layer.bias) == layer.n_out && std::ssize(layer.timestep) == layer.n_out,
                "{}: a layer of {} outputs has {} biases and {} time steps", file.path(), layer.n_out,
                layer.bias.size(), layer.timestep.size());
  layer.activation = activation(file, tree.at("activation_function").as_text());
  if (given(tree, "resnet")) {
    if (layer.n_out == layer.n_in) layer.skip = DenseLayer::Skip::identity;
    if (layer.n_out == 2 * layer.n_in) layer.skip = DenseLayer::Skip::doubled;
  }
  return layer;
}

}  // namespace

Network read_network(const DpFile& file, const Tree& tree, int n_in) {
  Network network;
  for (const auto& layer : tree.at("layers").items()) {
    network.layers.push_back(read_layer(file, layer, n_in));
    n_in = network.layers.back().n_out;
  }
  QUINTET_CHECK(!network.layers.empty(), "{}: a network without layers", file.path());
  return network;
}

std::vector<Network> read_networks(const DpFile& file, const Tree& collection, std::size_t expected,
                                   int n_in) {
  const auto& trees = collection.at("networks").items();
  QUINTET_CHECK(trees.size() == expected, "{}: {} networks in a collection, expected {}", file.path(),
                trees.size(), expected);
  std::vector<Network> networks;
  for (const auto& tree : trees) networks.push_back(read_network(file, tree, n_in));
  return networks;
}

std::vector<bool> read_pairs(const DpFile& file, const Tree& owner, const char* key, int n) {
  std::vector<bool> flags(std::int64_t{n} * n, false);
  if (!given(owner, key)) return flags;
  for (const auto& pair : owner.at(key).items()) {
    const auto& ends = pair.items();
    QUINTET_CHECK(ends.size() == 2, "{}: {} holds an entry of {} types, expected pairs", file.path(), key,
                  ends.size());
    const long a = ends[0].as_integer(), b = ends[1].as_integer();
    QUINTET_CHECK(a >= 0 && a < n && b >= 0 && b < n, "{}: {} names the pair [{}, {}] of {} types",
                  file.path(), key, a, b, n);
    flags[a * n + b] = flags[b * n + a] = true;
  }
  return flags;
}

namespace {

std::vector<bool> read_types(const DpFile& file, const Tree& owner, const char* key, int n) {
  std::vector<bool> flags(n, false);
  if (!given(owner, key)) return flags;
  for (const auto& type : owner.at(key).items()) {
    QUINTET_CHECK(type.as_integer() >= 0 && type.as_integer() < n, "{}: {} names type {} of {}", file.path(),
                  key, type.as_integer(), n);
    flags[type.as_integer()] = true;
  }
  return flags;
}

/// Parameters of a `kind`, fparam or aparam, that a model has seen, and those it falls back on.
Model::ReadParameters read_parameters(const DpFile& file, const Tree& fitting, const std::string& kind) {
  Model::ReadParameters parameters;
  const std::string number = "numb_" + kind, usual = "default_" + kind;
  if (!given(fitting, number.c_str())) return parameters;
  const long n = fitting.at(number).as_integer();
  QUINTET_CHECK(n > 0 && n < 10000, "{}: {} = {} makes no sense", file.path(), number, n);
  parameters.mean = file.array(fitting, kind + "_avg", n);
  parameters.inverse_deviation = file.array(fitting, kind + "_inv_std", n);
  if (parameters.mean.empty()) parameters.mean.assign(n, 0.0);
  if (parameters.inverse_deviation.empty()) parameters.inverse_deviation.assign(n, 1.0);
  if (given(fitting, usual.c_str()))
    for (const auto& value : fitting.at(usual).items()) parameters.usual.push_back(value.as_number());
  QUINTET_CHECK(parameters.usual.empty() || std::ssize(parameters.usual) == n,
                "{}: {} has {} numbers, {} is {}", file.path(), usual, parameters.usual.size(), number, n);
  return parameters;
}

/// The inputs of the fitting networks: where those that depend on the centre's type alone stand, none of
/// them a value yet, and how many there are.
std::vector<std::optional<double>> inputs_of(const std::vector<DpDescriptor>& descriptors, int type,
                                             int n_parameters) {
  std::vector<std::optional<double>> inputs;
  for (const auto& [model, constants, readers, mixed, single, version] : descriptors) {
    inputs.resize(inputs.size() + std::int64_t{model.n_channels()} * std::max(1, model.axis_neuron));
    if (!constants.empty()) inputs.insert(inputs.end(), constants[type].begin(), constants[type].end());
  }
  inputs.resize(inputs.size() + n_parameters);
  return inputs;
}

/// Take off what the networks give for a descriptor of zeros, of the types that atom_ener names (all, where
/// one network serves them): then an isolated atom has that energy, which bias_atom_e holds.
void take_off_vacuum(const DpFile& file, const Tree& fitting, Model& model) {
  if (!given(fitting, "atom_ener")) return;
  const auto& energies = fitting.at("atom_ener").items();
  const bool any = std::any_of(energies.begin(), energies.end(), [](const Tree& e) { return !e.is_null(); });
  if (!any) return;
  if (model.frame_parameters.count() + model.atom_parameters.count() > 0)
    refuse(file, "atom_ener together with parameters of frames or atoms (numb_fparam, numb_aparam)");
  for (std::size_t t = 0; t < model.fitting.size(); ++t) {
    if (!given(fitting, "mixed_types") && t < energies.size() && energies[t].is_null()) continue;
    const auto& network = model.fitting[t];
    model.atom_bias[t] -= outputs_of(network, std::vector<double>(network.n_in(), 0.0)).front();
  }
}

/// The fitting networks, one for each type: what depends on the centre's type alone becomes part of its
/// bias.
void read_fitting(const DpFile& file, const Tree& fitting, const std::vector<DpDescriptor>& descriptors,
                  Model& model) {
  if (fitting.has("type") && fitting.at("type").as_text() != "ener")
    refuse(file, fmt::format("fitting of '{}'", fitting.at("type").as_text()));
  for (const char* key : {"dim_case_embd", "spin"})
    if (given(fitting, key)) refuse(file, key);
  if (given(fitting, "numb_aparam") && given(fitting, "use_aparam_as_mask"))
    refuse(file, "use_aparam_as_mask");
  const int n = model.n_types();
  model.frame_parameters = read_parameters(file, fitting, "fparam");
  model.atom_parameters = read_parameters(file, fitting, "aparam");
  const bool mixed = given(fitting, "mixed_types");
  const int n_parameters = model.frame_parameters.count() + model.atom_parameters.count();
  const int n_in = inputs_of(descriptors, 0, n_parameters).size();
  model.fitting = read_networks(file, fitting.at("nets"), mixed ? 1 : n, n_in);
  if (descriptors.size() == 1 && descriptors.front().readers && model.frame_parameters.count() == 0) {
    model.readers = descriptors.front().readers;
    model.readers->fitting = model.fitting;
  }
  if (mixed) model.fitting.resize(n, Network(model.fitting.front()));
  for (const auto& network : model.fitting)
    QUINTET_CHECK(network.n_out() == 1, "{}: a fitting network of {} outputs, expected 1", file.path(),
                  network.n_out());
  model.atom_bias = file.array(fitting, "bias_atom_e", n);
  if (model.atom_bias.empty()) model.atom_bias.assign(n, 0.0);
  take_off_vacuum(file, fitting, model);
  for (int t = 0; t < n; ++t)
    if (const auto inputs = inputs_of(descriptors, t, n_parameters);
        std::any_of(inputs.begin(), inputs.end(), [](const auto& input) { return input.has_value(); }))
      model.fitting[t] = with_constants(std::move(model.fitting[t]), inputs);
  model.excluded_fitting = read_types(file, fitting, "exclude_types", n);
}

/// The descriptors of a model in the order in which its fitting networks read them.
std::vector<DpDescriptor> read_descriptors(const DpFile& file, const Tree& tree,
                                           const std::vector<std::string>& type_names) {
  std::vector<DpDescriptor> descriptors;
  if (tree.at("type").as_text() != "hybrid") {
    descriptors.push_back(read_descriptor(file, tree, type_names));
    return descriptors;
  }
  for (const auto& part : tree.at("list").items())
    descriptors.push_back(read_descriptor(file, part, type_names));
  QUINTET_CHECK(!descriptors.empty(), "{}: a hybrid of no descriptors", file.path());
  for (const auto& part : descriptors) {
    if (part.single != descriptors.front().single) refuse(file, "a hybrid of descriptors of two precisions");
    if (descriptors.size() > 1 && !part.model.tables.empty())
      refuse(file, "a compressed descriptor in a hybrid", "give the model that it was made from");
  }
  return descriptors;
}

}  // namespace

std::string advice_on_format(const std::string& path) {
  const std::filesystem::path name(path);
  const std::string ending = name.extension().string();
  for (const char* other : {".pb", ".pth", ".pt", ".pt2", ".savedmodel", ".jlo", ".hlo", ".pd"})
    if (ending == other)
      return fmt::format(
          "; it looks like a frozen model of another backend: dp convert-backend {} {}{}", path,
          std::filesystem::path(name).replace_extension(".dp").string(),
          ending == ".pth" || ending == ".pt" || ending == ".pt2"
              ? ", if DeePMD-kit froze it (dpmd run and evaluate take exported models as they are)"
              : "");
  return "";
}

const DpDocument::Array& DocumentSource::array(const std::string& name) const {
  const auto array = document_.arrays.find(name);
  QUINTET_CHECK(array != document_.arrays.end(), "{}: '{}' stands where an array is expected", path_, name);
  return array->second;
}

Model read_model(const std::string& path, const DpSource& source) {
  const DpFile file(path, source);
  try {
    const Tree& tree = file.model();
    if (tree.has("type") && tree.at("type").as_text() != "standard")
      refuse(file, fmt::format("a model of type '{}'", tree.at("type").as_text()));
    Model model;
    for (const auto& name : tree.at("type_map").items()) model.type_names.push_back(name.as_text());
    const int n = model.n_types();
    QUINTET_CHECK(n > 0 && n < 1000, "{}: type_map has {} entries", path, n);
    auto descriptors = read_descriptors(file, tree.at("descriptor"), model.type_names);
    for (auto& part : descriptors)
      part.model.excluded_pairs = read_pairs(file, tree, "pair_exclude_types", n);
    static_cast<DescriptorModel&>(model) = descriptors.front().model;
    for (std::size_t i = 1; i < descriptors.size(); ++i) model.further.push_back(descriptors[i].model);
    model.version = descriptors.front().version;
    model.single_precision = descriptors.front().single;
    read_fitting(file, tree.at("fitting"), descriptors, model);
    if (single_precision(file, tree.at("fitting"), "fitting") != model.single_precision)
      refuse(file, "a fitting of another precision than the descriptor's");
    model.output_bias = file.array(tree, "out_bias", n);
    if (model.output_bias.empty()) model.output_bias.assign(n, 0.0);
    model.excluded_atoms = read_types(file, tree, "atom_exclude_types", n);
    const auto least = file.array(file.top(), "min_nbor_dist");
    if (least.size() == 1) model.least_distance = least[0];
    return model;
  } catch (const InputError& error) {
    const std::string message = error.what();
    if (message.find(path) != std::string::npos) throw;
    throw InputError(path + ": " + message);
  }
}

}  // namespace quintet::potential
