#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "physics/convection/device/column_kernels.hpp"
#include "physics/transforms/elimination_cell.hpp"

/// Columns relaxed, and the vectors of conjugate gradients: A q = r, A = shift - c (L_x + L_z), as
/// ColumnEquations, of several unknowns of several flows at once, a pair each.
namespace quintet::convection::device {

/// Columns of a grid on the device. Those that the coarser grid has, every second one, stand first: a field
/// is [unknown][flow][n_z, n] and threads beside each other read numbers beside each other.
struct GridLevel {
  int n, n_kept;
  const int *left, *right;  ///< [n] places of neighbours
  const int* coarser;       ///< [n_kept] places on the coarser grid
  const double* lines[4];   ///< of each unknown [4, n]: below, diagonal, above, weight
  double *q, *r;

  KOKKOS_INLINE_FUNCTION const double* line(int which, int part) const {
    return lines[which] + std::int64_t{part} * n;
  }
  /// Where a pair's rows begin.
  KOKKOS_INLINE_FUNCTION std::ptrdiff_t begin(const Flows& f, int pair) const {
    return std::int64_t{pair} * f.mesh.n_z * n;
  }
};

/// System to solve: `n_fields` unknowns from `first` on, with the coefficients of ColumnEquations.
struct Solve {
  Flows f;
  int first, n_fields;
  double shift, a;
  const double* z_weight[4];

  KOKKOS_INLINE_FUNCTION int which(int pair) const { return first + pair / f.n_members; }
  KOKKOS_INLINE_FUNCTION ColumnEquations equations(const GridLevel& level, int pair, int k) const {
    ColumnEquations result(f, which(pair), 0, shift, a);
    result.along = result.c * level.line(which(pair), 1)[k];
    return result;
  }
  int pairs() const { return n_fields * f.n_members; }
};

/// Columns of one colour solved, their neighbours as they are: [from, to) of `level`, tiles of `width` of
/// them a team, each in `segments` of rows at once (the ends of which are found first: see the top of
/// column_kernels.hpp).
struct Relaxation {
  Solve solve;
  GridLevel level;
  int from, to;
  bool alone;     ///< neighbours are 0
  bool singular;  ///< the equations leave a constant open
  int width, segments;

  enum { f_side, l_side, f_of_below, l_of_below, f_of_above, l_of_above, n_ends };
  static constexpr int ahead = Columns::ahead;
  std::size_t scratch() const { return sizeof(double) * n_ends * width * segments; }
  int tiles() const { return (to - from + width - 1) / width; }

