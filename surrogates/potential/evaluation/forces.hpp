#pragma once

#include <array>

#include "physics/particles/atoms/atoms.hpp"
#include "surrogates/potential/model/batch.hpp"

namespace quintet::potential {

/// visit(row, d, dE_b/dd) for all neighbours of atom b of a batch, d = x_j - x_b, from batch.gradient (dE/dR)
/// by the chain rule through the environment matrix:
///
///     dE/dd_l = (s'/r dE/dR_0 + q'/r g.d) d_l + q g_l,  g_l = dE/dR_l / deviation_l.
///
/// @param deviation of the centre type's rows
template <class Real, class Visit>
void visit_slopes(const Batch<Real>& batch, int b, const std::array<double, 4>& deviation, Visit&& visit) {
  const double scale[3] = {1 / deviation[1], 1 / deviation[2], 1 / deviation[3]};
  const int begin = batch.first_row(b), end = batch.first_row(b + 1);
  for (int r = begin; r < end; ++r) {
    const Real* gradient = batch.gradient.data() + 4 * static_cast<std::size_t>(r);
    const double d[3] = {batch.dx[r], batch.dy[r], batch.dz[r]};
    const double g[3] = {gradient[1] * scale[0], gradient[2] * scale[1], gradient[3] * scale[2]};
    const double along =
        batch.slope[r] * gradient[0] + batch.dq[r] * (g[0] * d[0] + g[1] * d[1] + g[2] * d[2]);
    const double slope[3] = {along * d[0] + batch.q[r] * g[0], along * d[1] + batch.q[r] * g[1],
                             along * d[2] + batch.q[r] * g[2]};
    visit(r, d, slope);
  }
}

/// Add the forces of atom b's energy on itself and its neighbours, and its virial.
/// @param owner the index in `force` [atoms, 3] of a neighbour's index
template <class Real, class Owner>
void add_forces_of(const Batch<Real>& batch, int b, const std::array<double, 4>& deviation, Owner&& owner,
                   double* force, Mat3& virial) {
  double own[3] = {}, sum[9] = {};
  visit_slopes(batch, b, deviation, [&](int r, const double* d, const double* slope) {
    double* on_neighbour = force + 3 * static_cast<std::size_t>(owner(batch.neighbour[r]));
    for (int l = 0; l < 3; ++l) {
      on_neighbour[l] -= slope[l];
      own[l] += slope[l];
      for (int k = 0; k < 3; ++k) sum[3 * l + k] -= slope[l] * d[k];
    }
  });
  for (int l = 0; l < 3; ++l) force[3 * static_cast<std::size_t>(batch.atom[b]) + l] += own[l];
  for (int k = 0; k < 9; ++k) virial[k] += sum[k];
}

}  // namespace quintet::potential
