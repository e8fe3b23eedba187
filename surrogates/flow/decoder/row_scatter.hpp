#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <Kokkos_Core.hpp>

#include "physics/kernels/execution.hpp"

namespace quintet::flow {

/// Rows of numbers that are to be added to rows of a table.
template <class Real>
struct RowPiece {
  std::int64_t first = 0, n_rows = 0;  ///< the part of the table that `rows` are numbers in
  std::span<const int> rows;
  const Real* values = nullptr;  ///< [row of the piece][width]
};

/// Add the pieces of the owner of rows from, ..., to - 1: table[first + rows[i]] += values[i] for all pieces,
/// in their order. @param table [n_rows][width]
template <class Real>
void add_own_rows(std::span<const RowPiece<Real>> pieces, int width, Real* table, std::int64_t from,
                  std::int64_t to) {
  for (const auto& piece : pieces) {
    if (piece.first >= to || piece.first + piece.n_rows <= from) continue;
    const bool owns_all = piece.first >= from && piece.first + piece.n_rows <= to;
    const Real* value = piece.values;
    for (const int row : piece.rows) {
      const std::int64_t place = piece.first + row;
      if (owns_all || (place >= from && place < to)) {
        Real* const sum = table + place * width;
        for (int i = 0; i < width; ++i) sum[i] += value[i];
      }
      value += width;
    }
  }
}

/// Add all pieces to the table. Each of n_threads owns a range of the table's rows and goes through the
/// pieces that reach into it: nobody waits or adds atomically, and every row is added up in the order of the
/// serial loop, to the same bits with any number of threads. One thread is the serial loop. Source: Kalamkar
/// et al. 2020 (SC, DLRM on CPU clusters), as this project reads it.
template <class Real>
void add_rows(std::span<const RowPiece<Real>> pieces, int width, Real* table, std::int64_t n_rows,
              int n_threads) {
  Kokkos::parallel_for("add_rows", Kokkos::RangePolicy<Exec>(0, n_threads), [&](int thread) {
    add_own_rows(pieces, width, table, n_rows * thread / n_threads, n_rows * (thread + 1) / n_threads);
  });
  Exec().fence();
}

}  // namespace quintet::flow