  struct Segment {
    int k, pair, begin, end;
  };
  KOKKOS_INLINE_FUNCTION Segment segment_of(int team, int t) const {
    const int n_tiles = (to - from + width - 1) / width, s = t / width, n_z = solve.f.mesh.n_z;
    return {from + team % n_tiles * width + t % width, team / n_tiles,
            static_cast<int>(std::int64_t{n_z} * s / segments),
            static_cast<int>(std::int64_t{n_z} * (s + 1) / segments)};
  }
  /// Right-hand sides of `ahead` rows from j on.
  KOKKOS_INLINE_FUNCTION void sides(const Segment& s, const ColumnEquations& equations, int j,
                                    double* value) const {
    const int n = level.n;
    const double* const r = level.r + level.begin(solve.f, s.pair);
    for (int i = 0; i < ahead; ++i) value[i] = j + i < s.end ? r[std::int64_t{j + i} * n + s.k] : 0.0;
    if (alone) return;
    const int which = solve.which(s.pair);
    const double below = equations.c * level.line(which, 0)[s.k],
                 above = equations.c * level.line(which, 2)[s.k];
    const double* const q = level.q + level.begin(solve.f, s.pair);
    const double *const left = q + level.left[s.k], *const right = q + level.right[s.k];
    for (int i = 0; i < ahead; ++i)
      if (j + i < s.end) {
        const std::ptrdiff_t row = std::int64_t{j + i} * n;
        value[i] += below * left[row] + above * right[row];
      }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    auto* const ends =
        static_cast<double*>(team.team_scratch(0).get_shmem(sizeof(double) * (n_ends * width * segments)));
    const int number = team.league_rank(), items = width * segments;
    if (segments > 1) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, items), [&](int t) { find_ends(number, t, ends); });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int t) { join_ends(t, ends); });
      team.team_barrier();
    }
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, items), [&](int t) { eliminate(number, t, ends); });
  }

  /// Number `kind` of the ends of segment s of column t of a tile.
  KOKKOS_INLINE_FUNCTION double& end(double* ends, int kind, int s, int t) const {
    return ends[(kind * segments + s) * width + t];
  }
  KOKKOS_INLINE_FUNCTION void find_ends(int team, int t, double* ends) const {
    const Segment s = segment_of(team, t);
    if (s.k >= to) return;
    const ColumnEquations equations = solve.equations(level, s.pair, s.k);
    double x = 0, spike = -1, carried = 0, weight = 1, sum = 0, of_spike = 0;
    for (int first = s.begin; first < s.end; first += ahead) {
      double value[ahead];
      sides(s, equations, first, value);
      for (int i = 0; i < ahead; ++i) {
        if (first + i >= s.end) break;
        const auto row = equations.row(first + i, carried);
        x = elimination::eliminated(value[i], row.lower, x, row.inverse);
        spike = elimination::next_spike(row.lower, spike, row.inverse);
        sum += weight * x;
        of_spike += weight * spike;
        carried = row.carried;
        weight = elimination::next_weight(carried, weight);
      }
    }
    const int number = t / width, column = t % width;
    end(ends, f_side, number, column) = sum;
    end(ends, l_side, number, column) = x;
    end(ends, f_of_below, number, column) = of_spike;
    end(ends, l_of_below, number, column) = spike;
    end(ends, f_of_above, number, column) = -weight;
    end(ends, l_of_above, number, column) = carried;
  }
  /// Afterwards f_side and l_side of a segment are what is above and below it. As JoinedSides.
  KOKKOS_INLINE_FUNCTION void join_ends(int t, double* ends) const {
    double known = end(ends, l_side, 0, t), l_of_f = end(ends, l_of_above, 0, t);
    for (int s = 1; s < segments; ++s) {
      const double of_below = end(ends, f_of_below, s, t), l_below = end(ends, l_of_below, s, t);
      double next = end(ends, l_side, s, t), l_of_next = end(ends, l_of_above, s, t);
      double over =
          elimination::join_below(l_of_f, of_below, l_below, end(ends, f_of_above, s, t), l_of_next);
      if (singular && s + 1 == segments) over = 0;  // the constant is left open
      elimination::join_sides(known, l_of_f, of_below, l_below, over, end(ends, f_side, s, t), next);
      end(ends, l_side, s, t) = known;
      end(ends, l_of_below, s, t) = l_of_f;
      known = next;
      l_of_f = l_of_next;
    }
    double first = 0;  // of the segment above
    for (int s = segments; s-- > 1;) {
      const double own = end(ends, f_side, s, t) - end(ends, f_of_above, s, t) * first;
      end(ends, f_side, s, t) = first;
      end(ends, l_side, s, t) -= end(ends, l_of_below, s, t) * own;
      first = own;
    }
    end(ends, f_side, 0, t) = first;
    end(ends, l_side, 0, t) = 0;
  }
  // A segment eliminates its rows from the values at its ends, forward and then back: Thomas' algorithm on a
  // part of the column.
  KOKKOS_INLINE_FUNCTION void eliminate(int team, int t, double* ends) const {
    const Segment s = segment_of(team, t);
    if (s.k >= to) return;
    const ColumnEquations equations = solve.equations(level, s.pair, s.k);
    const std::ptrdiff_t begin = level.begin(solve.f, s.pair) + s.k;
    double* const q = level.q + begin;
    double* const rest = solve.f.eliminated + begin;
    const auto place = [n = level.n](int j) { return std::int64_t{j} * n; };
    double x = segments > 1 ? end(ends, l_side, t / width, t % width) : 0.0, carried = 0;
    for (int first = s.begin; first < s.end; first += ahead) {
      double value[ahead];
      sides(s, equations, first, value);
      for (int i = 0; i < ahead; ++i) {
        const int j = first + i;
        if (j >= s.end) break;
        const auto row = equations.row(j, carried);
        carried = row.carried;
        x = elimination::eliminated(value[i], row.lower, x, row.inverse);
        q[place(j)] = x;
        rest[place(j)] = carried;
      }
    }
    x = segments > 1 ? end(ends, f_side, t / width, t % width) : 0.0;
    for (int next = s.end; next > s.begin; next -= ahead) {
      double value[ahead], factor[ahead];
      for (int i = 0; i < ahead; ++i) {
        const int j = next - 1 - i;
        value[i] = j >= s.begin ? q[place(j)] : 0.0;
        factor[i] = j >= s.begin ? rest[place(j)] : 0.0;
      }
      for (int i = 0; i < ahead; ++i) {
        const int j = next - 1 - i;
        if (j < s.begin) break;
        x = elimination::substituted(value[i], factor[i], x);
        q[place(j)] = x;
      }
    }
  }
};

