#pragma once

#include <cmath>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "physics/convection/device/device_flows.hpp"
#include "physics/convection/device/flow_kernels.hpp"

/// Numbers of flows: the formulas of statistics.cpp, diffusion.cpp and spectra.cpp, many rows of a column a
/// thread.
namespace quintet::convection::device {

/// Kinds of walls, for squares of gradients: a value that is held has a difference to the wall.
struct WallsHold {
  bool sides, bottom, top;  ///< the velocity: no slip
  bool heated_sides;        ///< else heated plates
};

/// Sums over the cells of a part of a column, or their extremes: `partial` [number, flow, parts, n_x], in the
/// order of FlowTally.
template <bool Extremes>
struct Tallied {
  static constexpr int rows = 32;  ///< of a part
  static constexpr int n = Extremes ? int{FlowTally::n_extremes} : int{FlowTally::n_sums};
  Flows f;
  WallsHold walls;
  double* partial;

  KOKKOS_INLINE_FUNCTION int parts() const { return (f.mesh.n_z + rows - 1) / rows; }
  std::int64_t threads() const { return std::int64_t{f.n_members} * parts() * f.mesh.n_x; }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const int n_x = f.mesh.n_x, i = number % n_x, part = number / n_x % parts(),
              member = number / n_x / parts();
    const LeftFaces u{f.mesh, f.field(f.state, 0, member)};
    const BottomFaces w{{f.mesh, f.field(f.state, 1, member)}};
    const Centres b{f.mesh, f.field(f.state, 2, member)};
    double values[n];
    for (int q = 0; q < n; ++q) values[q] = Extremes ? -HUGE_VAL : 0.0;
    const int end = (part + 1) * rows < f.mesh.n_z ? (part + 1) * rows : f.mesh.n_z;
    for (int j = part * rows; j < end; ++j) {
      if constexpr (Extremes)
        extremes(u, w, b, j, i, values);
      else
        sums(u, w, b, j, i, values);
    }
    const std::int64_t stride = std::int64_t{f.n_members} * parts() * n_x;
    for (int q = 0; q < n; ++q) partial[q * stride + number] = values[q];
  }

  KOKKOS_INLINE_FUNCTION void extremes(const LeftFaces& u, const BottomFaces& w, const Centres& b, int j,
                                       int i, double* most) const {
    const double divergence =
        divergence_of(About{u, j, i}, About{w, j, i}, f.mesh.x_inverse_width[i], f.mesh.z_inverse_width[j]);
    const double found[FlowTally::n_extremes] = {::fabs(divergence), ::fabs(u(j, i)), ::fabs(w(j, i)),
                                                 -b(j, i), b(j, i)};
    for (int q = 0; q < FlowTally::n_extremes; ++q) most[q] = found[q] > most[q] ? found[q] : most[q];
  }

