#pragma once

#include <array>

#include <ATen/core/Tensor.h>

#include "surrogates/flow/encoder/unet_blocks.hpp"

namespace quintet::flow {

/// K x of a Fourier layer (Li et al. 2021, ICLR, arXiv 2010.08895):
///
///     (K x)_o = F^-1 sum_i R_io(k) (F x)_i(k)   for |k| among the lowest modes of each axis, 0 for all
///     others.
///
/// F is the discrete transform over the nodes of the three axes. An axis that is not circular is extended by
/// fourier_nodes(), with zeros or its last values, and cut again. A grid that has fewer modes takes those
/// that it has.
/// @param x [sample, feature, t, z, x] @param weights real [n_in * n_out * 2 m_t * 2 m_z * m_x * 2], real and
/// imaginary parts; of the first two axes wavenumbers 0 .. m - 1, then -m .. -1
[[nodiscard]] at::Tensor fourier_part(const at::Tensor& x, const at::Tensor& weights, std::int64_t n_out,
                                      const GridShape& modes, const std::array<Padding, 3>& padding);

}  // namespace quintet::flow
