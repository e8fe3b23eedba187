#pragma once

#include <cstddef>
#include <string>

#include <Kokkos_Core.hpp>

namespace quintet::device {

/// Numbers in the memory of an execution space.
template <class T, class Space>
using Buffer = Kokkos::View<T*, Kokkos::LayoutRight, typename Space::memory_space>;

/// Numbers of the host's, wherever they are, for copies there and back.
template <class T>
using OnHost = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

/// Room for n elements in a buffer that is overwritten; gives the old memory back first.
template <class T, class Space>
void make_room(Buffer<T, Space>& buffer, const char* label, std::size_t n, double spare = 1.0) {
  if (buffer.extent(0) >= n) return;
  buffer = Buffer<T, Space>();
  const auto size = static_cast<std::size_t>(n * spare) + 1;
  buffer = Buffer<T, Space>(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), size);
}

/// The buffer with room for n elements, its first `kept` ones as they were.
template <class T, class Space>
void grow(Buffer<T, Space>& buffer, const char* label, std::size_t n, std::size_t kept) {
  if (buffer.extent(0) >= n) return;
  Buffer<T, Space> larger(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), n + n / 20);
  const auto part = Kokkos::make_pair(std::size_t(0), kept);
  Kokkos::deep_copy(Kokkos::subview(larger, part), Kokkos::subview(buffer, part));
  buffer = larger;
}

}  // namespace quintet::device
