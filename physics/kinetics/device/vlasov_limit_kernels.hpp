#pragma once

#include "physics/kinetics/device/vlasov_device.hpp"
#include "physics/kinetics/device/vlasov_force_kernels.hpp"

/// Sources and the limiter of DeviceVlasov. One thread a cell, loops.
namespace quintet::kinetics::device {

/// to = sum of factor from.
struct CombineDistributions {
  double* to;
  const double* from[DeviceVlasov::most_terms];
  double factor[DeviceVlasov::most_terms];
  int n;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    double sum = 0;
    unroll<DeviceVlasov::most_terms>([&](auto k) QUINTET_DEVICE_INLINE {
      if (k.value < n) sum += factor[k.value] * from[k.value][i];
    });
    to[i] = sum;
  }
};

/// Positivity::limit_cell() of one cell; what v_i f and v.v f change by is summed.
template <class Tr>
struct LimitCell {
  using value_type = double[];
  unsigned value_count = 4;
  Cells<Tr> cells;
  const double* nodes;  ///< [n_nodes, n_modes]
  int n_nodes;
  double mean;  ///< value of the constant basis function
  double* f;

  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i, double* change) const {
    const int conf = static_cast<int>(i / cells.n_vel), cell = static_cast<int>(i % cells.n_vel);
    double* const there = f + cells.place(conf, cell);
    double own[Tr::n_modes], least = 0;
    for (int m = 0; m < Tr::n_modes; ++m) own[m] = there[m * lanes];
    for (int node = 0; node < n_nodes; ++node) {
      const double* const value = nodes + static_cast<std::ptrdiff_t>(node) * Tr::n_modes;
      double x = 0;
      for (int m = 0; m < Tr::n_modes; ++m) x += value[m] * own[m];
      least = x < least ? x : least;
    }
    if (!(least < 0)) return;
    const double positive = mean * own[0] > 0 ? mean * own[0] : 0, theta = positive / (positive - least);
    const CellContext<Tr> c(cells, cell);
    double loss = theta - 1;
    unroll<Tr::vdim>([&](auto d) { loss *= c.relative[d.value]; });
    unroll<Tr::vdim>([&](auto d) {
      constexpr int D = d.value, up = Tr::neighbours.up[D][0], up2 = Tr::neighbours.up[D][up];
      // int xi phi_1 and int xi^2 phi_2 relative to int phi_0
      constexpr double first_order = legendre_tables.shift[1], second_order = constant_sqrt(5) * 2 / 15;
      const double h = c.half_dv[D], first = h * first_order * loss * own[Tr::offset(up)];
      change[D] += first;
      change[3] += 2 * c.v[D] * first;
      if constexpr (up2 >= 0) change[3] += h * h * second_order * loss * own[Tr::offset(up2)];
    });
    for (int m = 1; m < Tr::n_modes; ++m) there[m * lanes] = theta * own[m];
  }
};

/// The least cell mean and where it is.
template <class Tr>
struct LeastMean {
  using Found = Kokkos::MinLoc<double, std::ptrdiff_t>::value_type;
  Cells<Tr> cells;
  double mean;
  const double* f;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i, Found& least) const {
    const double here =
        mean * f[cells.place(static_cast<int>(i / cells.n_vel), static_cast<int>(i % cells.n_vel))];
    if (here < least.val) {
      least.val = here;
      least.loc = i;
    }
  }
};

}  // namespace quintet::kinetics::device
