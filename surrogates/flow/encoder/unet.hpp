#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "io/parallel/comm.hpp"
#include "surrogates/flow/encoder/batch_norm.hpp"
#include "surrogates/flow/encoder/unet_blocks.hpp"
#include "surrogates/training/flat_layout.hpp"

namespace quintet {
class BlockPass;
}

namespace quintet::flow {

/// The parameters of block `number` of those that have some; asked for when they are about to be read.
using BlockParameters = std::function<at::Tensor(int number)>;

/// The U-Net of unet_blocks() by LibTorch. It owns nothing: parameters and running statistics are flat arrays
/// of the caller, in any precision that torch has (float, double).
///
/// Parameters of a residual block: weight [out, in, kernel...] and bias of conv1, the middle, conv1,
/// shortcut, then gamma and beta of its three normalisations. Its statistics: running mean and variance of
/// each.
class Unet {
 public:
  /// Throws InputError as unet_blocks() does. @param sweeps torch: for tensors that are on a device
  explicit Unet(const UnetOptions& options, NormSweeps sweeps = NormSweeps::ours);

  [[nodiscard]] const UnetOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<UnetBlock>& blocks() const { return blocks_; }
  [[nodiscard]] std::size_t n_parameters() const;
  [[nodiscard]] std::size_t n_statistics() const;
  /// Weights and biases uniform in +-1/sqrt(fan in), gamma 1, beta 0; by counter-based random numbers.
  [[nodiscard]] std::vector<double> initial_parameters(std::uint64_t seed) const;
  /// The blocks that have parameters, in their order, and their tensors.
  [[nodiscard]] std::vector<BlockTensors> tensors() const;
  /// The parameters of each of them, as parts of one array.
  [[nodiscard]] std::vector<at::Tensor> parts(const at::Tensor& parameters) const;
  /// Mean 0, variance 1.
  [[nodiscard]] std::vector<double> initial_statistics() const;

  /// Latents [sample, t, z, x, output] of a training batch, or fields on the finer grid; collective over comm
  /// (batch normalisation), and so is its backward pass.
  /// @param parameters [n_parameters], of the input's type @param input [sample, feature, t, z, x]
  /// @param statistics [n_statistics] float64, updated in place
  [[nodiscard]] at::Tensor train(const Comm& comm, const at::Tensor& parameters, const at::Tensor& input,
                                 const at::Tensor& statistics) const;
  /// The same, block by block, in the segments of unet_segments(): the latents' graph begins at the last
  /// block's output. `pass` takes the backward pass on, during which this lives.
  [[nodiscard]] at::Tensor train(const Comm& comm, const BlockParameters& parameters, const at::Tensor& input,
                                 const at::Tensor& statistics, BlockPass& pass) const;
  /// The same by the running statistics; samples do not see each other.
  [[nodiscard]] at::Tensor evaluate(const BlockParameters& parameters, const at::Tensor& input,
                                    const at::Tensor& statistics) const;
  [[nodiscard]] at::Tensor evaluate(const at::Tensor& parameters, const at::Tensor& input,
                                    const at::Tensor& statistics) const {
    return evaluate(blocks_of(parameters), input, statistics);
  }

 private:
  [[nodiscard]] at::Tensor residual(const Comm* comm, const UnetBlock& block, const at::Tensor& parameters,
                                    const at::Tensor& x, const at::Tensor& statistics,
                                    std::vector<BatchMoments>* moments) const;
  [[nodiscard]] at::Tensor forward(const Comm* comm, const UnetBlock& block, const at::Tensor& parameters,
                                   const std::vector<at::Tensor>& x, const at::Tensor& statistics,
                                   std::vector<BatchMoments>* moments = nullptr) const;
  [[nodiscard]] at::Tensor run_blocks(const Comm& comm, const BlockParameters& parameters,
                                      const at::Tensor& input, const at::Tensor& statistics,
                                      BlockPass& pass) const;
  [[nodiscard]] at::Tensor finished(at::Tensor made, const at::Tensor& input) const;
  [[nodiscard]] BlockParameters blocks_of(const at::Tensor& parameters) const;
  [[nodiscard]] at::Tensor run(const Comm* comm, const BlockParameters& parameters, const at::Tensor& input,
                               const at::Tensor& statistics) const;

  UnetOptions options_;
  NormSweeps sweeps_;
  std::vector<UnetBlock> blocks_;
};

}  // namespace quintet::flow
