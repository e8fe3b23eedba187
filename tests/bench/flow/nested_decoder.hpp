#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "surrogates/flow/decoder/decoder.hpp"

/// The decoder as the reference has it: one network on all rows, derivatives by nested reverse mode.
namespace quintet::flow {

/// Fields [sample, point, field] at columns t, z, x [sample, point, 1], by torch alone.
[[nodiscard]] at::Tensor nested_fields(const DecoderOptions& options, const NodeGrid& grid,
                                       const at::Tensor& latents, const at::Tensor& parameters,
                                       const std::vector<at::Tensor>& columns);

/// Residuals of continuity, b, u, w [4][sample, point, 1] of fields p, b, u, w: 25 gradient calls, one for
/// each derivative written in the equations.
[[nodiscard]] std::vector<at::Tensor> nested_residuals(const at::Tensor& fields,
                                                       const std::vector<at::Tensor>& columns,
                                                       double heat_diffusivity, double viscosity);

}  // namespace quintet::flow
