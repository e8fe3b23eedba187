#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace quintet {

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

/// Factors of C = A B and the blocks of C that are wanted. Blocks are column-major, at the value + offset of
/// their matrix.
struct BlockFactorsView {
  std::span<const std::int32_t> size;     ///< of each block row
  std::span<const std::int64_t> a_begin;  ///< [block rows + 1] of each column of A
  std::span<const std::int32_t> a_row;    ///< ascending in a column
  std::span<const double> a_norm;
  std::span<const std::int64_t> a_offset;
  std::span<const double> a_value;
  std::span<const std::int32_t> width;    ///< [columns] of the columns of B and C
  std::span<const std::int64_t> b_begin;  ///< [columns + 1]
  std::span<const std::int32_t> b_row;    ///< ascending in a column
  std::span<const double> b_least;        ///< [blocks of B] A's blocks of smaller norms are left out
  std::span<const std::int64_t> b_offset;
  std::span<const double> b_value;
  std::span<const std::int64_t> c_begin;  ///< [columns + 1]
  std::span<const std::int32_t> c_row;
  std::span<const std::int64_t> c_offset;
};

/// y = A x for a matrix that stays on a device: what electronic::BlockProduct does on a core, with the sums
/// of a block in its order, and those of blocks in a tree's.
class DeviceProduct {
 public:
  virtual ~DeviceProduct() = default;
  /// y[(j, v)] = sum_i A_ij x[(place of i, v)] of all vectors v at once.
  /// @param x [rows, n_vectors] @param y [columns, n_vectors]
  virtual void apply(std::span<const double> x, std::span<double> y) = 0;
};

/// Products of block-sparse matrices on a device; an interface without Kokkos (why: io/device/README.md).
/// Each throws where the device has no memory for what it is given.
class DeviceProducts {
 public:
  virtual ~DeviceProducts() = default;
  /// Products of a matrix, which goes there, with `n_vectors` vectors of `n_rows`, for which there is room
  /// then, too; not to outlive this.
  [[nodiscard]] virtual std::unique_ptr<DeviceProduct> product_with(const BlockColumnsView& a,
                                                                    std::size_t n_rows, int n_vectors) = 0;
  /// The wanted blocks of a product, terms in the order of B's rows. `c`: room for all of them.
  virtual void multiply(const BlockFactorsView& factors, std::span<double> c) = 0;
};

}  // namespace quintet
