#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "physics/particles/atoms/atoms.hpp"
#include "surrogates/potential/model/batch.hpp"
#include "surrogates/potential/model/environment_cell.hpp"

namespace quintet::potential {

/// The four columns of W rows [W, 4], as doubles.
template <class Real>
std::array<Pack<double>, 4> columns_of_rows(const Real* rows) {
  constexpr int w = pack_width<double>;
  std::array<Pack<double>, 4> columns;
  if constexpr (pack_width<Real> == 2 * w) {  // each pack of floats has half of the rows
    const Pack<Real> first = load<Real>(rows), second = load<Real>(rows + 2 * w);
    const auto two_columns = [&]<int... l>(int at, std::integer_sequence<int, l...>, auto column) {
      constexpr int c = decltype(column)::value;
      const Pack<Real> both = __builtin_shufflevector(first, second, (l % w * 4 + c + l / w)...);
      Pack<Real, w> halves[2];
      std::memcpy(halves, &both, sizeof both);
      columns[at] = __builtin_convertvector(halves[0], Pack<double>);
      columns[at + 1] = __builtin_convertvector(halves[1], Pack<double>);
    };
    two_columns(0, std::make_integer_sequence<int, 2 * w>(), std::integral_constant<int, 0>());
    two_columns(2, std::make_integer_sequence<int, 2 * w>(), std::integral_constant<int, 2>());
  } else {
    double lanes[4][w];
    for (int l = 0; l < w; ++l)
      for (int a = 0; a < 4; ++a) lanes[a][l] = rows[4 * l + a];
    for (int a = 0; a < 4; ++a) columns[a] = load<double>(lanes[a]);
  }
  return columns;
}

/// visit(row, n, d, dE_b/dd) for all neighbours of atom b of a batch, a pack of rows at a time (of the last
/// one n are neighbours, and slopes 0 beyond them), d = x_j - x_b, from batch.gradient (dE/dR) by the chain
/// rule through the environment matrix:
///
///     dE/dd_l = (s'/r dE/dR_0 + q'/r g.d) d_l + q g_l,  g_l = dE/dR_l / deviation_l.
///
/// @param deviation of the centre type's rows
template <class Real, class Visit>
void visit_slopes(const Batch<Real>& batch, int b, const std::array<double, 4>& deviation, Visit&& visit) {
  constexpr int w = pack_width<double>;
  const auto lane = []<int... l>(std::integer_sequence<int, l...>) { return Pack<double>{double(l)...}; }
  (std::make_integer_sequence<int, w>());
  const int begin = batch.first_row(b), end = batch.first_row(b + 1);
  for (int r = begin; r < end; r += w) {
    const auto gradient = columns_of_rows<Real>(batch.gradient.data() + 4 * std::int64_t{r});
    const Pack<double> d[3] = {load<double>(batch.dx.data() + r), load<double>(batch.dy.data() + r),
                               load<double>(batch.dz.data() + r)};
    const Pack<double> g[3] = {gradient[1] * (1 / deviation[1]), gradient[2] * (1 / deviation[2]),
                               gradient[3] * (1 / deviation[3])};
    const int n = std::min(w, end - r);
    const auto there = lane < broadcast<double>(n);
    const Pack<double> zero{};
    Pack<double> slope[3];
    differentiate_environment<Pack<double>>(load<double>(batch.slope.data() + r),
                                            load<double>(batch.q.data() + r),
                                            load<double>(batch.dq.data() + r), gradient[0], g, d, slope);
    for (auto& of_l : slope) of_l = there ? of_l : zero;
    visit(r, n, d, slope);
  }
}

/// Add the forces of atom b's energy on itself and its neighbours, and its virial.
/// @param owner the index in `force` [atoms, 3] of a neighbour's index
template <class Real, class Owner>
void add_forces_of(const Batch<Real>& batch, int b, const std::array<double, 4>& deviation, Owner&& owner,
                   double* force, Mat3& virial) {
  Pack<double> own[3] = {}, sum[9] = {};
  visit_slopes(batch, b, deviation, [&](int r, int n, const Pack<double>* d, const Pack<double>* slope) {
    for (int l = 0; l < 3; ++l) {
      own[l] += slope[l];
      for (int k = 0; k < 3; ++k) sum[3 * l + k] -= slope[l] * d[k];
    }
    for (int i = 0; i < n; ++i) {
      double* on_neighbour = force + 3 * std::int64_t{owner(batch.neighbour[r + i])};
      for (int l = 0; l < 3; ++l) on_neighbour[l] -= slope[l][i];
    }
  });
  for (int l = 0; l < 3; ++l) force[3 * std::int64_t{batch.atom[b]} + l] += horizontal_sum<double>(own[l]);
  for (int k = 0; k < 9; ++k) virial[k] += horizontal_sum<double>(sum[k]);
}

}  // namespace quintet::potential
