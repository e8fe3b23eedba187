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
Chain<Real> fitting_chain(const Network& network, const FittingInputs& inputs) {
  const auto places = places_of(network);
  auto chain = chain_of<Real>(network, places, inputs.size, inputs.tied);
  take_weights(chain, network, places);
  return chain;
}

namespace {

std::string title_of(const DescriptorModel& model, std::size_t network) {
  if (model.embedding.size() == 1 && model.n_types() > 1) return "embedding network of all neighbours";
  const std::size_t n = model.n_types();
  if (model.kind == DescriptorKind::se_e3)
    for (std::size_t u = 0, i = 0; u < n; ++u)
      for (std::size_t t = 0; t <= u; ++t, ++i)
        if (i == network)
          return fmt::format("embedding network of pairs of {} and {}", model.type_names[t],
                             model.type_names[u]);
  const bool pairs = model.embedding.size() == n * n && !model.type_one_side;
  return fmt::format("embedding network of {} neighbours{}", model.type_names[pairs ? network / n : network],
                     pairs ? " around " + model.type_names[network % n] : "");
}

template <class Real>
std::vector<NetworkDescription> describe_in(const Model& model, bool training) {
  using networks::Keep;
  std::vector<NetworkDescription> all;
  for (int i = 0; i < model.n_descriptors(); ++i) {
    const auto& part = model.descriptor(i);
    const char* input = part.kind == DescriptorKind::se_e3 ? "R_j.R_k" : "s";
    for (std::size_t n = 0; n < part.embedding.size(); ++n) {
      const auto& network = part.embedding[n];
      all.push_back(
          {title_of(part, n) + (i > 0 ? fmt::format(", descriptor {}", i + 1) : ""),
           training ? embedding_chain<double>(network, places_of(network), input).describe(Keep::gradient)
                    : embedding_chain<Real>(network, places_of(network), input).describe(Keep::adjoint)});
    }
  }
  const FittingInputs inputs(model, pack_width<Real>);
  for (std::size_t t = 0; t < model.fitting.size(); ++t) {
    const auto& network = model.fitting[t];
    all.push_back({"fitting network of " + model.type_names[t],
                   chain_of<Real>(network, places_of(network), inputs.size, inputs.tied)
                       .describe(training ? Keep::tangent : Keep::adjoint)});
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
template Chain<float> fitting_chain(const Network&, const FittingInputs&);
template Chain<double> fitting_chain(const Network&, const FittingInputs&);
template Chain<float> fitting_chain(const Network&, const Descriptor&);
template Chain<double> fitting_chain(const Network&, const Descriptor&);

}  // namespace quintet::potential