  /// Gradients through the left and the lower face of a cell, and at walls beside it.
  KOKKOS_INLINE_FUNCTION void sums(const LeftFaces& u, const BottomFaces& w, const Centres& b, int j, int i,
                                   double* sum) const {
    const Mesh& m = f.mesh;
    const double width = m.x_width[i], height = m.z_width[j], gap_x = 1 / m.x_inverse_gap[i],
                 gap_z = 1 / m.z_inverse_gap[j];
    const bool first = i == 0 && !m.periodic, last = i == m.n_x - 1 && !m.periodic, bottom = j == m.lowest,
               top = j == m.highest;
    const auto square = [](double x) { return x * x; };
    const double u0 = u(j, i), w0 = w(j, i), b0 = b(j, i), half = 0.5;  // walls hold b = 1/2 and -1/2
    sum[FlowTally::u_squared] += height * gap_x * u0 * u0;
    sum[FlowTally::w_squared] += gap_z * width * w0 * w0;
    sum[FlowTally::w_b] += gap_z * width * w0 * 0.5 * (b(j - 1, i) + b0);
    sum[FlowTally::u_b] += height * gap_x * u0 * 0.5 * (b(j, i - 1) + b0);
    sum[FlowTally::b_squared] += height * width * b0 * b0;

    double velocity = height * square(u(j, i + 1) - u0) * m.x_inverse_width[i] +
                      width * square(w(j + 1, i) - w0) * m.z_inverse_width[j];
    double buoyancy = 0;
    if (!first) {
      velocity += gap_z * square(w0 - w(j, i - 1)) * m.x_inverse_gap[i];
      buoyancy += height * square(b0 - b(j, i - 1)) * m.x_inverse_gap[i];
    }
    if (!bottom) {
      velocity += gap_x * square(u0 - u(j - 1, i)) * m.z_inverse_gap[j];
      buoyancy += width * square(b0 - b(j - 1, i)) * m.z_inverse_gap[j];
    }
    if (bottom && walls.bottom) velocity += gap_x * square(u0) * m.z_inverse_gap[j];
    if (top && walls.top) velocity += gap_x * square(u0) * m.z_inverse_gap[j + 1];
    if (first && walls.sides) velocity += gap_z * square(w0) * m.x_inverse_gap[i];
    if (last && walls.sides) velocity += gap_z * square(w0) * m.x_inverse_gap[i + 1];
    const bool warm = walls.heated_sides ? first : bottom, cold = walls.heated_sides ? last : top;
    const double area = walls.heated_sides ? height : width;
    if (warm) {
      const double inverse_gap = walls.heated_sides ? m.x_inverse_gap[i] : m.z_inverse_gap[j];
      buoyancy += area * square(b0 - half) * inverse_gap;
      sum[FlowTally::warm] += area * (half - b0) * inverse_gap;
    }
    if (cold) {
      const double inverse_gap = walls.heated_sides ? m.x_inverse_gap[i + 1] : m.z_inverse_gap[j + 1];
      buoyancy += area * square(b0 + half) * inverse_gap;
      sum[FlowTally::cold] += area * (b0 + half) * inverse_gap;
    }
    sum[FlowTally::velocity_gradient] += velocity;
    sum[FlowTally::buoyancy_gradient] += buoyancy;
  }
};

/// The parts of number q of a flow together: a team each, [number, flow].
template <bool Extremes>
struct TallyTotals {
  const double* partial;
  std::int64_t n_parts;
  double* totals;
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const std::int64_t which = team.league_rank();
    const double* const parts = partial + which * n_parts;
    const auto range = Kokkos::TeamThreadRange(team, static_cast<int>(n_parts));
    double total = 0;
    if constexpr (Extremes)
      Kokkos::parallel_reduce(
          range, [&](int i, double& most) { most = parts[i] > most ? parts[i] : most; },
          Kokkos::Max<double>(total));
    else
      Kokkos::parallel_reduce(
          range, [&](int i, double& sum) { sum += parts[i]; }, total);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { totals[which] = total; });
  }
};

/// Squares of coefficients of u, w and b, which stand in `set` in the place of rows: [flow, kind, n_x] of
/// FlowPowers.
struct RowPowers {
  Flows f;
  const double* set;
  int middle;  ///< row here that is above the middle of the flow
  double height;
  double* powers;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const int n_x = f.mesh.n_x, k = number % n_x, member = number / n_x;
    double sums[4] = {0, 0, 0, 0};
    for (int j = 0; j < f.mesh.n_z; ++j) {
      double c[3];
      for (int which = 0; which < 3; ++which)
        c[which] = f.field(const_cast<double*>(set), which, member)[std::int64_t{j} * n_x + k];
      const double of_gap = 1 / (f.mesh.z_inverse_gap[j] * height), u = 0.5 * c[0] * c[0] / n_x,
                   w = 0.5 * c[1] * c[1] / n_x, b = c[2] * c[2] / n_x;
      if (j == middle) {
        sums[0] = u + w;
        sums[1] = b;
      }
      sums[2] += f.share[j] * u + of_gap * w;
      sums[3] += f.share[j] * b;
    }
    for (int kind = 0; kind < 4; ++kind) powers[(std::int64_t{member} * 4 + kind) * n_x + k] = sums[kind];
  }
};

}  // namespace quintet::convection::device
