#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "io/parallel/comm_fwd.hpp"
#include "surrogates/flow/encoder/batch_norm.hpp"
#include "surrogates/flow/encoder/tiled_convolution.hpp"
#include "surrogates/flow/encoder/unet_blocks.hpp"
#include "surrogates/training/flat_layout.hpp"
#include "surrogates/training/parallel_options.hpp"

namespace quintet {
class BlockPass;
}

namespace quintet::flow {

/// The U-Net of unet_blocks() by LibTorch. It owns nothing: parameters and running statistics are flat arrays
/// of the caller, in any precision that torch has (float, double).
///
/// Parameters of a Fourier block: weight [out, in] and bias, then those of fourier_part(). Of a residual
/// block: weight [out, in, kernel...] and bias of conv1, the middle, conv1, shortcut, then gamma and beta of
/// its three normalisations. Its statistics: running mean and variance of each.
class Unet {
 public:
  /// @param tiles layers that compute in tiles, "BLOCK.conv2": of the residual blocks conv1, conv2, conv3 and
  /// shortcut. Throws InputError as unet_blocks() does, for layers that are not there and more tiles than a
  /// layer has inputs or outputs.
  /// @param sweeps torch: for tensors that are on a device
  explicit Unet(const UnetOptions& options, const LayerTiles& tiles = {},
                NormSweeps sweeps = NormSweeps::ours);

  [[nodiscard]] const UnetOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<UnetBlock>& blocks() const { return blocks_; }
  [[nodiscard]] std::size_t n_parameters() const;
  [[nodiscard]] std::size_t n_statistics() const;
  /// Weights and biases uniform in +-1/sqrt(fan in), gamma 1, beta 0; by counter-based random numbers.
  [[nodiscard]] std::vector<double> initial_parameters(std::uint64_t seed) const;
  /// The blocks that have parameters, in their order, and their tensors; behind a block the parts of its
  /// layers that compute in tiles.
  [[nodiscard]] std::vector<BlockTensors> tensors() const;
  /// The parameters of each of them, as parts of one array; without tiles.
  [[nodiscard]] std::vector<at::Tensor> parts(const at::Tensor& parameters) const;
  /// Mean 0, variance 1.
  [[nodiscard]] std::vector<double> initial_statistics() const;

  /// Latents [sample, t, z, x, output] of a training batch, or fields on the finer grid; collective over comm
  /// (batch normalisation), and so is its backward pass.
  /// @param parameters [n_parameters], of the input's type @param input [sample, feature, t, z, x]
  /// @param statistics [n_statistics] float64, updated in place
  [[nodiscard]] at::Tensor train(const Comm& comm, const at::Tensor& parameters, const at::Tensor& input,
                                 const at::Tensor& statistics) const;
  /// Latents of a training batch, as above, block by block in the segments of unet_segments(): their graph
  /// begins at the last block's output. `pass` continues the backward pass. This object and what `parameters`
  /// refers to must live as long: a block that runs again asks for its parts once more. @param back with
  /// tiles: of their parts
  [[nodiscard]] at::Tensor train(const Comm& comm, const BlockParameters& parameters, const at::Tensor& input,
                                 const at::Tensor& statistics, BlockPass& pass,
                                 const PartsBackward& back = {}) const;
  /// Latents by the running statistics, each sample by itself; arguments as for train().
  [[nodiscard]] at::Tensor evaluate(const BlockParameters& parameters, const at::Tensor& input,
                                    const at::Tensor& statistics) const;
  [[nodiscard]] at::Tensor evaluate(const at::Tensor& parameters, const at::Tensor& input,
                                    const at::Tensor& statistics) const {
    return evaluate(blocks_of(parameters), input, statistics);
  }

 private:
  /// A residual block with what it computes with.
  struct Trained {
    int number = -1;                                           ///< of those with parameters
    std::array<std::shared_ptr<const TiledLayer>, 4> tiled{};  ///< [convolution] null: whole
  };
  /// Where a block's numbers come from in a pass.
  struct Source {
    at::Tensor own;  ///< its parameters but those in parts
    const BlockParameters* parts = nullptr;
    PartsBackward back{};
  };
  /// A block and the nodes of its input.
  using MaskPlace = std::array<std::int64_t, 4>;

  void tile(const std::string& layer, double n);
  [[nodiscard]] at::Tensor fourier(const UnetBlock& block, const at::Tensor& parameters,
                                   const at::Tensor& x) const;
  /// Masks of a block that perturbs, to be added to x. On a device they are made once, since a pass must not
  /// wait for the host (TorchRecorder).
  [[nodiscard]] at::Tensor masks(std::size_t number, const at::Tensor& x) const;
  [[nodiscard]] at::Tensor residual(const Comm* comm, std::size_t number, const Source& source,
                                    const at::Tensor& x, const at::Tensor& statistics,
                                    std::vector<BatchMoments>* moments) const;
  [[nodiscard]] at::Tensor forward(const Comm* comm, std::size_t number, const Source& source,
                                   const std::vector<at::Tensor>& x, const at::Tensor& statistics,
                                   std::vector<BatchMoments>* moments = nullptr) const;
  [[nodiscard]] at::Tensor run_blocks(const Comm& comm, const BlockParameters& parameters,
                                      const at::Tensor& input, const at::Tensor& statistics, BlockPass& pass,
                                      const PartsBackward& back) const;
  [[nodiscard]] at::Tensor finished(at::Tensor made, const at::Tensor& input) const;
  [[nodiscard]] BlockParameters blocks_of(const at::Tensor& parameters) const;
  [[nodiscard]] at::Tensor run(const Comm* comm, const BlockParameters& parameters, const at::Tensor& input,
                               const at::Tensor& statistics) const;

  UnetOptions options_;
  NormSweeps sweeps_;
  std::vector<UnetBlock> blocks_;
  std::vector<Trained> trained_;  ///< [block]
  mutable std::map<MaskPlace, at::Tensor> masks_;
};

}  // namespace quintet::flow