/// Some rows of a column, a thread's.
struct Part {
  static constexpr int rows = 32;
  int k, pair, begin, end;
};
KOKKOS_INLINE_FUNCTION int parts_of(const Flows& f) { return (f.mesh.n_z + Part::rows - 1) / Part::rows; }
KOKKOS_INLINE_FUNCTION Part part_of(const Flows& f, int n, std::int64_t number) {
  const int parts = parts_of(f), part = number / n % parts, end = (part + 1) * Part::rows;
  return {static_cast<int>(number % n), static_cast<int>(number / n / parts), part * Part::rows,
          end < f.mesh.n_z ? end : f.mesh.n_z};
}

/// (A q)_jk of a pair whose numbers begin at q.
struct Operator {
  ColumnEquations z;
  const double* q;
  int n, n_z, k, left, right;
  double below, above;

  KOKKOS_INLINE_FUNCTION Operator(const Solve& solve, const GridLevel& level, const double* field,
                                  const Part& p)
      : z(solve.equations(level, p.pair, p.k)),
        q(field + level.begin(solve.f, p.pair)),
        n(level.n),
        n_z(solve.f.mesh.n_z),
        k(p.k),
        left(level.left[p.k]),
        right(level.right[p.k]),
        below(z.c * level.line(solve.which(p.pair), 0)[p.k]),
        above(z.c * level.line(solve.which(p.pair), 2)[p.k]) {}
  KOKKOS_INLINE_FUNCTION double operator()(int j) const {
    const double* const row = q + std::int64_t{j} * n;
    double result =
        (z.shift + z.c * z.diagonal[j] + z.along) * row[k] - below * row[left] - above * row[right];
    if (j > 0) result -= z.c * z.below[j] * (row - n)[k];
    if (j + 1 < n_z) result -= z.c * z.above[j] * (row + n)[k];
    return result;
  }
};

/// Residuals of the columns kept, by volumes, are the coarser grid's right-hand side; those of the others
/// are 0, just relaxed.
struct Restriction {
  Solve solve;
  GridLevel level, coarse;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const Part p = part_of(solve.f, level.n_kept, number);
    const Operator applied(solve, level, level.q, p);
    const int to = level.coarser[p.k], which = solve.which(p.pair);
    const double share = level.line(which, 3)[p.k] / coarse.line(which, 3)[to];
    const double* const r = level.r + level.begin(solve.f, p.pair) + p.k;
    double* const out = coarse.r + coarse.begin(solve.f, p.pair) + to;
    for (int j = p.begin; j < p.end; ++j)
      out[std::int64_t{j} * coarse.n] = share * (r[std::int64_t{j} * level.n] - applied(j));
  }
};
/// The columns kept, by what the coarser grid found; the others are relaxed next.
struct Correction {
  Solve solve;
  GridLevel level, coarse;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const Part p = part_of(solve.f, level.n_kept, number);
    double* const q = level.q + level.begin(solve.f, p.pair) + p.k;
    const double* const found = coarse.q + coarse.begin(solve.f, p.pair) + level.coarser[p.k];
    for (int j = p.begin; j < p.end; ++j) q[std::int64_t{j} * level.n] += found[std::int64_t{j} * coarse.n];
  }
};

