#include "surrogates/potential/training/initialise.hpp"

#include <algorithm>
#include <cmath>

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
  layer.weight = normal.draw(static_cast<std::size_t>(n_in) * n_out, 0, 1 / std::sqrt(n_in + n_out));
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

void add_networks(Model& model, const NetworkOptions& options) {
  const std::size_t n = model.type_names.size();
  for (std::size_t k = 0; k < (options.type_one_side ? n : n * n); ++k)
    model.embedding.push_back(random_network(1, options.embedding, options.embedding_activation,
                                             options.embedding_timestep,
                                             Normal(options.seed, stream_of_embeddings, k), false));
  const int size = options.embedding.back() * options.axis_neuron;
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
  model.type_names = options.type_map;
  model.rcut = options.rcut;
  model.rcut_smooth = options.rcut_smooth;
  model.protection = options.protection;
  model.axis_neuron = options.axis_neuron;
  model.type_one_side = options.type_one_side;
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
  for (std::size_t t = 0; t < model.sel.size(); ++t)
    if (model.sel[t] > 0 && model.sel[t] < census.most_neighbours[t])
      log::warning(
          "sel is {} for type {}, but atoms of the data have up to {} such neighbours within {} angstrom: "
          "the farthest will be ignored and the energy jumps; give {} or more, or auto",
          model.sel[t], model.type_names[t], census.most_neighbours[t], model.rcut,
          census.most_neighbours[t]);
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
  QUINTET_CHECK(options.sel.empty() || n_types == 0 || static_cast<int>(options.sel.size()) == n_types,
                "sel has {} entries for {} types [{}]; expected one a type, or auto", options.sel.size(),
                n_types, fmt::join(options.type_map, ", "));
  for (const int n : options.sel)
    QUINTET_CHECK(n >= 0 && n < 100000, "sel [{}] holds {}; expected 0 to 99999",
                  fmt::join(options.sel, ", "), n);
  QUINTET_CHECK(
      options.sel.empty() || std::any_of(options.sel.begin(), options.sel.end(), [](int n) { return n > 0; }),
      "sel [{}] leaves no room for neighbours", fmt::join(options.sel, ", "));
  validate_widths(options.embedding, "the embedding network");
  validate_widths(options.fitting, "the fitting network");
  QUINTET_CHECK(options.axis_neuron >= 1 && options.axis_neuron <= options.embedding.back(),
                "axis_neuron is {}; expected 1 to {}, the embedding's last width", options.axis_neuron,
                options.embedding.back());
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
  model.sel = options.sel.empty() ? automatic_sel(census) : options.sel;
  warn_of_overflow(model, census);
  add_networks(model, options);
  set_statistics(model, systems, options.statistics_frames, options.set_davg_zero);
  set_energy_bias(model, systems);
  return model;
}

}  // namespace quintet::potential
