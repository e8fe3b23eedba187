#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace quintet::potential {

/// Numbers as a tensor that shares their memory, which must outlive it and is only read.
[[nodiscard]] at::Tensor seen(const std::vector<double>& values, at::IntArrayRef shape);
[[nodiscard]] at::Tensor seen(const std::vector<std::int64_t>& values, at::IntArrayRef shape);

/// Copy a tensor's first `count` numbers, which it must have, as float64.
void take_numbers(const at::Tensor& values, std::int64_t count, double* to);

}  // namespace quintet::potential