/// Numbers of a pair that conjugate gradients need.
struct Scalars {
  double mean, rz, alpha, beta, rr_start, rr;
};

/// Operation of a kernel of conjugate gradients.
enum class Does {
  mean,     ///< sums up a field
  centre,   ///< takes its mean from it
  start,    ///< takes right-hand sides out of fields, where solutions begin at 0
  dot,      ///< sums r z
  direct,   ///< p = z + beta p
  apply,    ///< z gives its place to A p; sums p A p
  advance,  ///< q += alpha p, r -= alpha A p; sums r r
};
/// One of these on the finest grid, whose q is z. Each thread leaves its part of a sum, by volumes, in
/// `partial`, [pair, parts, n].
template <Does what>
struct Vectors {
  Solve solve;
  GridLevel level;
  const int* from_left;  ///< [n] the column's number in fields of flows
  double *set, *p, *partial;
  const Scalars* scalars;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const Flows& f = solve.f;
    const Part part = part_of(f, level.n, number);
    const int which = solve.which(part.pair), n = level.n, k = part.k;
    const std::ptrdiff_t begin = level.begin(f, part.pair) + k;
    double* const field = f.field(set, which, part.pair % f.n_members) + from_left[k];
    double *const r = level.r + begin, *const z = level.q + begin, *const along = p + begin;
    const Scalars& s = scalars[part.pair];
    const Operator applied(solve, level, p, part);
    double sum = 0;
    for (int j = part.begin; j < part.end; ++j) {
      const std::ptrdiff_t row = std::int64_t{j} * n;
      const double volume = solve.z_weight[which][j];
      if constexpr (what == Does::mean) sum += volume * field[row];
      if constexpr (what == Does::centre) field[row] -= s.mean;
      if constexpr (what == Does::start) {
        r[row] = field[row];
        field[row] = 0;
        sum += volume * r[row] * r[row];
      }
      if constexpr (what == Does::dot) sum += volume * r[row] * z[row];
      if constexpr (what == Does::direct) along[row] = s.beta == 0 ? z[row] : z[row] + s.beta * along[row];
      if constexpr (what == Does::apply) {
        z[row] = applied(j);
        sum += volume * along[row] * z[row];
      }
      if constexpr (what == Does::advance) {
        field[row] += s.alpha * along[row];
        r[row] -= s.alpha * z[row];
        sum += volume * r[row] * r[row];
      }
    }
    if constexpr (what != Does::centre && what != Does::direct)
      partial[number] = level.line(which, 3)[k] * sum;
  }
};

/// The parts of each pair's sum together, and what follows from it. A pair that has converged stands still.
struct Totals {
  Does what;
  const double* partial;
  std::int64_t n_parts;  ///< of a pair
  double volume, square_tolerance;
  Scalars* scalars;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const std::int64_t pair = team.league_rank();
    const double* const parts = partial + pair * n_parts;
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, static_cast<int>(n_parts)),
        [&](int i, double& total) { total += parts[i]; }, sum);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      Scalars& s = scalars[pair];
      const bool still = s.rr <= square_tolerance * s.rr_start;
      switch (what) {
        case Does::mean:
          s.mean = sum / volume;
          break;
        case Does::start:
          s = {0, 0, 0, 0, sum, sum};
          break;
        case Does::dot:
          s.beta = still || s.rz == 0 ? 0.0 : sum / s.rz;
          s.rz = sum;
          break;
        case Does::apply:
          s.alpha = still || sum == 0 ? 0.0 : s.rz / sum;
          break;
        case Does::advance:
          s.rr = still ? s.rr : sum;
          break;
        case Does::centre:
        case Does::direct:
          break;
      }
    });
  }
};

/// The greatest square of a residual over that of its right-hand side; infinite if one is NaN.
struct WorstResidual {
  const Scalars* scalars;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t pair, double& greatest) const {
    const Scalars& s = scalars[pair];
    const double ratio = s.rr == 0 ? 0.0 : s.rr / s.rr_start, here = ratio - ratio == 0 ? ratio : HUGE_VAL;
    greatest = here > greatest ? here : greatest;
  }
};

}  // namespace quintet::convection::device
