#include "surrogates/potential/exported/library/numbers.hpp"

#include <algorithm>

#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"

namespace quintet::potential {

namespace {

template <class T>
at::Tensor shared(const std::vector<T>& values, at::IntArrayRef shape, at::ScalarType type) {
  return at::from_blob(const_cast<T*>(values.data()), shape, at::TensorOptions().dtype(type));
}

}  // namespace

at::Tensor seen(const std::vector<double>& values, at::IntArrayRef shape) {
  return shared(values, shape, at::kDouble);
}
at::Tensor seen(const std::vector<std::int64_t>& values, at::IntArrayRef shape) {
  return shared(values, shape, at::kLong);
}

void take_numbers(const at::Tensor& values, std::int64_t count, double* to) {
  const at::Tensor numbers = values.detach().to(at::kDouble).contiguous();
  QUINTET_ASSERT(numbers.numel() >= count, "the model gives {} numbers, not {}", numbers.numel(), count);
  std::copy_n(numbers.data_ptr<double>(), count, to);
}

}  // namespace quintet::potential
