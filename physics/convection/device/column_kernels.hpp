#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "physics/convection/device/flow_kernels.hpp"
#include "physics/transforms/elimination_cell.hpp"

/// Elimination down the columns, a column a thread; formulas and names are those of elimination_cell.hpp.
///
/// On several ranks each has some rows, a slab. Its two equations of f and l go to all ranks, each of which
/// solves these few for its own l_below and f_above; with them its slab is eliminated as if it were all there
/// is.
namespace quintet::convection::device {

/// (shift - c (L_z - k^2)) x = q in a column of coefficients. Without pivots sought, as ColumnElimination: an
/// unknown whose pivot vanishes is 0.
struct ColumnEquations {
  const double *below, *diagonal, *above;
  double shift, c, along;

  /// @param a c = a diffusivity; a = 0: the pressure's, c = -1
  KOKKOS_INLINE_FUNCTION ColumnEquations(const Flows& f, int which, int column, double shift_of, double a)
      : below(f.equations[which]),
        diagonal(below + f.mesh.n_z),
        above(diagonal + f.mesh.n_z),
        shift(shift_of),
        c(a == 0 ? -1.0 : a * f.diffusivity[which]),
        along(c * above[f.mesh.n_z + column]) {}

  /// A row from which the one below is eliminated; `carried` is its element above, of which the row below had
  /// that one.
  struct Row {
    double lower, inverse, carried;
  };
  KOKKOS_INLINE_FUNCTION Row row(int j, double carried) const {
    const bool wall = below[j] == 0 && above[j] == 0 && diagonal[j] == 0;
    const double d = wall ? 0.0 : shift + c * diagonal[j], lower = -c * below[j];
    const double inverse = elimination::inverse_of(d + along - lower * carried, d);
    return {lower, inverse, -c * above[j] * inverse};
  }
};

/// Column, flow and unknown of a thread.
struct Column {
  int m, member, unknown;
};
KOKKOS_INLINE_FUNCTION Column column_of(const Flows& f, std::int64_t number) {
  const int n_x = f.mesh.n_x;
  return {static_cast<int>(number % n_x), static_cast<int>(number / n_x % f.n_members),
          static_cast<int>(number / n_x / f.n_members)};
}

/// The equations solved down each column, in place. The constant of a pressure has zero mean.
struct Columns {
  static constexpr int ahead = 8;  ///< rows that are asked for at once: the next needs what is done here
  Flows f;
  double* set;
  int first_field;
  double shift, a;
  const double* beyond;  ///< [unknown, flow, 2, n_x] l_below and f_above; null: no other slabs

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const int n_x = f.mesh.n_x, n_z = f.mesh.n_z;
    const auto [m, member, unknown] = column_of(f, number);
    const int which = first_field + unknown;
    const ColumnEquations equations(f, which, m, shift, a);
    const double* const ends = beyond == nullptr ? nullptr : beyond + std::ptrdiff_t{2} * (number - m) + m;
    double* const q = f.field(set, which, member) + m;
    double* const rest = f.field(f.eliminated, which % 3, member) + m;
    const auto place = [n_x](int j) { return std::int64_t{j} * n_x; };
    const int n_blocks = (n_z + ahead - 1) / ahead;
    double x = ends == nullptr ? 0.0 : ends[0], carried = 0;
    for (int block = 0; block < n_blocks; ++block) {
      double value[ahead];
      for (int k = 0; k < ahead; ++k) value[k] = block * ahead + k < n_z ? q[place(block * ahead + k)] : 0.0;
      for (int k = 0; k < ahead; ++k) {
        const int j = block * ahead + k;
        if (j >= n_z) break;
        const auto row = equations.row(j, carried);
        carried = row.carried;
        x = elimination::eliminated(value[k], row.lower, x, row.inverse);
        q[place(j)] = x;
        rest[place(j)] = carried;
      }
    }
    x = ends == nullptr ? 0.0 : ends[n_x];
    double mean = 0;
    for (int block = n_blocks; block-- > 0;) {
      double value[ahead], factor[ahead];
      for (int k = 0; k < ahead; ++k) {
        const int j = block * ahead + k;
        value[k] = j < n_z ? q[place(j)] : 0.0;
        factor[k] = j < n_z ? rest[place(j)] : 0.0;
      }
      for (int k = ahead; k-- > 0;) {
        const int j = block * ahead + k;
        if (j >= n_z) continue;
        x = elimination::substituted(value[k], factor[k], x);
        mean += f.share[j] * x;
        q[place(j)] = x;
      }
    }
    if (a != 0 || m != 0 || ends != nullptr) return;
    for (int j = 0; j < n_z; ++j) q[place(j)] -= mean;
  }
};

/// The factors of this rank's two equations of `n_fields` unknowns, [unknown, 4, n_x].
struct EndFactors {
  enum { f_of_below, l_of_below, f_of_above, l_of_above, n_factors };
  Flows f;
  int first_field;
  double shift, a;
  double* slice;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const int n_x = f.mesh.n_x, m = number % n_x;
    const ColumnEquations equations(f, first_field + static_cast<int>(number / n_x), m, shift, a);
    double carried = 0, spike = -1, weight = 1, sum = 0;
    for (int j = 0; j < f.mesh.n_z; ++j) {
      const auto row = equations.row(j, carried);
      spike = elimination::next_spike(row.lower, spike, row.inverse);
      sum += weight * spike;
      carried = row.carried;
      weight = elimination::next_weight(carried, weight);
    }
    double* const to = slice + n_factors * (number - m) + m;
    to[f_of_below * n_x] = sum;
    to[l_of_below * n_x] = spike;
    to[f_of_above * n_x] = -weight;
    to[l_of_above * n_x] = carried;
  }
};

