#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "surrogates/networks/layer.hpp"

namespace quintet::networks {

/// How much the values of a chain leave for the passes after them.
enum class Keep {
  adjoint,   ///< phi': for the adjoint alone, which takes the outputs' place
  gradient,  ///< phi and phi': for the gradient of the parameters
  tangent,   ///< phi, phi' and phi'': for the adjoint, tangents and their gradient
};

/// One block of a chain and what it costs. Flops count a multiply-add as two and an activation as one; they
/// and bytes are a row's (an atom's, a neighbour's, a sample's).
struct BlockDescription {
  std::string name;                 ///< of the block and of the tensor it makes
  std::string kind;                 ///< "dense tanh", "sum"
  std::vector<std::string> inputs;  ///< tensors it reads; a skip comes second
  int n_in = 0, n_out = 0;          ///< of the product
  int n_weights_in = 0;             ///< rows of weights: more than n_in where inputs are tied
  std::size_t parameters = 0;
  std::size_t parameter_bytes = 0;
  double forward_flops = 0, adjoint_flops = 0;
  std::size_t output_bytes = 0;  ///< of the tensor it makes, whole packs
  std::size_t kept_bytes = 0;    ///< of all that its passes keep, the output with it
};

struct ChainDescription {
  std::string input;  ///< the tensor it starts from
  int n_in = 0;
  std::vector<BlockDescription> blocks;
  /// Sums over the blocks.
  [[nodiscard]] BlockDescription total() const;
  /// A table for people, a line a block and one for the total.
  [[nodiscard]] std::string table() const;
};

/// Describe a dense layer and its costs.
/// @param n_in inputs of the product (tied ones once) @param bytes of a number @param pack numbers that a row
/// is padded to
[[nodiscard]] BlockDescription describe_layer(const LayerSpec& layer, int n_in, std::size_t bytes, int pack,
                                              Keep keep);
/// Describe the sum at a chain's end and its costs.
[[nodiscard]] BlockDescription describe_sum(const LayerSpec& layer, std::size_t bytes);

}  // namespace quintet::networks
