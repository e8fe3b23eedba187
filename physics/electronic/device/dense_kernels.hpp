#pragma once

#include <cstddef>
#include <cstdint>

#include "physics/electronic/device/series_kernels.hpp"

/// Kernels of dense submatrices: `count` matrices [m, m] of a batch one after the other, each a submatrix of
/// n
/// <= m rows and ones on the rest of its diagonal, which no product mixes with it. They are symmetric, so
/// either order of their elements will do.
namespace quintet::electronic::device {

/// A submatrix's blocks to their places; `lanes` threads share a block row.
struct FillDense {
  static constexpr int lanes = 32;
  Batch b;
  int m;
  double* x;  ///< zeros before
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t flat = item / lanes;
    const int lane = static_cast<int>(item % lanes), task = b.task_of[flat];
    const std::int32_t* begin = b.begin + flat + task;
    const int first = begin[0], rows = begin[1] - first;
    double* const to = x + std::int64_t{task} * m * m;
    visit_entries(b, flat, [&](const Entry& entry) {
      for (int e = lane; e < entry.count * rows; e += lanes)
        to[std::int64_t{entry.begin + e / rows} * m + first + e % rows] = b.value[entry.offset + e];
    });
  }
};

/// Place of the diagonal element that `item` of [count, m] stands for.
KOKKOS_INLINE_FUNCTION std::int64_t diagonal_place(std::int64_t item, int m) { return item * m + item % m; }

/// Diagonal += value.
struct AddToDiagonal {
  int m;
  double value;
  double* x;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    x[diagonal_place(item, m)] += value;
  }
};

/// sums[item] = sum of |x| (norm: 1) or x^2 (2) over a column.
struct ColumnSums {
  int m, norm;
  const double* x;
  double* sums;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    double sum = 0;
    for (int r = 0; r < m; ++r) {
      const double value = x[item * m + r];
      sum += norm == 1 ? ::fabs(value) : value * value;
    }
    sums[item] = sum;
  }
};

/// Of each matrix the largest (norm: 1) or the sum (2) of its columns' sums, in their order.
struct MatrixNorm {
  int m, norm;
  const double* sums;
  double* result;
  KOKKOS_INLINE_FUNCTION void operator()(const int matrix) const {
    double all = 0;
    for (int c = 0; c < m; ++c) {
      const double one = sums[std::int64_t{matrix} * m + c];
      all = norm == 2 ? all + one : one > all ? one : all;
    }
    result[matrix] = all;
  }
};

/// x = (x - shift)/norm, and 1 on the diagonal of the rest; shift and norm as in X of
/// newton_schulz_columns().
struct ShiftRows {
  Batch b;
  int m;
  double shift;
  double* x;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    if (item % m < b.place[item / m].n) x[diagonal_place(item, m)] -= shift;
  }
};
struct Normalise {
  Batch b;
  int m;
  const double* norm;
  double* x;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t matrix = item / m;
    const double over = norm[matrix];
    for (int r = 0; r < m; ++r) x[item * m + r] /= over;
    if (item % m >= b.place[matrix].n) x[diagonal_place(item, m)] = 1;
  }
};

/// to = factor from, or zeros.
struct Scale {
  double factor;
  const double* from;
  double* to;
  bool clear;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { to[i] = clear ? 0 : factor * from[i]; }
};

/// x = next, of the matrices that are still iterated.
struct TakeNext {
  std::int64_t size;  ///< m m
  const char* goes_on;
  const double* next;
  double* x;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    if (goes_on[i / size] != 0) x[i] = next[i];
  }
};

/// Own columns of (1 - x)/2, as Place says; an item an element of [own columns of the batch, m].
struct OwnOfSign {
  Batch b;
  int m;
  const std::int32_t* task_of_own;
  const double* x;
  double* result;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t column = item / m;
    const int r = static_cast<int>(item % m), task = task_of_own[column];
    const Place& s = b.place[task];
    if (r >= s.n) return;
    const int own = b.own[column];
    result[s.values + (column - s.own) * s.n + r] =
        0.5 * ((r == own ? 1 : 0) - x[(std::int64_t{task} * m + own) * m + r]);
  }
};

