#pragma once

#include <string>
#include <vector>

#include "physics/kernels/device_buffer.hpp"

/// Tables of a model on their way to a device.
namespace quintet::potential {

template <class Space, class T>
device::Buffer<T, Space> upload(const char* label, const std::vector<T>& values) {
  device::Buffer<T, Space> buffer(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing),
                                  values.size());
  Kokkos::deep_copy(buffer,
                    Kokkos::View<const T*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        values.data(), values.size()));
  return buffer;
}
template <class Space, class Real>
device::Buffer<Real, Space> upload_as(const char* label, const std::vector<double>& values) {
  return upload<Space, Real>(label, std::vector<Real>(values.begin(), values.end()));
}
inline std::vector<double> transpose(const std::vector<double>& a, int rows, int columns) {
  std::vector<double> result(a.size());
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) result[std::int64_t{j} * rows + i] = a[std::int64_t{i} * columns + j];
  return result;
}

}  // namespace quintet::potential
