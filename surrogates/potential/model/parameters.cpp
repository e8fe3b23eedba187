#include "surrogates/potential/model/parameters.hpp"

#include <algorithm>
#include <utility>

#include "surrogates/potential/model/chains.hpp"

namespace quintet::potential {

namespace {

/// Call body(numbers, their place) for each layer's weight, and, where they are trained, bias and time step.
template <class SomeNetwork, class Body>
void each_array(SomeNetwork& network, const std::vector<LayerPlace>& places, Body&& body,
                bool has_bias = true) {
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    auto& layer = network.layers[l];
    body(layer.weight, places[l].weight);
    if (has_bias) body(layer.bias, places[l].bias);
    if (places[l].has_timestep) body(layer.timestep, places[l].timestep);
  }
}

template <class SomeModel, class Body>
void each_array(SomeModel& model, const ParameterLayout& layout, Body&& body) {
  if (layout.is_of_readers) {
    auto& readers = *model.readers;
    each_array(readers.types, layout.types, body, readers.types_have_bias);
    each_array(readers.embedding, layout.embedding.front(), body);
    each_array(readers.gate, layout.gate, body);
    for (std::size_t i = 0; i < readers.fitting.size(); ++i)
      each_array(readers.fitting[i], layout.fitting[i], body);
    return;
  }
  for (std::size_t i = 0; i < model.embedding.size(); ++i)
    each_array(model.embedding[i], layout.embedding[i], body);
  for (std::size_t i = 0; i < model.gates.size(); ++i) body(model.gates[i], layout.gates[i]);
  for (std::size_t i = 0; i < model.fitting.size(); ++i)
    each_array(model.fitting[i], layout.fitting[i], body);
}

/// What copies an array to its place in `values`.
auto to_place_in(std::vector<double>& values) {
  return [&](const std::vector<double>& array, std::size_t at) {
    std::copy(array.begin(), array.end(), values.begin() + at);
  };
}

std::size_t n_parameters(const Network& network, const std::vector<LayerPlace>& places,
                         bool has_bias = true) {
  std::size_t n = 0;
  each_array(
      network, places, [&](const std::vector<double>& array, std::size_t) { n += array.size(); }, has_bias);
  return n;
}

}  // namespace

std::vector<LayerPlace> places_of(const Network& network, std::size_t first, bool has_bias) {
  std::vector<LayerPlace> places;
  std::size_t at = first;
  for (const auto& layer : network.layers) {
    LayerPlace place;
    place.weight = at;
    place.bias = at += layer.weight.size();
    place.timestep = at += has_bias ? layer.bias.size() : 0;
    place.has_timestep =
        std::any_of(layer.timestep.begin(), layer.timestep.end(), [](double idt) { return idt != 1.0; });
    if (place.has_timestep) at += layer.timestep.size();
    places.push_back(place);
  }
  return places;
}

std::vector<double> parameters_of(const Network& network, const std::vector<LayerPlace>& places) {
  std::vector<double> values(n_parameters(network, places));
  each_array(network, places, to_place_in(values));
  return values;
}

ParameterLayout::ParameterLayout(const Model& model) : is_of_readers(model.readers.has_value()) {
  const auto place = [&](const Network& network, bool has_bias = true) {
    auto places = places_of(network, size, has_bias);
    size += n_parameters(network, places, has_bias);
    return places;
  };
  if (is_of_readers) {
    types = place(model.readers->types, model.readers->types_have_bias);
    embedding.push_back(place(model.readers->embedding));
    gate = place(model.readers->gate);
    for (const auto& network : model.readers->fitting) fitting.push_back(place(network));
    return;
  }
  for (const auto& network : model.embedding) embedding.push_back(place(network));
  for (const auto& channels : model.gates) {
    gates.push_back(size);
    size += channels.size();
  }
  for (const auto& network : model.fitting) fitting.push_back(place(network));
}

std::vector<double> parameters_of(const Model& model, const ParameterLayout& layout) {
  std::vector<double> values(layout.size);
  each_array(model, layout, to_place_in(values));
  return values;
}

