#include "surrogates/potential/training/initialise.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/kernels/random.hpp"

namespace quintet::potential {

namespace {

// Streams of random numbers of one seed; the network's index has the upper half of the id.
constexpr std::uint32_t stream_of_embeddings = 0x5A11, stream_of_fittings = 0x5A12;

/// Standard normal numbers of one network, in single precision (see initial_model()).
class Normal {
 public:
  Normal(std::uint64_t seed, std::uint32_t stream, std::size_t network)
      : seed_(seed), stream_(stream), network_(network << 16) {}
  [[nodiscard]] std::vector<double> draw(std::size_t n, double mean, double deviation) {
    std::vector<double> values(n);
    for (double& value : values) {
      double x, y;
      normal_pair(seed_, stream_, network_, draws_++, x, y);
      value = mean + deviation * (static_cast<float>(x));
    }
    return values;
  }

 private:
  std::uint64_t seed_;
  std::uint32_t stream_;
  std::uint64_t network_, draws_ = 0;
};

/// @param timestep whether the layer has one, if it has a skip (DeePMD-kit's resnet_dt).
DenseLayer random_layer(int n_in, int n_out, Activation activation, DenseLayer::Skip skip, bool timestep,
                        Normal& normal) {
  DenseLayer layer;
  layer.n_in = n_in;
  layer.n_out = n_out;
  layer.activation = activation;
  layer.skip = skip;
  layer.weight = normal.draw(std::int64_t{n_in} * n_out, 0, 1 / std::sqrt(n_in + n_out));
  layer.bias = normal.draw(n_out, 0, 1);
  if (timestep && skip != DenseLayer::Skip::none)
    layer.timestep = normal.draw(n_out, 0.1, 0.001);
  else
    layer.timestep.assign(n_out, 1.0);
  return layer;
}

DenseLayer::Skip skip_of(int n_in, int n_out) {
  if (n_out == n_in) return DenseLayer::Skip::identity;
  if (n_out == 2 * n_in) return DenseLayer::Skip::doubled;
  return DenseLayer::Skip::none;
}

Network random_network(int n_in, const std::vector<int>& widths, Activation activation, bool timestep,
                       Normal normal, bool energy) {
  Network network;
  for (const int width : widths) {
    network.layers.push_back(random_layer(n_in, width, activation, skip_of(n_in, width), timestep, normal));
    n_in = width;
  }
  if (energy)
    network.layers.push_back(
        random_layer(n_in, 1, Activation::linear, DenseLayer::Skip::none, false, normal));
  return network;
}

/// Inputs of a network that reads the embeddings of a pair of types, and `others`.
int inputs_with_pair(const NetworkOptions& options, int others) {
  return others + options.type_width * (options.type_one_side ? 1 : 2);
}

/// Inputs of dpa1's fitting network: D, the embedding of the atom's type, its parameters.
int inputs_of_fitting(const NetworkOptions& options) {
  return options.embedding.back() * options.axis_neuron +
         (options.fitting_reads_types ? options.type_width : 0) + options.n_atom_parameters;
}

/// Networks of dpa1. The one of types has a matrix alone: a bias would be the same for all of them.
void add_readers(Model& model, const NetworkOptions& options) {
  const auto network = [&](int n_in, std::size_t index) {
    return random_network(n_in, options.embedding, options.embedding_activation, options.embedding_timestep,
                          Normal(options.seed, stream_of_embeddings, index), false);
  };
  TypeReaders readers;
  readers.embedding = network(options.has_gate ? 1 : inputs_with_pair(options, 1), 0);
  if (options.has_gate) readers.gate = network(inputs_with_pair(options, 0), 1);
  readers.types = random_network(model.n_types(), {options.type_width}, Activation::linear, false,
                                 Normal(options.seed, stream_of_embeddings, index_of_types), false);
  auto& bias = readers.types.layers.front().bias;
  std::fill(bias.begin(), bias.end(), 0.0);
  readers.fitting.push_back(random_network(inputs_of_fitting(options), options.fitting,
                                           options.fitting_activation, options.fitting_timestep,
                                           Normal(options.seed, stream_of_fittings, 0), true));
  readers.fitting_reads_types = options.fitting_reads_types;
  model.readers = std::move(readers);
  resolve_types(model);
}

void add_networks(Model& model, const NetworkOptions& options) {
  if (model.kind == DescriptorKind::dpa1) return add_readers(model, options);
  const std::size_t n = model.type_names.size();
  for (std::size_t k = 0; k < model.n_networks(); ++k)
    model.embedding.push_back(random_network(1, options.embedding, options.embedding_activation,
                                             options.embedding_timestep,
                                             Normal(options.seed, stream_of_embeddings, k), false));
  const int size = options.embedding.back() * std::max(model.axis_neuron, 1) + options.n_atom_parameters;
  for (std::size_t t = 0; t < n; ++t)
    model.fitting.push_back(random_network(size, options.fitting, options.fitting_activation,
                                           options.fitting_timestep,
                                           Normal(options.seed, stream_of_fittings, t), true));
}

/// Symmetric flags [n_types * n_types] of pairs.
std::vector<bool> flags(const std::vector<std::array<int, 2>>& pairs, std::size_t n) {
  std::vector<bool> result(n * n, false);
  for (const auto& [a, b] : pairs) result[a * n + b] = result[b * n + a] = true;
  return result;
}

/// What the options say of a model, without the data's part and the networks.
Model without_networks(const NetworkOptions& options) {
  Model model;
  const std::size_t n = options.type_map.size();
  const std::vector<double> none(options.n_atom_parameters, 0.0);
  model.atom_parameters.mean = model.atom_parameters.inverse_deviation = none;  // until the data tell
  model.type_names = options.type_map;
  model.rcut = options.rcut;
  model.rcut_smooth = options.rcut_smooth;
  model.protection = options.protection;
  model.kind = options.kind;
  model.axis_neuron = has_axis(options.kind) ? options.axis_neuron : 0;
  model.type_one_side = options.kind == DescriptorKind::se_e2_r ||
                        (options.kind != DescriptorKind::se_e3 && options.type_one_side);
  model.smooth_gates = options.kind == DescriptorKind::dpa1 && options.has_gate && options.smooth_gates;
  model.single_precision = options.single_precision;
  model.atom_bias.assign(n, 0.0);
  model.excluded_descriptor_pairs = flags(options.excluded_descriptor_pairs, n);
  model.excluded_pairs = flags(options.excluded_pairs, n);
  model.excluded_atoms.assign(n, false);
  for (const int type : options.excluded_atoms) model.excluded_atoms[type] = true;
  model.excluded_fitting.assign(n, false);
  return model;
}

void warn_of_overflow(const Model& model, const NeighbourCensus& census) {
  const auto most = census.most_of(model.kind);
  for (std::size_t t = 0; t < model.sel.size(); ++t)
    if (model.sel[t] > 0 && model.sel[t] < most[t])
      log::warning(
          "sel is {} for {}, but atoms of the data have up to {} such neighbours within {} angstrom: "
          "the farthest will be ignored and the energy jumps; give {} or more, or auto",
          model.sel[t], model.kind == DescriptorKind::dpa1 ? "all types" : "type " + model.type_names[t],
          most[t], model.rcut, most[t]);
}

/// What networks read of types becomes part of their first layer's bias, which no skip may go round.
void validate_readers(const NetworkOptions& options) {
  QUINTET_CHECK(options.type_width >= 1 && options.type_width <= 10000,
                "types are embedded in {} numbers; expected 1 to 10000", options.type_width);
  const int n_embedding = inputs_with_pair(options, 1), n_fitting = inputs_of_fitting(options);
  QUINTET_CHECK(options.has_gate || skip_of(n_embedding, options.embedding.front()) == DenseLayer::Skip::none,
                "the embedding network has {} inputs, s and embeddings of types, and a first layer of width "
                "{}, which would add them to its outputs: choose another width of that layer or of the "
                "embeddings of types",
                n_embedding, options.embedding.front());
  QUINTET_CHECK(
      !options.fitting_reads_types || skip_of(n_fitting, options.fitting.front()) == DenseLayer::Skip::none,
      "the fitting network has {} inputs, with the embedding of a type, and a first layer of width "
      "{}, which would add them to its outputs: choose another width of that layer",
      n_fitting, options.fitting.front());
}

void validate_widths(const std::vector<int>& widths, const char* what) {
  QUINTET_CHECK(!widths.empty(), "{} has no layers; expected widths such as [25, 50, 100]", what);
  for (const int n : widths)
    QUINTET_CHECK(n >= 1 && n <= 100000, "{} [{}] has a layer of width {}; expected 1 to 100000", what,
                  fmt::join(widths, ", "), n);
}

void validate_type(int type, int n_types, const char* what) {
  QUINTET_CHECK(type >= 0 && type < n_types, "{} names type {}; expected 0 to {}", what, type, n_types - 1);
}

void validate_pairs(const std::vector<std::array<int, 2>>& pairs, int n_types, const char* what) {
  for (const auto& pair : pairs)
    for (const int type : pair) validate_type(type, n_types, what);
}

Network redrawn(const Network& like, Normal normal) {
  Network network;
  for (const auto& layer : like.layers) {
    const bool has_timestep =
        std::any_of(layer.timestep.begin(), layer.timestep.end(), [](double step) { return step != 1; });
    network.layers.push_back(
        random_layer(layer.n_in, layer.n_out, layer.activation, layer.skip, has_timestep, normal));
  }
  return network;
}

}  // namespace

Network drawn_embedding(const Network& like, std::uint64_t seed, std::size_t index) {
  return redrawn(like, Normal(seed, stream_of_embeddings, index));
}

Network drawn_fitting(const Network& like, std::uint64_t seed, std::size_t index) {
  return redrawn(like, Normal(seed, stream_of_fittings, index));
}

void validate(const NetworkOptions& options) {
  const int n_types = options.type_map.size();
  auto names = options.type_map;
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  QUINTET_CHECK(n_types < 1000 && twice == names.end(),
                "type_map [{}] names a type twice; expected the model's types, each once",
                fmt::join(options.type_map, ", "));
  QUINTET_CHECK(options.rcut > 0 && options.rcut < 1000 && options.rcut_smooth >= 0 &&
                    options.rcut_smooth < options.rcut,
                "cutoffs are rcut_smooth = {} and rcut = {} angstrom; expected 0 <= rcut_smooth < rcut",
                options.rcut_smooth, options.rcut);
  QUINTET_CHECK(options.protection >= 0, "protection is {} angstrom; expected 0 or more", options.protection);
  const bool is_dpa1 = options.kind == DescriptorKind::dpa1;
  QUINTET_CHECK(options.sel.empty() || n_types == 0 || std::ssize(options.sel) == (is_dpa1 ? 1 : n_types),
                "sel has {} entries for {} types [{}]; expected {}, or auto", options.sel.size(), n_types,
                fmt::join(options.type_map, ", "), is_dpa1 ? "one for all types" : "one a type");
  for (const int n : options.sel)
    QUINTET_CHECK(n >= 0 && n < 100000, "sel [{}] holds {}; expected 0 to 99999",
                  fmt::join(options.sel, ", "), n);
  QUINTET_CHECK(
      options.sel.empty() || std::any_of(options.sel.begin(), options.sel.end(), [](int n) { return n > 0; }),
      "sel [{}] leaves no room for neighbours", fmt::join(options.sel, ", "));
  QUINTET_CHECK(options.kind != DescriptorKind::se_e3 ||
                    std::none_of(options.sel.begin(), options.sel.end(), [](int n) { return n == 0; }),
                "sel [{}] holds 0, by which the descriptor se_e3 divides; expected 1 or more",
                fmt::join(options.sel, ", "));
  validate_widths(options.embedding, "the embedding network");
  validate_widths(options.fitting, "the fitting network");
  QUINTET_CHECK(options.kind != DescriptorKind::se_e2_r || options.excluded_descriptor_pairs.empty(),
                "exclude_types of a descriptor se_e2_r is not supported; the model's pair_exclude_types is");
  QUINTET_CHECK(!has_axis(options.kind) ||
                    (options.axis_neuron >= 1 && options.axis_neuron <= options.embedding.back()),
                "axis_neuron is {}; expected 1 to {}, the embedding's last width", options.axis_neuron,
                options.embedding.back());
  if (is_dpa1) validate_readers(options);
  QUINTET_CHECK(options.statistics_frames >= 1,
                "statistics are to be taken of {} frames a system; expected 1 or more",
                options.statistics_frames);
  if (n_types == 0) return;  // the data will tell
  validate_pairs(options.excluded_descriptor_pairs, n_types, "the descriptor's exclude_types");
  validate_pairs(options.excluded_pairs, n_types, "pair_exclude_types");
  for (const int type : options.excluded_atoms) validate_type(type, n_types, "atom_exclude_types");
}

Model initial_model(const NetworkOptions& options, const std::vector<LabelledSystem>& systems) {
  validate(options);
  return initial_model(options, systems, count_neighbours(systems, options.type_map.size(), options.rcut));
}

Model initial_model(const NetworkOptions& options, const std::vector<LabelledSystem>& systems,
                    const NeighbourCensus& census) {
  validate(options);
  QUINTET_CHECK(!options.type_map.empty() && !systems.empty(),
                "a model cannot be made without types and data");
  QUINTET_CHECK(census.most_neighbours.size() == options.type_map.size(),
                "neighbours of {} types were counted, but the model has {}", census.most_neighbours.size(),
                options.type_map.size());
  Model model = without_networks(options);
  model.least_distance = census.least_distance;
  model.sel = options.sel.empty() ? automatic_sel(census, model.kind) : options.sel;
  warn_of_overflow(model, census);
  add_networks(model, options);
  // Without smooth gates what empty slots add would depend on the type of an atom that is not there.
  const bool has_no_mean = model.kind == DescriptorKind::dpa1 && !model.smooth_gates;
  set_statistics(model, systems, options.statistics_frames, options.set_davg_zero || has_no_mean);
  set_parameter_statistics(model, systems, options.n_atom_parameters);
  set_energy_bias(model, systems);
  return model;
}

}  // namespace quintet::potential
