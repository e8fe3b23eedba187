#pragma once

#include <cstdint>

#include "physics/particles/device/fixed.hpp"
#include "surrogates/potential/device/lanes.hpp"
#include "surrogates/potential/model/environment_cell.hpp"

/// An atom's neighbours: which are within the cutoff, which of them stay, and their rows of R.
namespace quintet::potential {

/// Numbers of the environment matrix that all atoms share.
struct EnvironmentNumbers {
  double rcut;
  SwitchRange range;
  double lower, inverse_interval;  ///< of the polynomials' intervals, in normalised s
  int n_types, n_groups, n_channels, n_slots, n_intervals, n_dense;
  bool excludes, limits_total;
};

/// Tables by type, in device memory.
struct EnvironmentTables {
  const double *mean, *scale;  ///< [n_types, 4]
  const int *sel, *slots;
  const char *dropped, *emptied;
  const int* network;
};

/// A single pair's force beyond this (eV/angstrom) is reported: its sum could leave the range.
inline constexpr double largest_pair_force = 2000;

using device::Fixed;
using device::from_fixed;
using device::to_fixed;

/// Errors, counted on the device.
struct Trouble {
  int overflowing;  ///< atoms with more neighbours than sel holds
  int too_close;    ///< 1 + an atom with a neighbour nearer than the polynomials reach
  int too_strong;   ///< 1 + an atom with a pair force beyond largest_pair_force, or with too much repulsion
};

/// A neighbour's row of R, what the chain rule needs, and where the polynomials have it.
template <class Real>
struct NeighbourTerm {
  double d[3], slope, q, dq;
  double w, dw;  ///< the switch, which gates read, and its derivative by r
  Real row[4], local;
  int interval;

  KOKKOS_INLINE_FUNCTION NeighbourTerm(const EnvironmentNumbers& e, const double* mean, const double* scale,
                                       const double* from, const double* to) {
    double distance2 = 0;
    for (int l = 0; l < 3; ++l) {
      d[l] = to[l] - from[l];
      distance2 += d[l] * d[l];
    }
    const EnvironmentTerm<double> term(e.range, mean[0], scale[0], distance2);
    slope = term.slope;
    q = term.q;
    dq = term.dq;
    w = term.w;
    dw = term.dw;
    row[0] = static_cast<Real>(term.s);
    for (int l = 0; l < 3; ++l)
      row[1 + l] = static_cast<Real>(environment_component(q, d[l], mean[1 + l], scale[1 + l]));
    const SpectralPlace<Real> place(row[0], static_cast<Real>(e.lower), static_cast<Real>(e.inverse_interval),
                                    e.n_intervals);
    interval = place.interval;
    local = place.local;
  }
};

/// Positions and list of a chunk of atoms.
struct AtomRows {
  const int* atom;  ///< [n] local indices of the chunk's atoms
  const double* x;
  const int* type;
  const std::int64_t* offset;
  const int* list;
  int* row_size;  ///< [n] neighbours within the cutoff
  int* row;       ///< [n, capacity] their indices; ~j for those that sel or an exclusion leaves out
  int capacity;
};

/// Finds the neighbours of an atom for one descriptor.
template <class Space>
struct NeighbourSelection {
  static constexpr int width = device::Cut<Space>::lanes;
  using Team = device::Lanes<width>;
  AtomRows rows;
  EnvironmentNumbers e;
  EnvironmentTables table;
  Trouble* trouble;

  /// List the neighbours of atom i, row b, within the cutoff; ~j for those that are left out. Returns how
  /// many are listed, and leaves filled slots by type in count [n_types].
  KOKKOS_INLINE_FUNCTION int find(int b, int i, int* count) const {
    const double* from = rows.x + 3 * std::int64_t{i};
    int* const row = rows.row + std::int64_t{b} * rows.capacity;
    const int* listed = rows.list + rows.offset[i];
    const double limit = e.rcut * e.rcut;
    const int n = Team::select(
        static_cast<int>(rows.offset[i + 1] - rows.offset[i]),
        [&](int c) { return distance2(from, listed[c]) < limit; },
        [&](int c, int at) { row[at] = listed[c]; });
    if (Team::own() == 0) rows.row_size[b] = n;
    select(rows.type[i], from, row, n, count);
    return n;
  }

 private:
  /// Apply sel and the exclusions; leaves filled slots by type in count. See Environment::select.
  KOKKOS_INLINE_FUNCTION void select(int centre, const double* from, int* row, int n, int* count) const {
    const int lane = Team::own();
    for (int t = lane; t < e.n_types; t += width) count[t] = 0;
    Team::sync();
    for (int r = lane; r < n; r += width) device::add_atomically(&count[rows.type[row[r]]], 1);
    Team::sync();
    bool overflow = e.limits_total && n > e.n_slots;
    for (int t = 0; t < e.n_types; ++t) overflow = overflow || count[t] > table.sel[t];
    if (!overflow && !e.excludes) return;
    Team::sync();  // all have read the counts
    if (overflow) {
      if (lane == 0) device::add_atomically(&trouble->overflowing, 1);
      leave_out_farthest(from, row, n);
      for (int t = lane; t < e.n_types; t += width) count[t] = 0;
      Team::sync();
      for (int r = lane; r < n; r += width)
        if (row[r] >= 0) device::add_atomically(&count[rows.type[row[r]]], 1);
      Team::sync();
    }
    for (int r = lane; r < n; r += width) {
      const int j = row[r];
      if (j < 0) continue;
      const int t = rows.type[j], pair = centre * e.n_types + t;
      if (table.emptied[pair]) device::add_atomically(&count[t], -1);
      if (table.emptied[pair] || table.dropped[pair]) row[r] = ~j;
    }
    Team::sync();
  }

  KOKKOS_INLINE_FUNCTION double distance2(const double* from, int j) const {
    const double* to = rows.x + 3 * std::int64_t{j};
    double sum = 0;
    for (int l = 0; l < 3; ++l) sum += (to[l] - from[l]) * (to[l] - from[l]);
    return sum;
  }

  /// Neighbours beyond the nearest that sel holds become ~j: rare, so the cost of n^2 distances does not
  /// matter.
  KOKKOS_INLINE_FUNCTION void leave_out_farthest(const double* from, int* row, int n) const {
    const int lane = Team::own();
    // A rank counts all rows, those that other lanes have marked, too: ~j gives j back.
    for (int r = lane; r < n; r += width) {
      const int j = row[r], t = rows.type[j];
      const double own = distance2(from, j);
      int rank = 0, rank_of_type = 0;
      for (int c = 0; c < n; ++c) {
        const int other = row[c] < 0 ? ~row[c] : row[c];
        const double d2 = distance2(from, other);
        const bool before = d2 < own || (d2 == own && c < r);
        rank += before;
        rank_of_type += before && rows.type[other] == t;
      }
      if (rank_of_type >= table.sel[t] || (e.limits_total && rank >= e.n_slots)) row[r] = ~j;
    }
    Team::sync();
  }
};

}  // namespace quintet::potential
