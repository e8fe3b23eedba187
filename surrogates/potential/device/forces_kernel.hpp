#pragma once

#include <cstdint>

#include "surrogates/potential/device/environment_kernels.hpp"
#include "surrogates/potential/device/force_sums.hpp"

namespace quintet::potential {

/// Computes for each atom dE/dR of its neighbours from dE/dM and dE/dT, then forces and virial.
///
/// See SpectralEmbedding::differentiate and, with gates, add_gated_gradient. Reads A K reals and 28 bytes a
/// neighbour; adds three whole numbers a neighbour to the forces.
template <class Space, class Real, int order, Form form>
struct ForcesKernel {
  static constexpr int width = device::Cut<Space>::lanes, padded_order = order + 1;
  static constexpr bool gated = form == Form::gated, distances = form == Form::distances;
  static constexpr int n_a = columns_of(form);
  using Team = device::Lanes<width>;
  AtomRows rows;
  EnvironmentNumbers e;
  EnvironmentTables table;
  const Real *polynomial, *gate;
  const Real *moments, *dt;  ///< dE/dM and dE/dT
  int dt_stride;             ///< from atom to atom
  ForceTargets to;

  /// How the energy depends on a neighbour.
  struct Slopes {
    Real row[4];        ///< dE/dR_a, without the way through s; 0 of distances alone
    Real by_place = 0;  ///< dE/dx through the polynomials, x the place in the interval
    Real by_gate = 0;   ///< dE/dw
  };

  [[nodiscard]] KOKKOS_INLINE_FUNCTION int bins() const { return e.n_groups * e.n_dense; }
  [[nodiscard]] int scratch_bytes() const {
    return n_a * bins() * padded_order * static_cast<int>(sizeof(Real));
  }

  KOKKOS_INLINE_FUNCTION void by_moments(const Real* bank, int a_stride, const NeighbourTerm<Real>& term,
                                         Slopes& found) const {
    Real sum = 0, derivative = 0;
    for (int a = 0; a < 4; ++a) found.row[a] = 0;
    for (int k = order - 1; k >= 0; --k) {
      Real projected = 0;
      for (int a = 0; a < n_a; ++a) {
        const Real m = bank[a * a_stride + k];
        if constexpr (!distances) found.row[a] = found.row[a] * term.local + m;
        projected += distances ? m : term.row[a] * m;
      }
      derivative = derivative * term.local + sum;
      sum = sum * term.local + projected;
    }
    found.by_place = derivative;
  }
  /// With gates: by N of its type, whose weight is w, and by M of all neighbours.
  KOKKOS_INLINE_FUNCTION void by_gated_moments(const Real* bank, const Real* of_all, int a_stride,
                                               const NeighbourTerm<Real>& term, Slopes& found) const {
    const Real w = static_cast<Real>(term.w);
    Real sum = 0, derivative = 0;
    for (int a = 0; a < 4; ++a) found.row[a] = 0;
    for (int k = order - 1; k >= 0; --k) {
      Real projected = 0, projected_gated = 0;
      for (int a = 0; a < 4; ++a) {
        const Real n = bank[a * a_stride + k], m = of_all[a * a_stride + k] + w * n;
        found.row[a] = found.row[a] * term.local + m;
        projected += term.row[a] * m;
        projected_gated += term.row[a] * n;
      }
      derivative = derivative * term.local + sum;
      sum = sum * term.local + projected;
      found.by_gate = found.by_gate * term.local + projected_gated;
    }
    found.by_place = derivative;
  }
  /// Of a neighbour too near for the moments. @param pair of types (centre, neighbour)
  KOKKOS_INLINE_FUNCTION void by_channels(int pair, const Real* dt_of_b, const NeighbourTerm<Real>& term,
                                          Slopes& found) const {
    const int net = table.network[pair];
    const Real* c = polynomial + (std::int64_t{net} * e.n_intervals + term.interval) * order * e.n_channels;
    for (int a = 0; a < 4; ++a) found.row[a] = 0;
    for (int m = 0; m < e.n_channels; ++m) {
      Real g = 0, dg = 0, projected = 0;
      for (int k = order - 1; k >= 0; --k) {
        dg = dg * term.local + g;
        g = g * term.local + c[std::int64_t{k} * e.n_channels + m];
      }
      [[maybe_unused]] Real by_gate = 0;
      if constexpr (gated) {
        const Real strength = gate[std::int64_t{pair} * e.n_channels + m],
                   factor = 1 + static_cast<Real>(term.w) * strength;
        by_gate = strength * g;
        g *= factor;
        dg *= factor;
      }
      for (int a = 0; a < n_a; ++a) {
        if constexpr (!distances) found.row[a] += dt_of_b[a * e.n_channels + m] * g;
        projected += dt_of_b[a * e.n_channels + m] * (distances ? Real(1) : term.row[a]);
      }
      found.by_place += projected * dg;
      if constexpr (gated) found.by_gate += projected * by_gate;
    }
  }
  KOKKOS_INLINE_FUNCTION Slopes slopes_of(int centre, int s, const Real* bank, int a_stride,
                                          const Real* dt_of_b, const NeighbourTerm<Real>& term) const {
    Slopes found;
    const Real* const of_type = bank + (s * e.n_dense + term.interval) * padded_order;
    if (term.interval >= e.n_dense)
      by_channels(centre * e.n_types + s, dt_of_b, term, found);
    else if constexpr (gated)
      by_gated_moments(of_type, of_type + (e.n_types - s) * e.n_dense * padded_order, a_stride, term, found);
    else
      by_moments(of_type, a_stride, term, found);
    return found;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const int b, char* scratch) const {
    const int lane = Team::own(), i = rows.atom[b], centre = rows.type[i], n_bins = bins(),
              a_stride = n_bins * padded_order;
    Real* const bank = reinterpret_cast<Real*>(scratch);
    const Real* in = moments + std::int64_t{b} * n_a * n_bins * order;
    for (int o = lane; o < n_a * n_bins * order; o += width)
      bank[o / order * padded_order + o % order] = in[o];
    Team::sync();
    const double* from = rows.x + 3 * std::int64_t{i};
    const double *mean = table.mean + 4 * centre, *scale = table.scale + 4 * centre;
    const int* row = rows.row + std::int64_t{b} * rows.capacity;
    const int n = rows.row_size[b];
    ForceSums<Space> sums(to);
    for (int r = lane; r < n; r += width) {
      const int j = row[r];
      if (j < 0) continue;
      const NeighbourTerm<Real> term(e, mean, scale, from, rows.x + 3 * std::int64_t{j});
      if (term.interval >= e.n_intervals) continue;
      Slopes by = slopes_of(centre, rows.type[j], bank, a_stride, dt + std::int64_t{b} * dt_stride, term);
      by.row[0] += by.by_place * static_cast<Real>(2 * e.inverse_interval);
      const double g[3] = {by.row[1] * scale[1], by.row[2] * scale[2], by.row[3] * scale[3]};
      double by_d[3];
      differentiate_environment<double>(term.slope, term.q, term.dq, by.row[0], g, term.d, by_d);
      if constexpr (gated) {
        // Not through s: near the cutoff w is no function of it that polynomials reach.
        const double r2 = term.d[0] * term.d[0] + term.d[1] * term.d[1] + term.d[2] * term.d[2];
        const double along = by.by_gate * term.dw / ::sqrt(r2);
        for (int l = 0; l < 3; ++l) by_d[l] += along * term.d[l];
      }
      sums.add(j, by_d, term.d);
    }
    sums.finish(b, i);
  }
};

}  // namespace quintet::potential
