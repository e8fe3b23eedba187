#pragma once

#include <cstddef>

#include "io/parallel/interrupt.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet {
class DeviceProducts;
}

namespace quintet::electronic {

struct ProductOptions {
  double threshold = 0;  ///< blocks of the product of smaller Frobenius norm are dropped
  /// Bound of what is left out of each block of the product (Frobenius norm): A_ik B_kj is left out where
  /// |A_ik| |B_kj| < error / (number of blocks of B's column j).
  double error = 0;
  /// The product is known to be symmetric: of each pair of blocks one is computed and the other mirrored.
  bool symmetric = false;
  const BlockMatrix* pattern = nullptr;  ///< only these blocks are computed; symmetric if the product is
  Interrupt interrupt{};                 ///< throws Interrupted
  /// Sums the terms in place of this core, where it has memory for them, B has `least_on_device` elements and
  /// a pattern or a threshold says what is wanted.
  DeviceProducts* device = nullptr;
  std::size_t least_on_device = std::size_t{1} << 17;
};
/// C = A B, A and B symmetric or not. Collective: each needed block travels once. Throws InputError if blocks
/// or shares differ.
[[nodiscard]] BlockMatrix multiply(const BlockMatrix& a, const BlockMatrix& b, const ProductOptions& options);

}  // namespace quintet::electronic
