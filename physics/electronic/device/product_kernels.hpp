#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "physics/electronic/device/batches.hpp"
#include "physics/sparse/device_products.hpp"

namespace quintet::electronic::device {

/// Teams of the kernels, and elements of a block that a lane keeps in registers.
#ifdef KOKKOS_ENABLE_CUDA
inline constexpr int threads = 8, lanes = 32, kept = 2;
#else
inline constexpr int threads = 1, lanes = 1, kept = 64;
#endif

/// y = A x by a team for each block column: its threads share out the columns and vectors, their lanes the
/// blocks.
struct MultiplyColumns {
  using Team = Kokkos::TeamPolicy<Exec>::member_type;
  const std::int64_t *column_begin, *offset;
  const std::int32_t *first, *rows, *place;  ///< first: [columns + 1] of y
  const double *value, *x;
  double* y;
  int n_vectors;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int c = team.league_rank();
    const std::int64_t begin = column_begin[c];
    const int n_blocks = column_begin[c + 1] - begin, width = first[c + 1] - first[c];
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width * n_vectors), [&](const int t) {
      const int j = t / n_vectors, v = t % n_vectors;
      double sum = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, n_blocks),
          [&](const int q, double& part) {
            const std::int64_t p = begin + q;
            const int n = rows[p];
            const double* const a = value + offset[p] + std::int64_t{j} * n;
            const double* const from = x + std::int64_t{place[p]} * n_vectors + v;
            double own = 0;
            for (int i = 0; i < n; ++i) own += a[i] * from[std::int64_t{i} * n_vectors];
            part += own;
          },
          sum);
      Kokkos::single(Kokkos::PerThread(team),
                     [&] { y[(static_cast<std::int64_t>(first[c]) + j) * n_vectors + v] = sum; });
    });
  }
};

/// C_ij = sum_k A_ik B_kj by a team for each column j: its threads share out the blocks, their lanes the
/// elements of a block. All lanes look for A_ik together.
struct MultiplyBlocks {
  using Team = Kokkos::TeamPolicy<Exec>::member_type;
  const std::int32_t* size;
  const std::int64_t* a_begin;
  const std::int32_t* a_row;
  const double* a_norm;
  const std::int64_t* a_offset;
  const double* a_value;
  const std::int32_t* width;
  const std::int64_t* b_begin;
  const std::int32_t* b_row;
  const double* b_least;
  const std::int64_t* b_offset;
  const double* b_value;
  const std::int64_t* c_begin;
  const std::int32_t* c_row;
  const std::int64_t* c_offset;
  double* c_value;

  /// The place of block (row, k) of A, or the end of column k.
  KOKKOS_INLINE_FUNCTION std::int64_t find(std::int32_t row, std::int32_t k) const {
    std::int64_t low = a_begin[k], high = a_begin[k + 1];
    const std::int64_t end = high;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (a_row[middle] < row)
        low = middle + 1;
      else
        high = middle;
    }
    return low < end && a_row[low] == row ? low : end;
  }
  /// Elements first + lane, first + lane + lanes, ... of block i of column j, `kept` of them at most: one
  /// look for a block of A serves them all.
  KOKKOS_INLINE_FUNCTION void add_terms(int j, std::int32_t i, int first, int lane, double* c) const {
    const int rows = size[i], end = rows * width[j];
    int row[kept], column[kept];
    double sum[kept];
    for (int s = 0; s < kept; ++s) {
      const int e = first + lane + lanes * s;
      row[s] = e % rows;
      column[s] = e < end ? e / rows : -1;
      sum[s] = 0;
    }
    for (std::int64_t q = b_begin[j]; q < b_begin[j + 1]; ++q) {
      const std::int32_t k = b_row[q];
      const std::int64_t p = find(i, k);
      if (p == a_begin[k + 1] || a_norm[p] < b_least[q]) continue;  // not a number counts
      const int n = size[k];
      const double *const a = a_value + a_offset[p], *const b = b_value + b_offset[q];
      for (int s = 0; s < kept; ++s) {
        if (column[s] < 0) break;
        const double* const right = b + std::int64_t{column[s]} * n;
        for (int m = 0; m < n; ++m) sum[s] += a[std::int64_t{m} * rows + row[s]] * right[m];
      }
    }
    for (int s = 0; s < kept; ++s)
      if (column[s] >= 0) c[first + lane + lanes * s] = sum[s];
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int j = team.league_rank();
    const std::int64_t begin = c_begin[j];
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(c_begin[j + 1] - begin)),
                         [&](const int q) {
                           const std::int32_t i = c_row[begin + q];
                           double* const to = c_value + c_offset[begin + q];
                           for (int first = 0; first < size[i] * width[j]; first += kept * lanes)
                             Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes),
                                                  [&](const int lane) { add_terms(j, i, first, lane, to); });
                         });
  }
};

