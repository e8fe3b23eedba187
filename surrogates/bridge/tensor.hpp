#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <ATen/core/Tensor.h>
#include <Kokkos_Core.hpp>

/// Views as tensors and tensors as Views, without a copy: the same memory under two names.
///
/// Row-major memory of float, double, int32 and int64, 0 to 4 dimensions. All else (strides, another type,
/// another device, another shape) is refused with a message that names both sides.
namespace quintet {

namespace bridge {

/// Layout of a View or a tensor. Extents of -1 (in what is expected) may have any value.
struct MemoryLayout {
  std::string name;
  at::ScalarType type;
  bool is_on_host;
  std::span<const std::int64_t> extents;
};

template <class T>
constexpr at::ScalarType scalar_type() {
  using Value = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Value, float>)
    return at::ScalarType::Float;
  else if constexpr (std::is_same_v<Value, double>)
    return at::ScalarType::Double;
  else if constexpr (std::is_same_v<Value, std::int32_t>)
    return at::ScalarType::Int;
  else if constexpr (std::is_same_v<Value, std::int64_t>)
    return at::ScalarType::Long;
  else
    static_assert(sizeof(T) == 0, "Tensors hold float, double, int32 or int64.");
}

template <class ViewType>
constexpr bool is_on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ViewType::memory_space>::accessible;

/// A tensor on `data`; `release` is called when the last tensor that shares it dies.
at::Tensor wrap(void* data, const MemoryLayout& view, std::span<const std::int64_t> strides,
                std::function<void(void*)> release);
/// Throws InternalError unless the tensor is row-major memory of the expected type, place and extents.
void check(const at::Tensor& tensor, const MemoryLayout& expected, bool is_written);

}  // namespace bridge

/// The View's memory as a tensor of the same shape.
///
/// The tensor, and every tensor made from it that shares its memory, keeps the View's allocation alive;
/// memory of an unmanaged View must be kept alive by its owner. Writes on either side are seen on the other
/// (on a GPU: after a fence). It does not require gradients; it must be gone before Kokkos stops. Errors:
/// InternalError if the View's elements are not contiguous in row-major order.
template <class ViewType>
[[nodiscard]] at::Tensor as_tensor(const ViewType& view) {
  using Value = typename ViewType::value_type;
  constexpr std::size_t rank = ViewType::rank;
  static_assert(rank <= 4, "as_tensor: at most 4 dimensions.");
  static_assert(!std::is_const_v<Value>,
                "as_tensor: torch has no read-only tensors; give it a View that may be written.");
  std::array<std::int64_t, rank> extents{}, strides{};
  for (std::size_t i = 0; i < rank; ++i) {
    extents[i] = static_cast<std::int64_t>(view.extent(i));
    strides[i] = static_cast<std::int64_t>(view.stride(i));
  }
  // The copy of the View inside the function shares its reference count.
  return bridge::wrap(view.data(),
                      {view.label(), bridge::scalar_type<Value>(), bridge::is_on_host<ViewType>, extents},
                      strides, [view](void*) {});
}

/// A View on a tensor's memory, and the tensor that keeps this memory alive.
///
/// DataType as in Kokkos: TensorView<const double* [3]>.
template <class DataType, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct TensorView {
  using View =
      Kokkos::View<DataType, Kokkos::LayoutRight, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  at::Tensor tensor;
  View view;
};

/// The tensor's memory as an unmanaged View that lives as long as what is returned; `name` is for messages.
///
/// A tensor that requires gradients can be read (a const DataType) but not written: autograd would not see
/// it. Errors: InternalError if dtype, device, number of dimensions or fixed extents differ from the
/// DataType's, or if the tensor is not contiguous.
template <class DataType, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
[[nodiscard]] TensorView<DataType, MemorySpace> as_view(const at::Tensor& tensor, const std::string& name) {
  using View = typename TensorView<DataType, MemorySpace>::View;
  using Value = typename View::value_type;
  constexpr std::size_t rank = View::rank, n_dynamic = View::rank_dynamic;
  static_assert(rank <= 4, "as_view: at most 4 dimensions.");
  std::array<std::int64_t, rank> extents{};
  extents.fill(-1);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((extents[n_dynamic + I] = static_cast<std::int64_t>(std::extent_v<DataType, I>)), ...);
  }
  (std::make_index_sequence<rank - n_dynamic>());
  bridge::check(tensor, {name, bridge::scalar_type<Value>(), bridge::is_on_host<View>, extents},
                !std::is_const_v<Value>);
  auto* data = static_cast<Value*>(tensor.data_ptr());
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return TensorView<DataType, MemorySpace>{tensor, View(data, static_cast<std::size_t>(tensor.size(I))...)};
  }
  (std::make_index_sequence<n_dynamic>());
}

}  // namespace quintet