void set_parameters(Model& model, const ParameterLayout& layout, const double* values) {
  each_array(model, layout, [&](std::vector<double>& array, std::size_t at) {
    std::copy_n(values + at, array.size(), array.begin());
  });
  if (layout.is_of_readers) resolve_types(model);
}

namespace {

/// The way back from the networks that readers of types give to the readers: S_bar for each of their numbers.
template <class Real>
class ReadersGradient {
 public:
  ReadersGradient(const Model& model, const ParameterLayout& places, Real* gradient)
      : model_(model),
        readers_(*model.readers),
        places_(places),
        gradient_(gradient),
        embeddings_(type_embeddings(readers_.types)),
        embeddings_bar_(embeddings_.size(), std::vector<double>(readers_.types.n_out(), 0.0)) {}

  void add_embeddings(const ParameterLayout& given, const Real* of_given) {
    const int n = model_.n_types();
    if (readers_.has_gate())
      return add_network(readers_.embedding, places_.embedding.front(), 1, given.embedding.front(), of_given,
                         {});
    for (int neighbour = 0, i = 0; neighbour < n; ++neighbour)
      for (int centre = 0; centre < (model_.type_one_side ? 1 : n); ++centre, ++i)
        add_network(readers_.embedding, places_.embedding.front(), 1, given.embedding[i], of_given,
                    read(neighbour, centre));
  }
  void add_gates(const ParameterLayout& given, const Real* of_given) {
    if (!readers_.has_gate()) return;
    const int n = model_.n_types();
    std::vector<std::vector<double>> inputs, bars;
    for (int neighbour = 0; neighbour < n; ++neighbour)
      for (int centre = 0; centre < n; ++centre) {
        inputs.push_back(pair_embedding(embeddings_, model_.type_one_side, neighbour, centre));
        const Real* bar = of_given + given.gates[model_.pair_index(centre, neighbour)];
        bars.emplace_back(bar, bar + readers_.gate.n_out());
      }
    const auto inputs_bar = back(readers_.gate, places_.gate, inputs, bars, true);
    for (int neighbour = 0; neighbour < n; ++neighbour)
      for (int centre = 0; centre < n; ++centre)
        add_to_read(read(neighbour, centre), inputs_bar[std::int64_t{neighbour} * n + centre].data());
  }
  void add_fittings(const ParameterLayout& given, const Real* of_given) {
    for (int t = 0; t < model_.n_types(); ++t) {
      const std::size_t i = readers_.fitting.size() == 1 ? 0 : t;
      const int n_behind = model_.atom_parameters.count();
      add_network(readers_.fitting[i], places_.fitting[i], model_.fitting[t].n_in() - n_behind,
                  given.fitting[t], of_given,
                  readers_.fitting_reads_types ? std::vector<int>{t} : std::vector<int>{}, n_behind);
    }
  }
  /// Last, once all have said what they want of the embeddings.
  void add_types() {
    const int n = model_.n_types();
    std::vector<std::vector<double>> units(n, std::vector<double>(n, 0.0));
    for (int t = 0; t < n; ++t) units[t][t] = 1;
    static_cast<void>(back(readers_.types, places_.types, units, embeddings_bar_, readers_.types_have_bias));
  }

