#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "io/parallel/comm.hpp"
#include "surrogates/flow/encoder/unet_blocks.hpp"

namespace quintet::flow {

/// The U-Net of unet_blocks() by LibTorch. It owns nothing: parameters and running statistics are flat arrays
/// of the caller, in any precision that torch has (float, double).
///
/// Parameters of a residual block: weight [out, in, kernel...] and bias of conv1, conv3, conv1, shortcut,
/// then gamma and beta of its three normalisations. Its statistics: running mean and variance of each.
class Unet {
 public:
  /// Throws InputError as unet_blocks() does.
  explicit Unet(const UnetOptions& options);

  [[nodiscard]] const UnetOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<UnetBlock>& blocks() const { return blocks_; }
  [[nodiscard]] std::size_t n_parameters() const;
  [[nodiscard]] std::size_t n_statistics() const;
  /// Weights and biases uniform in +-1/sqrt(fan in), gamma 1, beta 0; by counter-based random numbers.
  [[nodiscard]] std::vector<double> initial_parameters(std::uint64_t seed) const;
  /// Mean 0, variance 1.
  [[nodiscard]] std::vector<double> initial_statistics() const;

  /// Latents [sample, t, z, x, output] of a training batch, or fields on the finer grid; collective over comm
  /// (batch normalisation), and so is its backward pass.
  /// @param parameters [n_parameters], of the input's type @param input [sample, feature, t, z, x]
  /// @param statistics [n_statistics] float64, updated in place
  [[nodiscard]] at::Tensor train(const Comm& comm, const at::Tensor& parameters, const at::Tensor& input,
                                 const at::Tensor& statistics) const;
  /// The same by the running statistics; samples do not see each other.
  [[nodiscard]] at::Tensor evaluate(const at::Tensor& parameters, const at::Tensor& input,
                                    const at::Tensor& statistics) const;

 private:
  [[nodiscard]] at::Tensor run(const Comm* comm, const at::Tensor& parameters, const at::Tensor& input,
                               const at::Tensor& statistics) const;

  UnetOptions options_;
  std::vector<UnetBlock> blocks_;
};

}  // namespace quintet::flow
