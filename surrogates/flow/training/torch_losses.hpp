#pragma once

#include <span>

#include <ATen/core/Tensor.h>

#include "surrogates/flow/data/batch.hpp"
#include "surrogates/flow/equations/pde_system.hpp"
#include "surrogates/flow/training/training_options.hpp"

/// The sums of value_loss() and residual_loss() by LibTorch's operators, in the graph of the jets, [sample,
/// point, channel, field], and on their device; in float64. Operators read tensors there alone: what is known
/// of a batch on the host is made a tensor before.
namespace quintet::flow {

/// Sums over all points, [field], of |y - target| or its square. @param targets [sample, point, field]
[[nodiscard]] at::Tensor value_sums(LossNorm norm, const at::Tensor& jets, const at::Tensor& targets);

/// Numbers from which the residuals of some samples are computed; all float64 but `chosen`. There are as many
/// rows as samples: a sample that is left out is replaced by another one, which does not count.
struct ResidualNumbers {
  at::Tensor chosen;     ///< [row] int64, number of the sample
  at::Tensor counted;    ///< [row, 1, 1] 1, or 0 for one that stands in
  at::Tensor constants;  ///< [row, 1, form] of linear forms
  at::Tensor jets;       ///< [row, channel * field, form]
  at::Tensor terms;      ///< [row, 1, term], those of all forms in their order
  at::Tensor points;     ///< [row, point, axis], none where equations do not read them
};

/// On the host. @param constants [sample] number of its constants in `residuals`; below 0: the sample is left
/// out; one is not @param points [sample][point][axis]
[[nodiscard]] ResidualNumbers residual_numbers(const Residuals& residuals, std::span<const int> constants,
                                               std::span<const double> points);

/// Mean and deviation of normalised fields [field], float64.
struct FieldTensors {
  at::Tensor mean, deviation;
};

/// Sums over the points of all samples that count, [equation], of |r| or its square.
/// @param numbers residual_numbers(), where the jets are
[[nodiscard]] at::Tensor residual_sums(LossNorm norm, const Residuals& residuals, const FieldTensors& fields,
                                       const at::Tensor& jets, const ResidualNumbers& numbers);

}  // namespace quintet::flow
