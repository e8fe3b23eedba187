#pragma once

#include <string>

#include <Kokkos_Core.hpp>

namespace quintet {

/// Where kernels run: the host's parallel back end (Serial or OpenMP).
///
/// They are written for the SIMD units of a CPU core; what they work on, atoms, f or matrices, lives in host
/// memory.
using Exec = Kokkos::DefaultHostExecutionSpace;
using Memory = Exec::memory_space;

/// Rows of three: positions, velocities, forces `[n, 3]`.
using Vectors = Kokkos::View<double* [3], Kokkos::LayoutRight, Memory>;
template <class T>
using Array = Kokkos::View<T*, Kokkos::LayoutRight, Memory>;

/// Allocate without initialising (for arrays that are overwritten).
template <class View, class... Extents>
[[nodiscard]] View make_view(const char* label, Extents... extents) {
  return View(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), extents...);
}

}  // namespace quintet