 private:
  /// Types whose embeddings a network of a pair reads.
  [[nodiscard]] std::vector<int> read(int neighbour, int centre) const {
    return model_.type_one_side ? std::vector<int>{neighbour} : std::vector<int>{neighbour, centre};
  }
  void add_to_read(const std::vector<int>& types, const double* bar) {
    for (const int t : types)
      for (double& to : embeddings_bar_[t]) to += *bar++;
  }
  template <class From>
  void add(std::size_t to, const From* from, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) gradient_[to + k] += static_cast<Real>(from[k]);
  }
  /// z = x W + (b + e W_e) + a W_a: of a network that reads the embeddings e of some types after its first
  /// `n_read` inputs, and `n_behind` numbers a after them.
  void add_network(const Network& network, const std::vector<LayerPlace>& places, int n_read,
                   const std::vector<LayerPlace>& given, const Real* of_given, const std::vector<int>& types,
                   int n_behind = 0) {
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
      const auto& layer = network.layers[l];
      const std::size_t n_out = layer.n_out, n_in = l == 0 ? n_read : layer.n_in;
      add(places[l].weight, of_given + given[l].weight, n_in * n_out);
      const std::size_t behind = l == 0 ? n_behind * n_out : 0;
      add(places[l].weight + layer.weight.size() - behind, of_given + given[l].weight + n_in * n_out, behind);
      add(places[l].bias, of_given + given[l].bias, n_out);
      if (places[l].has_timestep) add(places[l].timestep, of_given + given[l].timestep, n_out);
    }
    const auto& first = network.layers.front();
    const Real* bias_bar = of_given + given.front().bias;
    std::size_t row = std::int64_t{n_read} * first.n_out;
    std::vector<double> bar;
    for (const int t : types)
      for (const double value : embeddings_[t]) {
        double sum = 0;
        for (int o = 0; o < first.n_out; ++o) {
          gradient_[places.front().weight + row + o] += static_cast<Real>(value * bias_bar[o]);
          sum += first.weight[row + o] * bias_bar[o];
        }
        bar.push_back(sum);
        row += first.n_out;
      }
    add_to_read(types, bar.data());
  }
  /// Through a network from the adjoint of its outputs to that of its inputs, for some inputs.
  std::vector<std::vector<double>> back(const Network& network, const std::vector<LayerPlace>& places,
                                        const std::vector<std::vector<double>>& inputs,
                                        const std::vector<std::vector<double>>& outputs_bar, bool has_bias) {
    const std::int64_t n_in = network.n_in(), room = padded(network.n_in(), pack_width<double>);
    const int n = static_cast<int>(inputs.size());
    const auto chain = embedding_chain<double>(network);
    networks::Tape<double> tape;
    AlignedVector<double> x(n * n_in), x_bar(n * room + pack_width<double>);
    for (int i = 0; i < n; ++i) std::copy(inputs[i].begin(), inputs[i].end(), x.begin() + i * n_in);
    chain.forward({x.data(), network.n_in()}, n, networks::Keep::gradient, tape);
    auto& y_bar = tape.layers.back().y_bar;
    std::fill(y_bar.begin(), y_bar.end(), 0.0);
    for (std::int64_t i = 0; i < n; ++i)
      std::copy(outputs_bar[i].begin(), outputs_bar[i].end(), y_bar.begin() + i * chain.stride());
    const auto own = places_of(network);
    std::vector<double> of_network(n_parameters(network, own), 0.0);
    chain.gradient({x.data(), network.n_in()}, tape, of_network.data(),
                   {x_bar.data(), static_cast<int>(room)});
    for (std::size_t l = 0; l < own.size(); ++l) {
      const auto& layer = network.layers[l];
      add(places[l].weight, of_network.data() + own[l].weight, layer.weight.size());
      if (has_bias) add(places[l].bias, of_network.data() + own[l].bias, layer.bias.size());
      if (own[l].has_timestep)
        add(places[l].timestep, of_network.data() + own[l].timestep, layer.bias.size());
    }
    std::vector<std::vector<double>> inputs_bar;
    for (int i = 0; i < n; ++i)
      inputs_bar.emplace_back(x_bar.begin() + i * room, x_bar.begin() + i * room + n_in);
    return inputs_bar;
  }

  const Model& model_;
  const TypeReaders& readers_;
  const ParameterLayout& places_;
  Real* gradient_;
  std::vector<std::vector<double>> embeddings_, embeddings_bar_;  ///< [n_types][width]
};

}  // namespace

template <class Real>
void add_gradient_of_readers(const Model& model, const ParameterLayout& places, const ParameterLayout& given,
                             const Real* of_given, Real* gradient) {
  ReadersGradient<Real> way(model, places, gradient);
  way.add_embeddings(given, of_given);
  way.add_gates(given, of_given);
  way.add_fittings(given, of_given);
  way.add_types();
}

template void add_gradient_of_readers(const Model&, const ParameterLayout&, const ParameterLayout&,
                                      const float*, float*);
template void add_gradient_of_readers(const Model&, const ParameterLayout&, const ParameterLayout&,
                                      const double*, double*);

}  // namespace quintet::potential
