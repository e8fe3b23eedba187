#pragma once

#include "surrogates/potential/device/lanes.hpp"

namespace quintet::potential {

/// Entries of D before row m2 (see Descriptor: rows m2 hold m = m2 .. M-1).
KOKKOS_INLINE_FUNCTION int descriptor_offset(int n_channels, int m2) {
  return m2 * n_channels - m2 * (m2 - 1) / 2;
}

/// D = T T[:M2]^T, the kept entries, of each atom. Reads 4 M reals, writes those of D.
template <class Space, class Real>
struct DescriptorKernel {
  static constexpr int width = device::Cut<Space>::lanes;
  using Team = device::Lanes<width>;
  const Real* t;
  Real* d;
  int n_channels, axis, d_stride;  ///< D's from atom to atom
  [[nodiscard]] int scratch_bytes() const { return 4 * n_channels * static_cast<int>(sizeof(Real)); }
  KOKKOS_INLINE_FUNCTION void operator()(const int b, char* scratch) const {
    const int lane = Team::own();
    Real* const own = reinterpret_cast<Real*>(scratch);
    const Real* from = t + std::int64_t{b} * 4 * n_channels;
    for (int o = lane; o < 4 * n_channels; o += width) own[o] = from[o];
    Team::sync();
    Real* to = d + std::int64_t{b} * d_stride;
    for (int m2 = 0; m2 < axis; ++m2) {
      const Real f0 = own[m2], f1 = own[n_channels + m2], f2 = own[2 * n_channels + m2],
                 f3 = own[3 * n_channels + m2];
      for (int m = m2 + lane; m < n_channels; m += width)
        to[m - m2] = f0 * own[m] + f1 * own[n_channels + m] + f2 * own[2 * n_channels + m] +
                     f3 * own[3 * n_channels + m];
      to += n_channels - m2;
    }
  }
};

/// Four numbers that are read at once.
template <class Real>
struct alignas(16) Four {
  Real of[4];
};

/// dE/dT from dE/dD of each atom:
///   dT[a, m] = sum_m2 g[m, m2] T[a, m2] and dT[a, m2] += sum_m g[m, m2] T[a, m] over the kept (m, m2).
template <class Space, class Real>
struct DescriptorBackKernel {
  static constexpr int width = device::Cut<Space>::lanes;
  using Team = device::Lanes<width>;
  const Real *t, *dd;
  Real* dt;
  int n_channels, axis, size, d_stride;
  [[nodiscard]] int scratch_bytes() const {
    return (4 * n_channels + 4 * axis + size) * static_cast<int>(sizeof(Real));
  }
  KOKKOS_INLINE_FUNCTION void operator()(const int b, char* scratch) const {
    const int lane = Team::own();
    auto* const own = reinterpret_cast<Four<Real>*>(scratch);
    Four<Real>* const row_sum = own + n_channels;
    Real* const g = reinterpret_cast<Real*>(row_sum + axis);
    const Real* from = t + std::int64_t{b} * 4 * n_channels;
    for (int m = lane; m < n_channels; m += width)
      for (int a = 0; a < 4; ++a) own[m].of[a] = from[a * n_channels + m];
    from = dd + std::int64_t{b} * d_stride;
    for (int o = lane; o < size; o += width) g[o] = from[o];
    Team::sync();
    // The second part: `parts` lanes share an m2.
    constexpr int parts = width > 1 ? 2 : 1;
    for (int base = 0; base < axis; base += width / parts) {
      const int m2 = base + lane / parts, part = lane % parts;
      Four<Real> sum{};
      if (m2 < axis) {
        const Real* row = g + descriptor_offset(n_channels, m2) - m2;
        for (int m = m2 + part; m < n_channels; m += parts) {
          const Real value = row[m];
          const Four<Real> of_m = own[m];
          for (int a = 0; a < 4; ++a) sum.of[a] += value * of_m.of[a];
        }
      }
      for (int a = 0; a < 4; ++a) sum.of[a] = Team::sum_of_pair(sum.of[a]);
      if (m2 < axis && part == 0) row_sum[m2] = sum;
    }
    Team::sync();
    Real* to = dt + std::int64_t{b} * 4 * n_channels;
    for (int m = lane; m < n_channels; m += width) {
      Four<Real> sum{};
      const int last = m < axis - 1 ? m : axis - 1;
      int at = m;
      for (int m2 = 0; m2 <= last; ++m2) {
        const Real value = g[at];
        const Four<Real> of_m2 = own[m2];
        for (int a = 0; a < 4; ++a) sum.of[a] += value * of_m2.of[a];
        at += n_channels - m2 - 1;
      }
      for (int a = 0; a < 4; ++a)
        to[a * n_channels + m] = m < axis ? sum.of[a] + row_sum[m].of[a] : sum.of[a];
    }
  }
};

}  // namespace quintet::potential
