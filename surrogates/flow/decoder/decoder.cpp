#include "surrogates/flow/decoder/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "io/log/error.hpp"
#include "physics/kernels/random.hpp"
#include "surrogates/flow/decoder/decoder_layer.hpp"

/// The decoder's shape and parameters; its passes are in decoder_passes.cpp.
namespace quintet::flow {

namespace {
constexpr std::uint32_t stream_of_decoder = 0x5A31;

/// Pair the units of the last hidden layer so that what they add up to is 0, up to rounding.
///
/// Two units read the same and are read with opposite signs; one that is left over is not read. Weights of 0
/// in the last layer would give 0 as well. But softplus is positive, so their first steps have one sign for
/// all units, and the layer follows as one: at a large rate to softplus(-100), where no gradient is left.
/// Source: Zhang et al. 2020 (arXiv 1905.07777), antisymmetrical initialisation.
template <class Real>
void pair_units(const std::vector<DecoderLayer<Real>>& layers, std::vector<double>& parameters) {
  const auto &last = layers.back(), &hidden = layers[layers.size() - 2];
  const int n = hidden.n_out, n_paired = n - n % 2;
  for (std::size_t row = hidden.weight; row <= hidden.bias; row += n)
    for (int unit = 1; unit < n_paired; unit += 2) parameters[row + unit] = parameters[row + unit - 1];
  double* const read = &parameters[last.weight];  // [unit][field], then the biases
  for (int i = 0; i < (n + 1) * last.n_out; ++i) {
    const int unit = i / last.n_out;
    if (unit >= n_paired) read[i] = 0;
    if (unit < n_paired && unit % 2 == 1) read[i] = -read[i - last.n_out];
  }
}
}  // namespace

template <class Real>
Decoder<Real>::Decoder(const DecoderOptions& options) : state_(std::make_unique<State>()) {
  QUINTET_CHECK(options.n_latent >= 1 && options.n_fields >= 1,
                "The decoder has {} latents and {} fields; each must be 1 at least.", options.n_latent,
                options.n_fields);
  QUINTET_CHECK(!options.adds_known_fields || options.n_latent > options.n_fields,
                "The decoder has {} latents, of which {} are known fields; one more is needed.",
                options.n_latent, options.n_fields);
  QUINTET_CHECK(!options.widths.empty(), "The decoder has no hidden layer; give it one width at least.");
  for (const int width : options.widths)
    QUINTET_CHECK(width >= 1, "A hidden layer of the decoder is {} wide; it must be 1 at least.", width);
  state_->options = options;
  const int n_hidden_layers = options.widths.size();
  std::size_t place = 0;
  for (int l = 0; l <= n_hidden_layers; ++l) {
    DecoderLayer<Real> layer;
    const bool last = l == n_hidden_layers;
    layer.name = "fc" + std::to_string(l);
    layer.n_hidden = l == 0 ? 0 : options.widths[l - 1];
    layer.n_out = last ? options.n_fields : options.widths[l];
    layer.stride = padded(layer.n_out, pack_width<Real>);
    layer.reads_input = l == 0 || (options.repeat_input && !last);
    layer.activation = last ? Activation::linear : options.activation;
    layer.weight = place;
    place += static_cast<std::size_t>(layer.n_hidden + (layer.reads_input ? n_axes + options.n_latent : 0)) *
             layer.n_out;
    layer.bias = place;
    place += layer.n_out;
    layer.coordinates.assign(std::size_t{n_axes} * layer.stride, Real(0));
    layer.bias_row.assign(layer.stride, Real(0));
    state_->layers.push_back(std::move(layer));
  }
  state_->n_parameters = place;
}

template <class Real>
Decoder<Real>::~Decoder() = default;
template <class Real>
Decoder<Real>::Decoder(Decoder&&) noexcept = default;

template <class Real>
const DecoderOptions& Decoder<Real>::options() const {
  return state_->options;
}

template <class Real>
std::size_t Decoder<Real>::n_parameters() const {
  return state_->n_parameters;
}

template <class Real>
std::vector<double> Decoder<Real>::initial_parameters(std::uint64_t seed) const {
  std::vector<double> parameters(n_parameters());
  for (const auto& layer : state_->layers) {
    const std::size_t end = layer.bias + layer.n_out;
    const double bound = 1 / std::sqrt(static_cast<double>((layer.bias - layer.weight) / layer.n_out));
    for (std::size_t i = layer.weight; i < end; ++i) {
      double u, v;
      uniform_pair(seed, stream_of_decoder, i, 0, u, v);
      parameters[i] = static_cast<float>(bound * (2 * u - 1));
    }
  }
  if (state_->options.adds_known_fields) pair_units(state_->layers, parameters);
  return parameters;
}

template <class Real>
networks::ChainDescription Decoder<Real>::describe() const {
  const auto& options = state_->options;
  networks::ChainDescription chain;
  chain.input = "place and latents";
  chain.n_in = n_axes + options.n_latent;
  for (const auto& layer : state_->layers) {
    networks::LayerSpec spec;
    spec.name = layer.name;
    spec.input = &layer == state_->layers.data() ? chain.input : (&layer)[-1].name;
    spec.n_in = layer.n_hidden + (layer.reads_input ? chain.n_in : 0);
    spec.n_out = layer.n_out;
    spec.activation = layer.activation;
    auto block = describe_layer(spec, spec.n_in, sizeof(Real), pack_width<Real>, networks::Keep::adjoint);
    if (layer.reads_input && layer.n_hidden > 0) block.inputs.push_back(chain.input);
    chain.blocks.push_back(std::move(block));
  }
  return chain;
}

template <class Real>
template <class Source>
void Decoder<Real>::refresh(const Source* parameters) {
  std::vector<Real> weights;
  const int n_latent = state_->options.n_latent;
  state_->has_bf16 = false;
  for (auto& layer : state_->layers) {
    weights.assign(parameters + layer.weight, parameters + layer.bias);
    const Real* from = weights.data();
    if (layer.n_hidden > 0) {
      layer.hidden.assign(from, layer.n_hidden, layer.n_out);
      layer.hidden_transposed.assign(from, layer.n_out, layer.n_hidden, true);
      from += std::int64_t{layer.n_hidden} * layer.n_out;
    }
    if (layer.reads_input) {
      for (int i = 0; i < n_axes; ++i, from += layer.n_out)
        std::copy_n(from, layer.n_out, layer.coordinates.data() + std::int64_t{i} * layer.stride);
      layer.latent.assign(from, n_latent, layer.n_out);
      layer.latent_transposed.assign(from, layer.n_out, n_latent, true);
    }
    for (int o = 0; o < layer.n_out; ++o) layer.bias_row[o] = static_cast<Real>(parameters[layer.bias + o]);
  }
}

template <class Real>
void Decoder<Real>::prepare_bf16(const float* parameters) {
  if (!std::is_same_v<Real, float>) throw InternalError("bfloat16 stands in for float alone");
  for (auto& layer : state_->layers)
    if (layer.n_hidden > 0)
      layer.hidden_bf16.assign(parameters + layer.weight, layer.n_out, layer.n_hidden, layer.n_out);
  state_->has_bf16 = true;
}

template class Decoder<float>;
template class Decoder<double>;
template void Decoder<float>::refresh(const float*);
template void Decoder<float>::refresh(const double*);
template void Decoder<double>::refresh(const float*);
template void Decoder<double>::refresh(const double*);

}  // namespace quintet::flow