/// What makes a matrix of this norm positive definite; of zeros, too.
KOKKOS_INLINE_FUNCTION double positive_shift(double norm) { return norm > 0 ? 2 * norm : 1; }

/// Rows += 2 norm on the diagonal: a matrix whose spectrum lies between norm and 3 norm.
struct MakePositive {
  Batch b;
  int m;
  const double* norm;
  double* x;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    if (item % m < b.place[item / m].n) x[diagonal_place(item, m)] += positive_shift(norm[item / m]);
  }
};

/// Eigenvectors of positive definite matrices by Jacobi rotations of their columns (Hestenes 1958; here as in
/// Brent & Luk, SIAM J. Sci. Stat. Comput. 6, 69 (1985)): a team a matrix, pairs of columns as in a
/// tournament, each pair once a sweep and all pairs of a round side by side.
///
/// W = A V with orthogonal columns: for A = V L V^T they are V L, so that no V is kept besides. Columns are
/// orthogonal when |w_p.w_q| <= tolerance |w_p| |w_q|.
template <class Space>
struct Jacobi {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  static constexpr int most_sweeps = 40;
  Batch b;
  int m;
  const double* norm;
  double* x;      ///< A, then eigenvectors, a column each
  double* value;  ///< [count, m] eigenvalues of A before MakePositive, in no order
  int* sweeps;    ///< [count] that it took; most_sweeps + 1: it has not converged

  /// Columns of pair k of a round among `even` of them.
  KOKKOS_INLINE_FUNCTION static void pair_of(int k, int round, int even, int& p, int& q) {
    p = k == 0 ? even - 1 : (round + k) % (even - 1);
    q = (round - k + even - 1) % (even - 1);
  }

  KOKKOS_INLINE_FUNCTION static double dot(const Team& team, int n, const double* u, const double* v) {
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, n), [&](const int r, double& part) { part += u[r] * v[r]; }, sum);
    return sum;
  }

  /// Make two columns orthogonal; how far they were from that.
  KOKKOS_INLINE_FUNCTION static double rotate(const Team& team, int n, double tolerance, double* u,
                                              double* v) {
    const double uu = dot(team, n, u, u), vv = dot(team, n, v, v), uv = dot(team, n, u, v);
    const double cosine = ::fabs(uv) / ::sqrt(uu * vv);
    if (cosine <= tolerance) return cosine;
    const double zeta = (vv - uu) / (2 * uv);
    const double t = (zeta < 0 ? -1 : 1) / (::fabs(zeta) + ::sqrt(1 + zeta * zeta));
    const double c = 1 / ::sqrt(1 + t * t), s = c * t;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](const int r) {
      const double before = u[r];
      u[r] = c * before - s * v[r];
      v[r] = s * before + c * v[r];
    });
    return cosine;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int matrix = team.league_rank(), n = b.place[matrix].n, even = n + n % 2;
    const double tolerance = 2.3e-16 * (4 + ::sqrt(static_cast<double>(n)));
    double* const w = x + std::int64_t{matrix} * m * m;
    const auto column = [&](int c) { return w + std::int64_t{c} * m; };
    int sweep = 0;
    for (double worst = 1; !(worst <= tolerance) && sweep <= most_sweeps; ++sweep) {
      worst = 0;
      for (int round = 0; round + 1 < even; ++round) {
        double of_round = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, even / 2),
            [&](const int k, double& most) {
              int p, q;
              pair_of(k, round, even, p, q);
              if (p >= n || q >= n) return;  // the odd one rests
              const double cosine = rotate(team, n, tolerance, column(p), column(q));
              if (!(cosine <= most)) most = cosine;
            },
            Kokkos::Max<double>(of_round));
        team.team_barrier();
        if (!(of_round <= worst)) worst = of_round;
      }
    }
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](const int c) {
      double* const v = column(c);
      const double length = ::sqrt(dot(team, n, v, v));
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](const int r) { v[r] /= length; });
      Kokkos::single(Kokkos::PerThread(team),
                     [&]() { value[std::int64_t{matrix} * m + c] = length - positive_shift(norm[matrix]); });
    });
    Kokkos::single(Kokkos::PerTeam(team), [&]() { sweeps[matrix] = sweep; });
  }
};

}  // namespace quintet::electronic::device
