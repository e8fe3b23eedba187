#pragma once

#include <string>
#include <vector>

#include "physics/kernels/device_buffer.hpp"
#include "surrogates/potential/device/device_model.hpp"

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
/// C `[groups, n_dense, order, n_channels]` of a centre, T = M C: polynomials of the networks; with gates
/// those times c of each type, and for the moments of all neighbours as they are.
inline std::vector<double> contraction_of(const DevicePart& model, int centre) {
  const std::size_t channels = model.n_channels, of_interval = std::size_t(model.order) * channels;
  std::vector<double> c;
  for (int g = 0; g < model.n_groups(); ++g) {
    const int pair = centre * model.n_types + (g < model.n_types ? g : 0);
    const double* const from =
        model.polynomial.data() + model.network[pair] * model.n_intervals * of_interval;
    for (std::size_t i = 0; i < model.n_dense * of_interval; ++i)
      c.push_back(g == model.n_types || model.gate.empty()
                      ? from[i]
                      : from[i] * model.gate[pair * channels + i % channels]);
  }
  return c;
}
inline std::vector<double> transpose(const std::vector<double>& a, int rows, int columns) {
  std::vector<double> result(a.size());
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) result[std::int64_t{j} * rows + i] = a[std::int64_t{i} * columns + j];
  return result;
}

}  // namespace quintet::potential
