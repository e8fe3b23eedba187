#include "surrogates/potential/model/chains.hpp"

#include "io/log/error.hpp"

namespace quintet::potential {

using networks::Chain;
using networks::LayerSpec;

namespace {

std::vector<LayerSpec> specs_of(const Network& network, const std::vector<LayerPlace>& places,
                                const std::string& input) {
  std::vector<LayerSpec> specs;
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const auto& dense = network.layers[l];
    LayerSpec spec;
    spec.name = fmt::format("layer_{}", l + 1);
    spec.input = l == 0 ? input : specs.back().name;
    if (dense.skip != DenseLayer::Skip::none) spec.skip = spec.input;
    spec.n_in = dense.n_in;
    spec.n_out = dense.n_out;
    spec.activation = dense.activation;
    spec.place = places[l];
    specs.push_back(std::move(spec));
  }
  return specs;
}

template <class Real>
void take_weights(Chain<Real>& chain, const Network& network, const std::vector<LayerPlace>& places) {
  const auto values = parameters_of(network, places);
  chain.refresh(values.data());
}

}  // namespace

template <class Real>
Chain<Real> embedding_chain(const Network& network, const std::vector<LayerPlace>& places,
                            const std::string& input) {
  return {input, network.n_in(), specs_of(network, places, input)};
}

template <class Real>
Chain<Real> embedding_chain(const Network& network) {
  const auto places = places_of(network);
  auto chain = embedding_chain<Real>(network, places);
  take_weights(chain, network, places);
  return chain;
}

FittingInputs::FittingInputs(const Model& model, int pack) : pack_(pack) {
  for (int i = 0; i < model.n_descriptors(); ++i) {
    const auto& part = model.descriptor(i);
    descriptors.emplace_back(part.n_channels(), part.axis_neuron, pack);
    for (const int place : descriptors.back().tied()) tied.push_back(size + place);
    offset.push_back(size);
    size += descriptors.back().size();
  }
  n_parameters = model.atom_parameters.count();
  for (int k = 0; k < n_parameters; ++k) tied.push_back(size++);
}

namespace {

template <class Real>
Chain<Real> chain_of(const Network& network, const std::vector<LayerPlace>& places, int size,
                     std::vector<int> tied) {
  const auto& last = network.layers.back();
  QUINTET_CHECK(
      last.activation == Activation::linear && last.skip == DenseLayer::Skip::none && last.n_out == 1 &&
          network.layers.size() > 1,
      "a fitting network must end with a linear layer of one output after at least one hidden layer");
  auto specs = specs_of(network, places, "D");
  specs.back().name = "energy";
  return {"D", size, specs, Chain<Real>::Output::sum, std::move(tied)};
}

}  // namespace

template <class Real>
Chain<Real> fitting_chain(const Network& network, const std::vector<LayerPlace>& places,
                          const Descriptor& descriptor) {
  return chain_of<Real>(network, places, descriptor.size(), descriptor.tied());
}

template <class Real>
Chain<Real> fitting_chain(const Network& network, const Descriptor& descriptor) {
  const auto places = places_of(network);
  auto chain = fitting_chain<Real>(network, places, descriptor);
  take_weights(chain, network, places);
  return chain;
}

template <class Real>
Chain<Real> fitting_chain(const Network& network, const std::vector<LayerPlace>& places,
                          const FittingInputs& inputs) {
  return chain_of<Real>(network, places, inputs.size, inputs.tied);
}

template <class Real>
Chain<Real> fitting_chain(const Network& network, const FittingInputs& inputs) {
  const auto places = places_of(network);
  auto chain = fitting_chain<Real>(network, places, inputs);
  take_weights(chain, network, places);
  return chain;
}

