#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "surrogates/networks/activation_names.hpp"
#include "surrogates/potential/model/dp_source.hpp"

namespace quintet::potential {

namespace {

/// The tree and the arrays of one model, with the file's name in every complaint.
class DpFile {
 public:
  DpFile(const std::string& path, const DpSource& source) : path_(path), source_(source) {
    QUINTET_CHECK(source.tree().has("model"), "{}: the model description has no entry 'model'", path);
  }

  [[nodiscard]] const Tree& model() const { return source_.tree().at("model"); }
  [[nodiscard]] const Tree& top() const { return source_.tree(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Values of the array `owner["@variables"][name]`; empty if null or absent. Expects `n` values if n >= 0.
  [[nodiscard]] std::vector<double> array(const Tree& owner, const std::string& name, long n = -1) const {
    const Tree* variables = owner.find("@variables");
    const Tree* entry = variables ? variables->find(name) : nullptr;
    if (!entry || entry->is_null()) return {};
    return dataset(entry->as_text(), name, n);
  }
  [[nodiscard]] std::vector<double> dataset(const std::string& dataset, const std::string& meaning,
                                            long n) const {
    auto values = source_.values(dataset);
    QUINTET_CHECK(n < 0 || static_cast<long>(values.size()) == n, "{}: {} ({}) holds {} values, expected {}",
                  path_, meaning, dataset, values.size(), n);
    for (std::size_t i = 0; i < values.size(); ++i)
      QUINTET_CHECK(std::isfinite(values[i]), "{}: {} ({}) is {} at position {}: the model is damaged", path_,
                    meaning, dataset, values[i], i);
    return values;
  }
  [[nodiscard]] std::vector<std::uint64_t> shape(const std::string& dataset) const {
    return source_.shape(dataset);
  }

 private:
  std::string path_;
  const DpSource& source_;
};

[[noreturn]] void refuse(const DpFile& file, const std::string& what) {
  throw InputError(fmt::format(
      "{}: {} is not supported (dpmd runs energy models with the descriptor se_e2_a)", file.path(), what));
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

Activation activation(const DpFile& file, const std::string& name) {
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
  layer.n_out = static_cast<int>(shape[1]);
  layer.weight = file.array(tree, "w");
  layer.bias = file.array(tree, "b", -1);
  if (layer.bias.empty()) layer.bias.assign(layer.n_out, 0.0);
  layer.timestep = file.array(tree, "idt", -1);
  if (layer.timestep.empty()) layer.timestep.assign(layer.n_out, 1.0);
  QUINTET_CHECK(static_cast<int>(layer.bias.size()) == layer.n_out &&
                    static_cast<int>(layer.timestep.size()) == layer.n_out,
                "{}: a layer of {} outputs has {} biases and {} time steps", file.path(), layer.n_out,
                layer.bias.size(), layer.timestep.size());
  layer.activation = activation(file, tree.at("activation_function").as_text());
  if (given(tree, "resnet")) {
    if (layer.n_out == layer.n_in) layer.skip = DenseLayer::Skip::identity;
    if (layer.n_out == 2 * layer.n_in) layer.skip = DenseLayer::Skip::doubled;
  }
  return layer;
}

std::vector<Network> read_networks(const DpFile& file, const Tree& collection, std::size_t expected,
                                   int n_in) {
  const auto& trees = collection.at("networks").items();
  QUINTET_CHECK(trees.size() == expected, "{}: {} networks in a collection, expected {}", file.path(),
                trees.size(), expected);
  std::vector<Network> networks;
  for (const auto& tree : trees) {
    Network network;
    int width = n_in;
    for (const auto& layer : tree.at("layers").items()) {
      network.layers.push_back(read_layer(file, layer, width));
      width = network.layers.back().n_out;
    }
    QUINTET_CHECK(!network.layers.empty(), "{}: a network without layers", file.path());
    networks.push_back(std::move(network));
  }
  return networks;
}

/// mean and deviation [n_types][4]; the file keeps them per slot, equal in all slots.
std::vector<std::array<double, 4>> read_statistics(const DpFile& file, const Tree& descriptor,
                                                   const char* name, int n_types, int n_slots) {
  const auto values = file.array(descriptor, name, 4L * n_types * n_slots);
  QUINTET_CHECK(!values.empty(), "{}: the descriptor has no {}", file.path(), name);
  std::vector<std::array<double, 4>> statistics(n_types);
  for (int t = 0; t < n_types; ++t)
    for (int slot = 0; slot < n_slots; ++slot)
      for (int c = 0; c < 4; ++c) {
        const double value = values[(static_cast<std::size_t>(t) * n_slots + slot) * 4 + c];
        if (slot == 0) statistics[t][c] = value;
        if (value != statistics[t][c])
          refuse(file, fmt::format("a descriptor whose {} differs between neighbour slots", name));
      }
  return statistics;
}

QuinticTable read_table(const DpFile& file, const std::string& data, const std::string& info,
                        int n_channels) {
  const auto numbers = file.dataset(info, "compress_info", 6);
  QuinticTable table;
  table.lower = numbers[0];
  table.upper = numbers[1];
  table.maximum = numbers[2];
  table.stride = {numbers[3], numbers[4]};
  table.n_channels = n_channels;
  QUINTET_CHECK(
      table.stride[0] > 0 && table.stride[1] > 0 && table.upper > table.lower && table.maximum >= table.upper,
      "{}: compression table {} has the impossible ranges [{}]", file.path(), info, fmt::join(numbers, ", "));
  const double rows = std::round((table.upper - table.lower) / table.stride[0]) +
                      std::round((table.maximum - table.upper) / table.stride[1]);
  table.coefficients = file.dataset(data, "compress_data", static_cast<long>(rows) * 6 * n_channels);
  return table;
}

void read_tables(const DpFile& file, const Tree& descriptor, Model& model) {
  const Tree& variables = descriptor.at("compress").at("@variables");
  const auto& data = variables.at("compress_data").items();
  const auto& info = variables.at("compress_info").items();
  QUINTET_CHECK(data.size() == model.embedding.size() && info.size() == data.size(),
                "{}: {} compression tables and {} table ranges for {} embedding networks", file.path(),
                data.size(), info.size(), model.embedding.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto shape = file.shape(data[i].as_text());
    const bool excluded =
        std::find(shape.begin(), shape.end(), 0u) != shape.end();  // a net that no pair uses
    model.tables.push_back(excluded
                               ? QuinticTable{}
                               : read_table(file, data[i].as_text(), info[i].as_text(), model.n_channels()));
  }
}

// Every number is held against the others before an array is made by it: the file is other people's.
void read_descriptor(const DpFile& file, const Tree& descriptor, Model& model) {
  const std::string type = descriptor.at("type").as_text();
  if (type != "se_e2_a" && type != "se_a") refuse(file, fmt::format("descriptor '{}'", type));
  if (given(descriptor, "spin")) refuse(file, "spin");
  model.version = static_cast<int>(descriptor.has("@version") ? descriptor.at("@version").as_integer() : 1);
  QUINTET_CHECK(model.version <= 3, "{}: descriptor version {} is newer than this program knows (3)",
                file.path(), model.version);
  model.rcut = descriptor.at("rcut").as_number();
  model.rcut_smooth = descriptor.at("rcut_smth").as_number();
  if (const Tree* p = descriptor.find("env_protection")) model.protection = p->as_number();
  if (const Tree* env = descriptor.find("env_mat"); env && given(*env, "use_exp_switch"))
    refuse(file, "use_exp_switch");
  QUINTET_CHECK(
      model.rcut > 0 && model.rcut < 1000 && model.rcut_smooth >= 0 && model.rcut_smooth < model.rcut,
      "{}: cutoffs rcut_smth = {}, rcut = {} angstrom make no sense (0 <= rcut_smth < rcut expected)",
      file.path(), model.rcut_smooth, model.rcut);
  for (const auto& n : descriptor.at("sel").items()) model.sel.push_back(static_cast<int>(n.as_integer()));
  QUINTET_CHECK(static_cast<int>(model.sel.size()) == model.n_types(), "{}: sel has {} entries for {} types",
                file.path(), model.sel.size(), model.n_types());
  for (int n : model.sel) QUINTET_CHECK(n >= 0 && n < 100000, "{}: sel = {} makes no sense", file.path(), n);
  QUINTET_CHECK(model.n_slots() > 0, "{}: sel leaves no room for neighbours", file.path());
  model.axis_neuron = static_cast<int>(descriptor.at("axis_neuron").as_integer());
  model.type_one_side = !descriptor.has("type_one_side") || descriptor.at("type_one_side").as_boolean();

  const std::size_t n = model.n_types();
  model.embedding = read_networks(file, descriptor.at("embeddings"), model.type_one_side ? n : n * n, 1);
  for (const auto& network : model.embedding)
    QUINTET_CHECK(network.n_out() == model.n_channels(), "{}: embedding networks of {} and {} outputs",
                  file.path(), network.n_out(), model.n_channels());
  QUINTET_CHECK(model.axis_neuron > 0 && model.axis_neuron <= model.n_channels(),
                "{}: axis_neuron = {} with {} embedding outputs", file.path(), model.axis_neuron,
                model.n_channels());
  model.mean = read_statistics(file, descriptor, "davg", model.n_types(), model.n_slots());
  model.deviation = read_statistics(file, descriptor, "dstd", model.n_types(), model.n_slots());
  for (const auto& row : model.deviation)
    for (double d : row) QUINTET_CHECK(d > 0, "{}: dstd holds {}, positive values expected", file.path(), d);
  if (descriptor.has("compress") && !descriptor.at("compress").is_null())
    read_tables(file, descriptor, model);
}

/// A symmetric list of type pairs as flags [n * n].
std::vector<bool> read_pairs(const DpFile& file, const Tree& owner, const char* key, int n) {
  std::vector<bool> flags(static_cast<std::size_t>(n) * n, false);
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

void read_fitting(const DpFile& file, const Tree& fitting, Model& model) {
  if (fitting.has("type") && fitting.at("type").as_text() != "ener")
    refuse(file, fmt::format("fitting of '{}'", fitting.at("type").as_text()));
  for (const char* key : {"numb_fparam", "numb_aparam", "dim_case_embd", "mixed_types", "atom_ener", "spin"})
    if (given(fitting, key)) refuse(file, key);
  const int n = model.n_types();
  model.fitting = read_networks(file, fitting.at("nets"), n, model.n_channels() * model.axis_neuron);
  for (const auto& network : model.fitting)
    QUINTET_CHECK(network.n_out() == 1, "{}: a fitting network of {} outputs, expected 1", file.path(),
                  network.n_out());
  model.atom_bias = file.array(fitting, "bias_atom_e", n);
  if (model.atom_bias.empty()) model.atom_bias.assign(n, 0.0);
  model.excluded_fitting = read_types(file, fitting, "exclude_types", n);
}

}  // namespace

std::string advice_on_format(const std::string& path) {
  const std::filesystem::path name(path);
  const std::string ending = name.extension().string();
  for (const char* other : {".pb", ".pth", ".pt", ".pt2", ".savedmodel", ".jlo", ".hlo", ".pd"})
    if (ending == other)
      return fmt::format("; it looks like a frozen model of another backend: dp convert-backend {} {}", path,
                         std::filesystem::path(name).replace_extension(".dp").string());
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
    const Tree& descriptor = tree.at("descriptor");
    read_descriptor(file, descriptor, model);
    read_fitting(file, tree.at("fitting"), model);
    model.single_precision = single_precision(file, descriptor, "descriptor");
    if (single_precision(file, tree.at("fitting"), "fitting") != model.single_precision)
      refuse(file, "a fitting of another precision than the descriptor's");
    model.output_bias = file.array(tree, "out_bias", n);
    if (model.output_bias.empty()) model.output_bias.assign(n, 0.0);
    model.excluded_descriptor_pairs = read_pairs(file, descriptor, "exclude_types", n);
    model.excluded_pairs = read_pairs(file, tree, "pair_exclude_types", n);
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
