#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/bridge/tensor.hpp"

namespace quintet {

/// A tensor's numbers, which lie one behind the other.
template <class Real>
std::span<Real> numbers_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<Real>(), static_cast<std::size_t>(tensor.numel())};
}

/// The host's numbers under another name.
template <class Real>
at::Tensor on_host(std::span<Real> values) {
  return at::from_blob(const_cast<std::remove_const_t<Real>*>(values.data()), {std::ssize(values)},
                       at::TensorOptions(bridge::scalar_type<Real>()));
}

/// Zeros where the arrays of a training are.
template <class Real>
at::Tensor zeros_at(c10::Device place, std::int64_t n) {
  return at::zeros({n}, at::TensorOptions(bridge::scalar_type<Real>()).device(place));
}

/// A copy on the host.
template <class Real>
std::vector<Real> brought(const at::Tensor& numbers) {
  std::vector<Real> here(numbers.numel());
  on_host(std::span<Real>(here)).copy_(numbers);
  return here;
}

inline std::size_t bytes_of(const at::Tensor& tensor) { return tensor.defined() ? tensor.nbytes() : 0; }

/// LibTorch's errors are ours.
template <class Action>
decltype(auto) in_device_arrays(Action&& action) {
  return translate_torch_errors("The arrays of a training on the device", std::forward<Action>(action));
}

}  // namespace quintet
