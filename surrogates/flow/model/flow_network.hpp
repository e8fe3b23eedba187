#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "io/parallel/comm_fwd.hpp"
#include "surrogates/flow/decoder/autograd/torch_decoder.hpp"
#include "surrogates/flow/decoder/decoder.hpp"
#include "surrogates/flow/encoder/unet.hpp"
#include "surrogates/flow/model/flow_inference.hpp"

namespace quintet::flow {

/// Engine that runs the networks.
enum class Engine {
  host,  ///< LibTorch, with normalisations, decoder and losses of this project on the host's cores
  torch  ///< LibTorch's operators and automatic differentiation alone, wherever its tensors are
};

/// Encoder and decoder of a model; it owns neither weights nor statistics. Instantiated for float and double.
template <class Real>
class FlowNetwork {
 public:
  /// @param tiles layers that compute in tiles, see Unet
  explicit FlowNetwork(const FlowModelHeader& header, const LayerTiles& tiles = {},
                       Engine engine = Engine::host);

  [[nodiscard]] const FlowNetworkSize& size() const { return size_; }
  [[nodiscard]] const Unet& encoder() const { return encoder_; }
  /// Decoder of a continuous model; its parameters follow those of the encoder.
  [[nodiscard]] Decoder<Real>& decoder() { return *decoder_; }
  [[nodiscard]] bool is_continuous() const { return decoder_ != nullptr; }
  /// Number of the decoder's block among tensors().
  [[nodiscard]] int decoder_block() const { return n_encoder_blocks_; }
  /// The blocks that have parameters: the encoder's, then the decoder as one.
  [[nodiscard]] std::vector<BlockTensors> tensors() const;
  /// The parameters of each of them, as parts of one array.
  [[nodiscard]] std::vector<at::Tensor> parts(const at::Tensor& parameters) const;
  [[nodiscard]] std::vector<double> initial_parameters(std::uint64_t seed) const;
  [[nodiscard]] std::vector<double> initial_statistics() const { return encoder_.initial_statistics(); }
  /// Blocks of both: shapes, parameters, flops, bytes; the encoder's for a block of this shape, the decoder's
  /// for a node's view of a point.
  [[nodiscard]] networks::ChainDescription describe(const GridShape& shape) const;

  /// Latents [sample, t, z, x, latent] (with a base the last ones are the coarse fields; convolutional:
  /// normalised fields on the fine grid) of features [sample, feature, t, z, x].
  /// By the running statistics. @param parameters of blocks of tensors()
  [[nodiscard]] at::Tensor encode(const BlockParameters& parameters, const at::Tensor& features,
                                  const at::Tensor& statistics) const;
  /// By those of a batch that the ranks share (collective); `pass` takes on the encoder's backward pass.
  [[nodiscard]] at::Tensor encode(const Comm& comm, const BlockParameters& parameters,
                                  const at::Tensor& features, const at::Tensor& statistics, BlockPass& pass,
                                  const PartsBackward& back = {}) const;
  /// Jets [sample, point, channel, field] of normalised fields. Throws InputError for operators where the
  /// decoder is convolutional.
  [[nodiscard]] at::Tensor decode(const at::Tensor& latents, const BlockParameters& parameters,
                                  std::shared_ptr<const DecoderQueries> queries, bool made_again = false);
  /// Engine::torch: in two halves, what the queries say, found on the host, and the jets, by operators on
  /// what lies where the latents do. Of a convolutional decoder `node` [point * corner] and `mix` [point,
  /// corner] interpolate.
  [[nodiscard]] DecoderRows rows(const DecoderQueries& queries) const;
  [[nodiscard]] at::Tensor decode(const at::Tensor& latents, const BlockParameters& parameters,
                                  const DecoderRows& rows) const;

 private:
  [[nodiscard]] at::Tensor with_known_fields(const at::Tensor& latents, const at::Tensor& features) const;
  [[nodiscard]] DecoderRows interpolation_rows(const DecoderQueries& queries) const;

  Engine engine_;
  FlowNetworkSize size_;
  GridShape refinement_;
  Unet encoder_;
  int n_encoder_blocks_;  ///< that have parameters
  std::unique_ptr<Decoder<Real>> decoder_;
};

}  // namespace quintet::flow
