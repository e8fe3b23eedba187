#pragma once

#include <cstdint>
#include <span>

namespace quintet::electronic {

/// Block columns of a symmetric matrix, and where the numbers of each block's rows are in a vector.
///
/// Block p, column_begin[c] <= p < column_begin[c + 1], of column c is column-major [rows[p], width[c]] at
/// value + offset[p].
struct BlockColumnsView {
  std::span<const std::int32_t> width;         ///< [n_columns]
  std::span<const std::int64_t> column_begin;  ///< [n_columns + 1]
  std::span<const std::int32_t> rows, place;   ///< [blocks]
  std::span<const std::int64_t> offset;        ///< [blocks]
  std::span<const double> value;
};

/// y = A x for a matrix that stays on a device: what BlockProduct does on a core, with the sums of a block in
/// its order, and those of blocks in a tree's.
class DeviceProduct {
 public:
  virtual ~DeviceProduct() = default;
  /// y[(j, lane)] = sum_i A_ij x[(place of i, lane)], for `lanes` vectors at once.
  /// @param x [rows, lanes] @param y [columns, lanes]
  virtual void apply(std::span<const double> x, std::span<double> y, int lanes) = 0;
};

}  // namespace quintet::electronic
