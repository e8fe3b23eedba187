#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

namespace quintet::flow {

/// The parameters of block `number` of those that have some; asked for when they are about to be read.
using BlockParameters = std::function<at::Tensor(int number)>;

/// Data for the backward pass of a layer in parts: their values once more, and a receiver of their gradients,
/// each handed over as soon as it is complete.
struct PartsBackward {
  BlockParameters values;
  std::function<void(int number, const at::Tensor& gradient)> finish;
};

/// A convolution whose weights [out, in, kernel...] are in n x n parts, each a block of its own.
struct TiledLayer {
  int first_part = 0;                         ///< number of part (0, 0); row by row from there
  std::vector<std::int64_t> outputs, inputs;  ///< [tile] where its channels begin, and the end of the last
  std::int64_t kernel = 1;                    ///< nodes, each axis
  [[nodiscard]] std::size_t n() const { return outputs.size() - 1; }
  [[nodiscard]] int part(std::size_t row, std::size_t column) const {
    return first_part + static_cast<int>(row * n() + column);
  }
};

/// Where n tiles of so many channels begin, and the end: whole packs of 16 channels where there are that
/// many, the rest with the last one. Kernels take packs of channels, so that a tile's results have the bits
/// of the layer's.
[[nodiscard]] std::vector<std::int64_t> tile_cuts(std::int64_t channels, std::int64_t n);

/// The convolution of x [sample, in, t, z, x] with zeros around it, a tile at a time:
///
///     y_K = W_K * x + b_K,   dW_K = bar_K (*) x,   dx_J = sum_K W_KJ^T * bar_K.
///
/// Tiles are of outputs in the forward pass and for weights' gradients, of inputs for the input's, so that no
/// sum is divided and results are those of the whole layer to the last bit, as far as torch's kernels add in
/// an order that does not depend on the number of channels (docs/large_models.md). At hand are one tile's
/// weights, put together from its parts, or its gradient.
/// @param values of parts, forward @param back may be empty where no gradient is wanted; both outlive it
[[nodiscard]] at::Tensor tiled_convolution(const std::shared_ptr<const TiledLayer>& layer,
                                           const BlockParameters& values, const PartsBackward& back,
                                           const at::Tensor& x, const at::Tensor& bias,
                                           const std::vector<std::int64_t>& zeros);

}  // namespace quintet::flow