namespace {

/// What the rows of an embedding network are, in the order in which networks stand.
NetworkDescription embedding_of(const DescriptorModel& model, int network) {
  NetworkDescription result{.kind = NetworkDescription::Kind::embedding};
  const int n = static_cast<int>(model.n_types()), n_networks = static_cast<int>(model.embedding.size());
  const auto& names = model.type_names;
  if (n_networks == 1 && n > 1) {
    result.title = "embedding network of all neighbours";
  } else if (model.kind == DescriptorKind::se_e3) {
    int u = 0;
    for (; network > u; ++u) network -= u + 1;
    result.neighbours = {network, u};
    result.title = fmt::format("embedding network of pairs of {} and {}", names[network], names[u]);
  } else {
    const bool pairs = n_networks == n * n && !model.type_one_side;
    result.neighbours = {pairs ? network / n : network};
    if (pairs) result.centre = network % n;
    result.title = fmt::format("embedding network of {} neighbours{}", names[result.neighbours.front()],
                               pairs ? " around " + names[*result.centre] : "");
  }
  return result;
}

template <class Real>
std::vector<NetworkDescription> describe_in(const Model& model, bool training) {
  using networks::Keep;
  std::vector<NetworkDescription> all;
  for (int i = 0; i < model.n_descriptors(); ++i) {
    const auto& part = model.descriptor(i);
    const char* input = part.kind == DescriptorKind::se_e3 ? "R_j.R_k" : "s";
    for (int n = 0; n < std::ssize(part.embedding); ++n) {
      const auto& network = part.embedding[n];
      auto& one = all.emplace_back(embedding_of(part, n));
      if (i > 0) one.title += fmt::format(", descriptor {}", i + 1);
      one.chain = training
                      ? embedding_chain<double>(network, places_of(network), input).describe(Keep::gradient)
                      : embedding_chain<Real>(network, places_of(network), input).describe(Keep::adjoint);
    }
  }
  const FittingInputs inputs(model, pack_width<Real>);
  // A network that all types share was read once; copies of it differ in the biases of their first layer
  // alone.
  const bool shared = model.readers && model.readers->fitting.size() == 1;
  for (int t = 0; t < (shared ? 1 : std::ssize(model.fitting)); ++t) {
    const auto& network = model.fitting[t];
    auto& one = all.emplace_back();
    one.kind = NetworkDescription::Kind::fitting;
    if (!shared) one.centre = t;
    one.title = "fitting network of " + (shared ? "all types" : model.type_names[t]);
    one.chain = chain_of<Real>(network, places_of(network), inputs.size, inputs.tied)
                    .describe(training ? Keep::tangent : Keep::adjoint);
  }
  return all;
}

}  // namespace

std::vector<NetworkDescription> describe_networks(const Model& given, bool training) {
  // Any values of frame parameters: what is described is what is evaluated.
  const Model model = with_frame_parameters(given, given.frame_parameters.mean);
  return model.single_precision ? describe_in<float>(model, training) : describe_in<double>(model, training);
}

template Chain<float> embedding_chain(const Network&, const std::vector<LayerPlace>&, const std::string&);
template Chain<double> embedding_chain(const Network&, const std::vector<LayerPlace>&, const std::string&);
template Chain<float> embedding_chain(const Network&);
template Chain<double> embedding_chain(const Network&);
template Chain<float> fitting_chain(const Network&, const std::vector<LayerPlace>&, const Descriptor&);
template Chain<double> fitting_chain(const Network&, const std::vector<LayerPlace>&, const Descriptor&);
template Chain<float> fitting_chain(const Network&, const std::vector<LayerPlace>&, const FittingInputs&);
template Chain<double> fitting_chain(const Network&, const std::vector<LayerPlace>&, const FittingInputs&);
template Chain<float> fitting_chain(const Network&, const FittingInputs&);
template Chain<double> fitting_chain(const Network&, const FittingInputs&);
template Chain<float> fitting_chain(const Network&, const Descriptor&);
template Chain<double> fitting_chain(const Network&, const Descriptor&);

}  // namespace quintet::potential
