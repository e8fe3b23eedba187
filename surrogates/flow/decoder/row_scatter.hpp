#pragma once

#include <cstdint>
#include <span>

namespace quintet::flow {

/// Rows of numbers that are to be added to rows of a table.
template <class Real>
struct RowPiece {
  std::int64_t first = 0;  ///< row of the table that `rows` are counted from
  std::span<const int> rows;
  const Real* values = nullptr;  ///< [row of the piece][width]
};

/// Add rows to those of a table, table[first + rows[i]] += values[i], piece by piece in their order. By one
/// thread: two, each with its own rows, took 1.26 times as long (docs/measured.md).
/// @param table [n_rows][width]
template <class Real>
void add_rows(std::span<const RowPiece<Real>> pieces, int width, Real* table) {
  for (const auto& piece : pieces) {
    const Real* value = piece.values;
    for (const int row : piece.rows) {
      Real* const sum = table + (piece.first + row) * width;
      for (int i = 0; i < width; ++i) sum[i] += value[i];
      value += width;
    }
  }
}

}  // namespace quintet::flow