/// The factors of all ranks, eliminated from the lowest slab upwards, in place: l_of_above of a rank holds of
/// its l without the slabs below, f_of_above is over the pivot.
struct JoinedFactors {
  int n_x, n_ranks;
  std::int64_t n;             ///< unknowns times columns
  double *factors, *inverse;  ///< [n_ranks, unknown, 4, n_x], [n_ranks, unknown, n_x] of the pivots

  KOKKOS_INLINE_FUNCTION double& factor(int rank, int kind, std::int64_t number) const {
    const std::int64_t m = number % n_x;
    return factors[EndFactors::n_factors * (rank * n + number - m) + std::int64_t{kind} * n_x + m];
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    for (int r = 1; r < n_ranks; ++r) {
      const double l_of_f = factor(r - 1, EndFactors::l_of_above, number);
      inverse[r * n + number] = elimination::join_below(
          l_of_f, factor(r, EndFactors::f_of_below, number), factor(r, EndFactors::l_of_below, number),
          factor(r, EndFactors::f_of_above, number), factor(r, EndFactors::l_of_above, number));
    }
  }
};

/// The right-hand sides F and L of this rank's two equations, [unknown, flow, 2, n_x]; of a pressure also its
/// rows' part of what its constant lacks, [flow].
struct EndSides {
  static constexpr int ahead = Columns::ahead;
  Flows f;
  double* set;
  int first_field;
  double shift, a;
  double* slice;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const int n_x = f.mesh.n_x, n_z = f.mesh.n_z;
    const auto [m, member, unknown] = column_of(f, number);
    const ColumnEquations equations(f, first_field + unknown, m, shift, a);
    const double* const q = f.field(set, first_field + unknown, member) + m;
    double x = 0, carried = 0, weight = 1, sum = 0, lacking = 0;
    for (int first = 0; first < n_z; first += ahead) {
      double value[ahead];
      for (int k = 0; k < ahead; ++k) value[k] = first + k < n_z ? q[std::int64_t{first + k} * n_x] : 0.0;
      for (int k = 0; k < ahead; ++k) {
        const int j = first + k;
        if (j >= n_z) break;
        const auto row = equations.row(j, carried);
        x = elimination::eliminated(value[k], row.lower, x, row.inverse);
        sum += weight * x;
        carried = row.carried;
        weight = elimination::next_weight(carried, weight);
        lacking += f.to_mean[j] * value[k];
      }
    }
    double* const to = slice + std::int64_t{2} * (number - m) + m;
    to[0] = sum;
    to[n_x] = x;
    if (a == 0 && m == 0) slice[std::int64_t{2} * f.n_members * n_x + member] = lacking;
  }
};

/// From the right-hand sides of all ranks to l_below and f_above of this one, in the place of its own.
struct JoinedSides {
  Flows f;
  JoinedFactors factors;
  int rank;
  bool pressure;
  double* sides;  ///< [n_ranks, slice]
  std::int64_t slice_size;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const int n_x = f.mesh.n_x, n = factors.n_ranks;
    const auto [m, member, unknown] = column_of(f, number);
    const std::int64_t column = std::int64_t{unknown} * n_x + m, place = 2 * (number - m) + m;
    const auto side = [&](int r, int which) -> double& {
      return sides[r * slice_size + place + std::int64_t{which} * n_x];
    };
    // l of the slab below rank r is known_r - l_of_above f_r, f_r = side(r, 0) - f_of_above f_{r+1}.
    double known = side(0, 1), known_here = 0;
    for (int r = 1; r < n; ++r) {
      if (r == rank) known_here = known;
      double last = side(r, 1);
      elimination::join_sides(known, factors.factor(r - 1, EndFactors::l_of_above, column),
                              factors.factor(r, EndFactors::f_of_below, column),
                              factors.factor(r, EndFactors::l_of_below, column),
                              factors.inverse[r * factors.n + column], side(r, 0), last);
      known = last;
    }
    double first = side(n - 1, 0), above = 0;
    if (pressure && m == 0) {  // its equations leave the constant open
      first = 0;
      for (int r = 0; r < n; ++r)
        first += sides[r * slice_size + std::int64_t{2} * f.n_members * n_x + member];
    }
    for (int r = n - 2; r >= rank; --r) {
      above = first;
      if (r > 0) first = side(r, 0) - factors.factor(r, EndFactors::f_of_above, column) * first;
    }
    side(rank, 1) = above;
    side(rank, 0) =
        rank > 0 ? known_here - factors.factor(rank - 1, EndFactors::l_of_above, column) * first : 0.0;
  }
};

/// Rows of fields at the edges of a slab between them and a parcel: upwards those of `n_up` fields, then
/// downwards those of `n_down`, of all flows. What is packed are this rank's own rows, what is unpacked lies
/// beyond them.
struct EdgeFields {
  static constexpr int most = 4;
  double* up[most];  ///< row 0 of the first flow
  double* down[most];
  int n_up, n_down;
};
template <bool Pack>
struct EdgeRows {
  Flows f;
  EdgeFields fields;
  double* parcel;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const int n_x = f.mesh.n_x, n_z = f.mesh.n_z;
    const auto [i, member, line] = column_of(f, number);
    const bool upwards = line < fields.n_up;
    const int row = Pack ? (upwards ? n_z - 1 : 0) : (upwards ? -1 : n_z);
    if (row < f.mesh.lowest || row > f.mesh.highest) return;  // a wall
    double* const field = upwards ? fields.up[line] : fields.down[line - fields.n_up];
    double& value = field[member * f.stride() + std::int64_t{row} * n_x + i];
    if (Pack)
      parcel[number] = value;
    else
      value = parcel[number];
  }
};

}  // namespace quintet::convection::device
