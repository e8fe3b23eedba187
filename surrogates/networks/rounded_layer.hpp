#pragma once

#include "physics/kernels/aligned.hpp"
#include "physics/kernels/gemm_bf16.hpp"

namespace quintet::networks {

/// Data of a layer for products in bfloat16 about a reference row (see Chain): the weights rounded, and the
/// reference's numbers, padded to whole packs with 0.
struct RoundedLayer {
  PackedBf16 weight, transposed;   ///< V [n_in, n_out] and its transpose
  AlignedVector<float> x, z;       ///< x* [n_in] and z* + b = x* W + b [n_out]
  AlignedVector<float> alpha, dx;  ///< alpha* [n_out] and alpha* W^T [n_in]
};

}  // namespace quintet::networks
