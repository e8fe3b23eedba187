#pragma once

#include <span>

#include <ATen/core/Tensor.h>

#include "surrogates/flow/data/batch.hpp"
#include "surrogates/flow/equations/pde_system.hpp"
#include "surrogates/flow/training/training_options.hpp"

/// The sums of value_loss() and residual_loss() by LibTorch's operators, in the graph of the jets, [sample,
/// point, channel, field], and on their device; in float64.
namespace quintet::flow {

/// Sums over all points, [field], of |y - target| or its square. @param targets [sample, point, field]
[[nodiscard]] at::Tensor value_sums(LossNorm norm, const at::Tensor& jets, const at::Tensor& targets);

/// Sums over all points, [equation], of |r| or its square.
/// @param constants [sample] number of its constants in `residuals`; below 0: the sample is left out
/// @param points [sample, point, axis] float64
[[nodiscard]] at::Tensor residual_sums(LossNorm norm, const Residuals& residuals,
                                       const FieldStatistics& statistics, const at::Tensor& jets,
                                       std::span<const int> constants, const at::Tensor& points);

}  // namespace quintet::flow