/// A team for each block column.
inline Kokkos::TeamPolicy<Exec> team_for_each(std::size_t n_columns) {
  return {Exec(), static_cast<int>(n_columns), threads, lanes};
}

/// See DeviceProducts. All that it takes is given back.
inline void multiply_blocks(const BlockFactorsView& f, std::span<double> c) {
  Buffer<std::int32_t> size, a_row, width, b_row, c_row;
  Buffer<std::int64_t> a_begin, a_offset, b_begin, b_offset, c_begin, c_offset;
  Buffer<double> a_norm, a_value, b_least, b_value, c_value;
  if (c.empty()) return;
  const MultiplyBlocks kernel{size.copy(f.size),        a_begin.copy(f.a_begin),   a_row.copy(f.a_row),
                              a_norm.copy(f.a_norm),    a_offset.copy(f.a_offset), a_value.copy(f.a_value),
                              width.copy(f.width),      b_begin.copy(f.b_begin),   b_row.copy(f.b_row),
                              b_least.copy(f.b_least),  b_offset.copy(f.b_offset), b_value.copy(f.b_value),
                              c_begin.copy(f.c_begin),  c_row.copy(f.c_row),       c_offset.copy(f.c_offset),
                              c_value.reserve(c.size())};
  Kokkos::parallel_for("submatrix::multiply_blocks", team_for_each(f.width.size()), kernel);
  c_value.copy_to(c);
}

/// See DeviceProduct. The matrix is copied once, vectors each time.
class ProductOnSpace final : public DeviceProduct {
 public:
  ProductOnSpace(const BlockColumnsView& a, std::size_t n_rows, int n_vectors)
      : n_columns_(a.width.size()), n_vectors_(n_vectors) {
    std::vector<std::int32_t> first{0};
    for (const auto width : a.width) first.push_back(first.back() + width);
    first_.copy(first);
    column_begin_.copy(a.column_begin);
    offset_.copy(a.offset);
    rows_.copy(a.rows);
    place_.copy(a.place);
    value_.copy(a.value);
    // A product takes nothing more: on one rank of several it could not be refused.
    x_.reserve(n_rows * n_vectors);
    y_.reserve(std::int64_t{first.back()} * n_vectors);
  }

  void apply(std::span<const double> x, std::span<double> y) override {
    if (y.empty()) return;
    const double* const there = x_.copy(x);
    Kokkos::parallel_for(
        "submatrix::multiply_columns", team_for_each(n_columns_),
        MultiplyColumns{column_begin_.data(), offset_.data(), first_.data(), rows_.data(), place_.data(),
                        value_.data(), there, y_.reserve(y.size()), n_vectors_});
    y_.copy_to(y);
  }

 private:
  std::size_t n_columns_;
  int n_vectors_;
  Buffer<std::int32_t> first_, rows_, place_;
  Buffer<std::int64_t> column_begin_, offset_;
  Buffer<double> value_, x_, y_;
};

}  // namespace quintet::electronic::device
