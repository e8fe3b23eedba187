#pragma once

#include <cstddef>
#include <cstdint>

#include "physics/electronic/device/series_kernels.hpp"

/// Kernels of dense submatrices: `count` matrices [m, m] of a batch one after the other, each a submatrix of
/// n <= m rows and ones on the rest of its diagonal (for eigenpairs 2 ||A||, above all levels), which no
/// product mixes with it. They are symmetric, so either order of their elements will do.
namespace quintet::electronic::device {

/// A submatrix's blocks to their places; `lanes` threads share a block row.
struct FillDense {
  static constexpr int lanes = 32;
  Batch b;
  int m;
  double* x;  ///< zeros before
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t flat = item / lanes;
    const int lane = item % lanes, task = b.task_of[flat];
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

/// Computes the largest (norm: 1) or the sum (2) of the columns' sums of each matrix, in their order.
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
    const int r = item % m, task = task_of_own[column];
    const Place& s = b.place[task];
    if (r >= s.n) return;
    const int own = b.own[column];
    result[s.values + (column - s.own) * s.n + r] =
        0.5 * ((r == own ? 1 : 0) - x[(std::int64_t{task} * m + own) * m + r]);
  }
};

/// Pads matrices for a solver of whole matrices [m, m]: the rest of the diagonal lies above all other
/// eigenvalues. A matrix with an element that is not finite, and so a sum that is not, becomes zero.
struct PadForSolver {
  Batch b;
  int m;
  const double *norm, *sum;
  double* x;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t matrix = item / m;
    const bool is_finite = sum[matrix] - sum[matrix] == 0;
    if (!is_finite)
      for (int r = 0; r < m; ++r) x[item * m + r] = 0;
    if (item % m >= b.place[matrix].n)
      x[diagonal_place(item, m)] = is_finite && norm[matrix] > 0 ? 2 * norm[matrix] : 1;
  }
};
/// Marks matrices with an element that is not finite as failed.
struct FailNotFinite {
  const double* sum;
  int* failed;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t matrix) const {
    if (!(sum[matrix] - sum[matrix] == 0)) failed[matrix] = 1;
  }
};

}  // namespace quintet::electronic::device
