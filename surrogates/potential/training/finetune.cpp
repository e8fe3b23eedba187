#include "surrogates/potential/training/finetune.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "surrogates/potential/training/initialise.hpp"
#include "surrogates/potential/training/least_squares.hpp"

// with_types(): places of the new types among the old ones, then
//
//   1. for_types()       what there is a number or flag of for each type, or pair of types
//   2. set_statistics()  davg and dstd of new centres
//   3. networks          known ones as they are, new ones drawn; those of new neighbours silent at empty
//   slots
//   4. keep_scale()      known fitting networks see the descriptor that they know
//
// Of dpa1 the networks stay, and sel of all types: set_readers() keeps and adds rows of the one that embeds
// types. Their slots are not theirs alone, so types may also go.
namespace quintet::potential {

namespace {

/// Index among the types of `from`; -1: new.
std::vector<int> places_of(const Model& from, const std::vector<std::string>& type_names) {
  std::vector<std::string> missing;
  for (const auto& name : from.type_names)
    if (std::find(type_names.begin(), type_names.end(), name) == type_names.end()) missing.push_back(name);
  QUINTET_CHECK(
      missing.empty() || from.readers,
      "initial_model: model.type_map [{}] lacks {}, which the model has: add it (its slots are part of "
      "every descriptor; a type without atoms costs little)",
      fmt::join(type_names, ", "), fmt::join(missing, ", "));
  std::vector<int> places;
  for (const auto& name : type_names) {
    const auto at = std::find(from.type_names.begin(), from.type_names.end(), name);
    places.push_back(at == from.type_names.end() ? -1 : at - from.type_names.begin());
  }
  return places;
}

template <class T>
std::vector<T> for_types(const std::vector<T>& of, const std::vector<int>& places, const T& otherwise) {
  std::vector<T> result;
  if (of.empty()) return result;
  for (const int place : places) result.push_back(place < 0 ? otherwise : of[place]);
  return result;
}

std::vector<bool> for_pairs(const std::vector<bool>& of, const std::vector<int>& places, std::size_t n_old) {
  std::vector<bool> result;
  if (of.empty()) return result;
  for (const int a : places)
    for (const int b : places) result.push_back(a >= 0 && b >= 0 && of[a * n_old + b]);
  return result;
}

/// Refuse what cannot make room for new types.
void require_room(const Model& from) {
  for (const auto& network : from.embedding) {
    for (const auto& layer : network.layers) {
      double at_zero = 0, slope = 0;
      with_activation(layer.activation, [&]<Activation A>() { activate<A, double, 1>(0.0, at_zero, slope); });
      QUINTET_CHECK(at_zero == 0,
                    "initial_model: its embedding networks have an activation that is not 0 at 0 (sigmoid, "
                    "softplus): types cannot be added to it; train a new model");
    }
    QUINTET_CHECK(
        network.layers.front().skip == DenseLayer::Skip::none,
        "initial_model: the first layer of its embedding networks has a skip (width {}): types cannot "
        "be added to it; train a new model",
        network.layers.front().n_out);
  }
  for (const auto& network : from.fitting)
    QUINTET_CHECK(
        network.layers.front().skip == DenseLayer::Skip::none,
        "initial_model: the first layer of its fitting networks has a skip, as the descriptor has its "
        "width ({}) or half of it: types cannot be added to it; train a new model",
        network.layers.front().n_out);
}

/// Refuse new types where their empty slots would change what se_e3 knows: theta = |mean/deviation|^2 there.
void require_centred(const Model& from) {
  for (const auto& mean : from.mean)
    QUINTET_CHECK(mean[1] == 0 && mean[2] == 0 && mean[3] == 0,
                  "initial_model: its davg of directions is not 0 (davg[1:4] of se_e3): empty slots of a new "
                  "type would change its energies; train a new model");
}

/// s of an empty slot of a centre.
double empty_s(const Model& model, int centre) { return -model.mean[centre][0] / model.deviation[centre][0]; }

/// The s at which a network of a new neighbour must be 0: that of its known centre, or the mean of all.
double silent_at(const Model& model, const std::vector<int>& places, int centre) {
  if (centre >= 0) return empty_s(model, centre);
  double sum = 0, n = 0;
  for (int t = 0; t < model.n_types(); ++t)
    if (places[t] >= 0) {
      sum += empty_s(model, t);
      ++n;
    }
  return sum / n;
}

/// Biases with which a network of activations that are 0 at 0 is 0 at s.
void silence(Network& network, double s) {
  for (auto& layer : network.layers) std::fill(layer.bias.begin(), layer.bias.end(), 0.0);
  auto& first = network.layers.front();
  for (int o = 0; o < first.n_out; ++o) first.bias[o] = -s * first.weight[o];
}

void set_embeddings(Model& model, const Model& from, const std::vector<int>& places, std::uint64_t seed) {
  const int n = model.n_types();
  const auto& like = from.embedding.front();
  model.embedding.assign(model.type_one_side ? n : std::int64_t{n} * n, {});
  for (int neighbour = 0; neighbour < n; ++neighbour)
    for (int centre = 0; centre < (model.type_one_side ? 1 : n); ++centre) {
      const int index = model.network_index(centre, neighbour), known = places[neighbour];
      Network& network = model.embedding[index];
      if (known >= 0 && (model.type_one_side || places[centre] >= 0)) {
        network = from.embedding[from.network_index(std::max(places[centre], 0), known)];
        continue;
      }
      network = drawn_embedding(like, seed, index);
      if (known >= 0 || (!model.type_one_side && places[centre] < 0)) continue;
      silence(network, silent_at(model, places, model.type_one_side ? -1 : centre));
    }
}

/// Of se_e3: networks of pairs of types that are known stay. New ones need no silence, as empty slots without
/// davg[1:4] add 0.
void set_pairs(Model& model, const Model& from, const std::vector<int>& places, std::uint64_t seed) {
  model.embedding.assign(model.n_networks(), {});
  for (int u = 0; u < model.n_types(); ++u)
    for (int t = 0; t <= u; ++t) {
      const int index = model.network_index(t, u);
      const bool is_known = places[t] >= 0 && places[u] >= 0;
      model.embedding[index] = is_known ? from.embedding[from.network_index(places[t], places[u])]
                                        : drawn_embedding(from.embedding.front(), seed, index);
    }
}

void set_fittings(Model& model, const Model& from, const std::vector<int>& places, std::uint64_t seed) {
  // D goes as T or T^2, and T as 1/n_slots; of se_e3 each pair of types has a factor of its own.
  const double slots =
      model.kind == DescriptorKind::se_e3 ? 1 : static_cast<double>(model.n_slots()) / from.n_slots();
  const double scale = model.kind == DescriptorKind::se_e2_r ? slots : slots * slots;
  model.fitting.clear();
  for (std::size_t t = 0; t < places.size(); ++t) {
    model.fitting.push_back(places[t] >= 0 ? from.fitting[places[t]]
                                           : drawn_fitting(from.fitting.front(), seed, t));
    if (places[t] < 0 || slots == 1) continue;
    DenseLayer& first = model.fitting.back().layers.front();
    const int n_numbers = first.n_in - model.atom_parameters.count();  // of the descriptor
    for (std::int64_t k = 0; k < std::int64_t{n_numbers} * first.n_out; ++k) first.weight[k] *= scale;
  }
}

/// The network of types for others: theirs by name, new ones drawn. Its skip, which goes by a type's place,
/// becomes part of the matrix.
Network types_network(const Network& from, const std::vector<int>& places, std::uint64_t seed) {
  Network network = from;
  DenseLayer& layer = network.layers.front();
  bool is_same = std::ssize(places) == layer.n_in;
  for (std::size_t t = 0; t < places.size(); ++t) is_same = is_same && places[t] == static_cast<int>(t);
  if (is_same) return network;
  if (layer.skip != DenseLayer::Skip::none) {
    QUINTET_CHECK(
        layer.activation == Activation::linear &&
            std::all_of(layer.timestep.begin(), layer.timestep.end(), [](double t) { return t == 1; }),
        "initial_model: the network that embeds its types has a skip round a layer that is not linear "
        "(width {}, {}): the types cannot change; train a new model",
        layer.n_out, counted(layer.n_in, "type"));
    for (int o = 0; o < layer.n_out; ++o) layer.weight[std::int64_t{o % layer.n_in} * layer.n_out + o] += 1;
    layer.skip = DenseLayer::Skip::none;
  }
  DenseLayer drawn = layer;
  drawn.n_in = static_cast<int>(places.size());
  drawn.weight.resize(std::int64_t{drawn.n_in} * drawn.n_out);
  Network like;
  like.layers = {drawn};
  drawn = drawn_embedding(like, seed, index_of_types).layers.front();
  for (std::size_t t = 0; t < places.size(); ++t)
    if (places[t] >= 0)
      std::copy_n(layer.weight.begin() + std::int64_t{places[t]} * layer.n_out, layer.n_out,
                  drawn.weight.begin() + std::int64_t{layer.n_out} * static_cast<int>(t));
  layer.n_in = drawn.n_in;
  layer.weight = std::move(drawn.weight);
  return network;
}

/// Networks that read types need no others for new ones; one fitting network for each type does.
void set_readers(Model& model, const Model& from, const std::vector<int>& places, std::uint64_t seed) {
  auto& readers = *model.readers;
  readers.types = types_network(from.readers->types, places, seed);
  if (from.readers->fitting.size() > 1) {
    readers.fitting.clear();
    for (std::size_t t = 0; t < places.size(); ++t)
      readers.fitting.push_back(places[t] >= 0 ? from.readers->fitting[places[t]]
                                               : drawn_fitting(from.readers->fitting.front(), seed, t));
  }
  resolve_types(model);
}

}  // namespace

Model with_types(const Model& from, const std::vector<std::string>& type_names,
                 const std::vector<LabelledSystem>& systems, const NeighbourCensus& census,
                 int frames_a_system, std::uint64_t seed) {
  const auto places = places_of(from, type_names);
  const std::size_t n_old = from.type_names.size();
  Model model = from;
  model.type_names = type_names;
  model.atom_bias = for_types(from.atom_bias, places, 0.0);
  model.output_bias = for_types(from.output_bias, places, 0.0);
  model.excluded_descriptor_pairs = for_pairs(from.excluded_descriptor_pairs, places, n_old);
  model.excluded_pairs = for_pairs(from.excluded_pairs, places, n_old);
  model.excluded_atoms = for_types(from.excluded_atoms, places, false);
  model.excluded_fitting = for_types(from.excluded_fitting, places, false);
  if (!from.readers) model.sel = for_types(from.sel, places, 0);
  const bool is_new = std::find(places.begin(), places.end(), -1) != places.end();
  if (is_new) {
    if (!from.readers) {
      model.kind == DescriptorKind::se_e3 ? require_centred(from) : require_room(from);
      const auto counted = automatic_sel(census);
      for (std::size_t t = 0; t < places.size(); ++t)
        if (places[t] < 0) model.sel[t] = std::max(counted[t], 4);
    }
    const bool zero_mean =
        std::all_of(from.mean.begin(), from.mean.end(), [](const auto& m) { return m[0] == 0; });
    set_statistics(model, systems, frames_a_system, zero_mean);
  }
  model.mean.resize(places.size());
  model.deviation.resize(places.size());
  for (std::size_t t = 0; t < places.size(); ++t) {
    if (places[t] < 0) continue;
    model.mean[t] = from.mean[places[t]];
    model.deviation[t] = from.deviation[places[t]];
  }
  if (from.readers) {
    set_readers(model, from, places, seed);
    return model;
  }
  if (model.kind == DescriptorKind::se_e3)
    set_pairs(model, from, places, seed);
  else
    set_embeddings(model, from, places, seed);
  set_fittings(model, from, places, seed);
  return model;
}

std::vector<double> change_energy_bias(Model& model, const std::vector<LabelledSystem>& systems,
                                       const std::vector<FrameOfSystem>& frames,
                                       const std::function<double(std::size_t)>& prediction) {
  const std::size_t n_types = model.type_names.size();
  std::vector<double> rows, values;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const auto& frame = systems[frames[k].system].frames[frames[k].frame];
    if (!frame.energy) continue;
    std::vector<double> count(n_types, 0.0);
    for (const int t : frame.types)
      if (model.excluded_atoms.empty() || !model.excluded_atoms[t]) ++count[t];
    rows.insert(rows.end(), count.begin(), count.end());
    values.push_back(*frame.energy - prediction(k));
  }
  const auto change = least_squares(rows, n_types, values);
  for (std::size_t t = 0; t < n_types; ++t) model.output_bias[t] += change[t];
  return change;
}

}  // namespace quintet::potential
