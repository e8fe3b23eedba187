#pragma once

#include <cstdint>

#include "surrogates/potential/device/force_sums.hpp"
#include "surrogates/potential/evaluation/triplets/triplet_place.hpp"

/// Pairs of an atom's neighbours to D and back: se_e3 (see TripletEmbedding).
namespace quintet::potential {

/// x y + z, rounded once: the kernels of both ways must find the same theta to the last bit.
KOKKOS_INLINE_FUNCTION double fused(double x, double y, double z) { return ::fma(x, y, z); }
KOKKOS_INLINE_FUNCTION float fused(float x, float y, float z) { return ::fmaf(x, y, z); }

/// Where pairs of neighbours have their polynomials.
struct TripletNumbers {
  int n_rows;  ///< most rows of an atom: slots, and for each type one that stands for its empty ones
  int order, part_bits, one_sign;
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int n_intervals() const { return 2 * one_sign; }
};

/// Rows of R of an atom's neighbours, types one after the other, in its scratch; after those of a type, where
/// it is not 0, the row of its empty slots.
template <class Space, class Real>
class TripletDirections {
 public:
  static constexpr int width = device::Cut<Space>::lanes;
  using Team = device::Lanes<width>;

  /// Room that it takes of a scratch (bytes).
  [[nodiscard]] KOKKOS_INLINE_FUNCTION static int scratch_bytes(int n_rows, int n_types) {
    return 8 * ((4 * n_rows * static_cast<int>(sizeof(Real)) + 7) / 8) +
           8 * ((n_rows + n_types + 1) * static_cast<int>(sizeof(int)) / 8 + 1);
  }

  KOKKOS_INLINE_FUNCTION TripletDirections(char* scratch, int n_rows)
      : x_(reinterpret_cast<Real*>(scratch)),
        y_(x_ + n_rows),
        z_(y_ + n_rows),
        count_(z_ + n_rows),
        atom_(reinterpret_cast<int*>(scratch + 8 * ((4 * n_rows * sizeof(Real) + 7) / 8))),
        first_(atom_ + n_rows) {}

  /// Gather the neighbours that stay of atom i, row b. @param filled [n_types] slots by type
  KOKKOS_INLINE_FUNCTION void gather(const AtomRows& rows, const EnvironmentNumbers& e,
                                     const EnvironmentTables& table, int b, int i, const int* filled) const {
    const int lane = Team::own(), n = rows.row_size[b], centre = rows.type[i];
    const int* const row = rows.row + std::int64_t{b} * rows.capacity;
    const double *mean = table.mean + 4 * centre, *scale = table.scale + 4 * centre;
    const bool has_empty = mean[1] != 0 || mean[2] != 0 || mean[3] != 0;
    int at = 0;
    for (int t = 0; t < e.n_types; ++t) {
      if (lane == 0) first_[t] = at;
      at += Team::select(
          n, [&](int c) { return row[c] >= 0 && rows.type[row[c]] == t; },
          [&](int c, int place) { atom_[at + place] = row[c]; });
      const int n_empty = table.slots[t] - filled[t];
      if (!has_empty || n_empty <= 0) continue;
      if (lane == 0) {
        atom_[at] = -1;
        set(at, -mean[1] * scale[1], -mean[2] * scale[2], -mean[3] * scale[3], n_empty);
      }
      ++at;
    }
    if (lane == 0) first_[e.n_types] = at;
    Team::sync();
    for (int r = lane; r < at; r += width) {
      if (atom_[r] < 0) continue;
      const NeighbourTerm<Real> term(e, mean, scale, rows.x + 3 * std::int64_t{i},
                                     rows.x + 3 * std::int64_t{atom_[r]});
      set(r, term.row[1], term.row[2], term.row[3], 1);
    }
    Team::sync();
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION int first(int type) const { return first_[type]; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_empty(int type) const {
    return first_[type] == first_[type + 1];
  }
  /// The neighbour of a row; -1: empty slots.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int atom(int row) const { return atom_[row]; }
  /// How many slots have this row.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Real count(int row) const { return count_[row]; }
  /// R_j . R_k: the same for (k, j).
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Real theta(int j, int k) const {
    return fused(z_[j], z_[k], fused(y_[j], y_[k], x_[j] * x_[k]));
  }
  KOKKOS_INLINE_FUNCTION void add_row(int row, Real factor, Real* sum) const {
    sum[0] += factor * x_[row];
    sum[1] += factor * y_[row];
    sum[2] += factor * z_[row];
  }

 private:
  KOKKOS_INLINE_FUNCTION void set(int row, double x, double y, double z, int count) const {
    x_[row] = static_cast<Real>(x);
    y_[row] = static_cast<Real>(y);
    z_[row] = static_cast<Real>(z);
    count_[row] = static_cast<Real>(count);
  }

  Real *x_, *y_, *z_, *count_;
  int *atom_, *first_;
};

/// What both kernels of triplets read.
template <class Space, class Real>
struct TripletInputs {
  AtomRows rows;
  EnvironmentNumbers e;
  EnvironmentTables table;
  TripletNumbers triplets;
  const Real* polynomial;  ///< [types t <= u, interval, order, channels], divided by sel_t sel_u
  const Real* x_by_theta;  ///< [interval]
  int* filled;             ///< [n, n_types] slots by type

  using Directions = TripletDirections<Space, Real>;
  [[nodiscard]] KOKKOS_INLINE_FUNCTION const Real* polynomials(int t, int u) const {
    const std::int64_t size = std::int64_t{triplets.n_intervals()} * triplets.order * e.n_channels;
    return polynomial + (u * (u + 1) / 2 + t) * size;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION TripletPlace<Real> place(Real theta) const {
    return {theta, triplets.part_bits, triplets.one_sign};
  }
  /// Scratch: rows of R, numbers and a mark of each interval, then a kernel's own.
  [[nodiscard]] int scratch_bytes(int own_reals, int own_ints) const {
    const int reals = triplets.n_intervals() * triplets.order + own_reals;
    return Directions::scratch_bytes(triplets.n_rows, e.n_types) +
           8 * ((reals * static_cast<int>(sizeof(Real)) + 7) / 8) +
           (triplets.n_intervals() + own_ints) * static_cast<int>(sizeof(int));
  }
};

/// Computes for each atom D_m = sum_{t <= u} 1/(sel_t sel_u) sum_{j of t, k of u} theta_jk G^tu_m(theta_jk).
///
/// Pairs enter through moments of their interval, sum theta x^k, which stay in the atom's scratch: lanes take
/// pairs, then powers, then channels. Reads 28 bytes a listed atom, writes D.
template <class Space, class Real>
struct TripletKernel {
  static constexpr int width = device::Cut<Space>::lanes;
  using Team = device::Lanes<width>;
  TripletInputs<Space, Real> in;
  Real* d;
  int d_stride;
  Trouble* trouble;

  [[nodiscard]] int scratch_bytes() const { return in.scratch_bytes(width * (in.triplets.order + 1), width); }

  /// Scratch of an atom.
  struct Own {
    Real *moments, *power;  ///< [interval, order], [lane, order + 1]
    int *marked, *place;    ///< [interval], [lane]
  };

  /// M_pk += theta x^k of some lanes' pairs in one interval.
  KOKKOS_INLINE_FUNCTION void add_moments(unsigned set, int interval, const Own& own) const {
    const int order = in.triplets.order;
    const bool is_first = own.marked[interval] == 0;
    Team::sync();  // all have read the mark
    for (int o = Team::own(); o < order; o += width) {
      Real sum = 0;
      for (unsigned rest = set; rest != 0; rest &= rest - 1)
        sum += own.power[Team::first(rest) * (order + 1) + o];
      Real& moment = own.moments[interval * order + o];
      moment = is_first ? sum : moment + sum;
    }
    if (Team::own() == 0) own.marked[interval] = 1;
    Team::sync();
  }

  /// Moments of the pairs of j with the rows [begin, end); false where one is beyond the intervals.
  template <class Directions>
  KOKKOS_INLINE_FUNCTION bool add_pairs(const Directions& rows, int j, int begin, int end, bool is_one_type,
                                        const Own& own) const {
    const int lane = Team::own(), order = in.triplets.order;
    bool reached = true;
    for (int base = begin; base < end; base += width) {
      const int k = base + lane;
      if (k < end) {
        const Real theta = rows.theta(j, k);
        const auto place = in.place(theta);
        own.place[lane] = place.interval;
        reached = reached && place.interval >= 0;
        Real value = theta * (is_one_type && k != j ? 2 : 1) * rows.count(j) * rows.count(k);
        for (int o = 0; o < order; ++o, value *= place.x) own.power[lane * (order + 1) + o] = value;
      }
      Team::sync();
      const int filled = end - base < width ? end - base : width;
      for (unsigned rest = Team::which(lane < filled); rest != 0;) {
        const int interval = own.place[Team::first(rest)];
        const unsigned same = Team::which(lane < filled && own.place[lane] == interval);
        rest &= ~same;
        if (interval >= 0) add_moments(same, interval, own);
      }
      Team::sync();
    }
    return reached;
  }

  /// D_m += sum_p sum_k c_pkm M_pk over the intervals that were met.
  KOKKOS_INLINE_FUNCTION void contract(const Real* c, const Own& own, Real* to) const {
    const int order = in.triplets.order, channels = in.e.n_channels;
    for (int m = Team::own(); m < channels; m += width) {
      Real sum = 0;
      for (int p = 0; p < in.triplets.n_intervals(); ++p) {
        if (own.marked[p] == 0) continue;
        const Real* const of_p = c + std::int64_t{p} * order * channels + m;
        for (int k = 0; k < order; ++k) sum += own.moments[p * order + k] * of_p[k * channels];
      }
      to[m] += sum;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const int b, char* scratch) const {
    const int lane = Team::own(), i = in.rows.atom[b], n_intervals = in.triplets.n_intervals();
    const TripletDirections<Space, Real> rows(scratch, in.triplets.n_rows);
    scratch += rows.scratch_bytes(in.triplets.n_rows, in.e.n_types);
    Own own{};
    own.moments = reinterpret_cast<Real*>(scratch);
    own.power = own.moments + n_intervals * in.triplets.order;
    const int reals = n_intervals * in.triplets.order + width * (in.triplets.order + 1);
    own.marked = reinterpret_cast<int*>(scratch + 8 * ((reals * sizeof(Real) + 7) / 8));
    own.place = own.marked + n_intervals;
    int* const filled = in.filled + std::int64_t{b} * in.e.n_types;
    (void)NeighbourSelection<Space>{in.rows, in.e, in.table, trouble}.find(b, i, filled);
    rows.gather(in.rows, in.e, in.table, b, i, filled);
    Real* const to = d + std::int64_t{b} * d_stride;
    for (int m = lane; m < in.e.n_channels; m += width) to[m] = 0;
    bool reached = true;
    for (int u = 0; u < in.e.n_types; ++u)
      for (int t = 0; t <= u; ++t) {
        if (rows.is_empty(t) || rows.is_empty(u)) continue;
        for (int p = lane; p < n_intervals; p += width) own.marked[p] = 0;
        Team::sync();
        for (int j = rows.first(t); j < rows.first(t + 1); ++j)
          reached = add_pairs(rows, j, t == u ? j : rows.first(u), rows.first(u + 1), t == u, own) && reached;
        contract(in.polynomials(t, u), own, to);
        Team::sync();  // all have read the marks
      }
    if (!reached) (void)Kokkos::atomic_fetch_max(&trouble->too_close, i + 1);
  }
};

/// Computes for each atom dE/dR of its neighbours from dE/dD, then forces and virial.
///
/// A lane has neighbours of its own and goes through all pairs of each, so that none waits for another:
///   dE/dR_j = sum_k (1 + [t = u]) d/dtheta [theta sum_m c_m(theta) dE/dD_m] R_k.
template <class Space, class Real>
struct TripletForcesKernel {
  static constexpr int width = device::Cut<Space>::lanes;
  using Team = device::Lanes<width>;
  TripletInputs<Space, Real> in;
  const Real* dd;
  int d_stride;
  ForceTargets to;

  [[nodiscard]] int scratch_bytes() const { return in.scratch_bytes(3 * in.triplets.n_rows, 0); }

  /// Mark the intervals of the pairs of two types of neighbours.
  template <class Directions>
  KOKKOS_INLINE_FUNCTION void mark(const Directions& rows, int t, int u, int* marked) const {
    for (int p = Team::own(); p < in.triplets.n_intervals(); p += width) marked[p] = 0;
    Team::sync();
    for (int j = rows.first(t); j < rows.first(t + 1); ++j)
      for (int k = (t == u ? j : rows.first(u)) + Team::own(); k < rows.first(u + 1); k += width)
        if (const auto place = in.place(rows.theta(j, k)); place.interval >= 0) marked[place.interval] = 1;
    Team::sync();
  }

  /// q_pk = sum_m c_pkm dE/dD_m of the intervals that are marked.
  KOKKOS_INLINE_FUNCTION void contract_back(const Real* c, const Real* dd_of_b, const int* marked,
                                            Real* q) const {
    const int order = in.triplets.order, channels = in.e.n_channels;
    for (int o = Team::own(); o < in.triplets.n_intervals() * order; o += width) {
      if (marked[o / order] == 0) continue;
      Real sum = 0;
      for (int m = 0; m < channels; ++m) sum += c[std::int64_t{o} * channels + m] * dd_of_b[m];
      q[o] = sum;
    }
    Team::sync();
  }

  /// Add the pairs of a lane's rows of one type with all of another to dE/dR.
  template <class Directions>
  KOKKOS_INLINE_FUNCTION void add_slopes(const Directions& rows, int t, int u, const Real* q,
                                         Real* gradient) const {
    for (int j = rows.first(t) + Team::own(); j < rows.first(t + 1); j += width) {
      if (rows.atom(j) < 0) continue;
      for (int k = rows.first(u); k < rows.first(u + 1); ++k) {
        const Real theta = rows.theta(j, k);
        const auto place = in.place(theta);
        if (place.interval < 0) continue;
        const Real* const of_p = q + place.interval * in.triplets.order;
        Real value = 0, slope = 0;
        for (int o = in.triplets.order - 1; o >= 0; --o) {
          slope = slope * place.x + value;
          value = value * place.x + of_p[o];
        }
        rows.add_row(
            k, (t == u ? 2 : 1) * rows.count(k) * (value + theta * in.x_by_theta[place.interval] * slope),
            gradient + 3 * j);
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const int b, char* scratch) const {
    const int lane = Team::own(), i = in.rows.atom[b], centre = in.rows.type[i],
              n_intervals = in.triplets.n_intervals();
    const TripletDirections<Space, Real> rows(scratch, in.triplets.n_rows);
    scratch += rows.scratch_bytes(in.triplets.n_rows, in.e.n_types);
    Real* const q = reinterpret_cast<Real*>(scratch);
    Real* const gradient = q + n_intervals * in.triplets.order;
    const int reals = n_intervals * in.triplets.order + 3 * in.triplets.n_rows;
    int* const marked = reinterpret_cast<int*>(scratch + 8 * ((reals * sizeof(Real) + 7) / 8));
    rows.gather(in.rows, in.e, in.table, b, i, in.filled + std::int64_t{b} * in.e.n_types);
    const int n = rows.first(in.e.n_types);
    for (int o = lane; o < 3 * n; o += width) gradient[o] = 0;
    Team::sync();
    for (int u = 0; u < in.e.n_types; ++u)
      for (int t = 0; t <= u; ++t) {
        if (rows.is_empty(t) || rows.is_empty(u)) continue;
        mark(rows, t, u, marked);
        contract_back(in.polynomials(t, u), dd + std::int64_t{b} * d_stride, marked, q);
        add_slopes(rows, t, u, q, gradient);
        if (t != u) add_slopes(rows, u, t, q, gradient);
        Team::sync();
      }
    const double *mean = in.table.mean + 4 * centre, *scale = in.table.scale + 4 * centre;
    ForceSums<Space> sums(to);
    for (int r = lane; r < n; r += width) {
      const int j = rows.atom(r);
      if (j < 0) continue;
      const NeighbourTerm<Real> term(in.e, mean, scale, in.rows.x + 3 * std::int64_t{i},
                                     in.rows.x + 3 * std::int64_t{j});
      double g[3], by_d[3];
      for (int l = 0; l < 3; ++l) g[l] = gradient[3 * r + l] * scale[1 + l];
      differentiate_environment<double>(term.slope, term.q, term.dq, 0.0, g, term.d, by_d);
      sums.add(j, by_d, term.d);
    }
    sums.finish(b, i);
  }
};

}  // namespace quintet::potential
