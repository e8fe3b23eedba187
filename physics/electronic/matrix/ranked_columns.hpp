#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "physics/electronic/matrix/blocking.hpp"
#include "physics/electronic/matrix/column_store.hpp"
#include "physics/kernels/aligned.hpp"

namespace quintet::electronic {

/// A copy of block columns, the blocks of each in the order of falling Frobenius norm. Blocks that are too
/// small to matter in a product are then at the end of the column and need not be touched.
class RankedColumns {
 public:
  /// `needed[k]`: the smallest norm that matters in column k; smaller blocks are left out. Infinity: the
  /// column is not wanted.
  RankedColumns(const ColumnStore& columns, const Blocking& blocking, std::span<const double> needed);

  struct Column {
    std::span<const std::int32_t> row;
    std::span<const double> norm;  ///< falling
    const double* value;           ///< of its first block; the others follow without gaps
  };
  [[nodiscard]] Column operator[](std::int32_t column) const;
  [[nodiscard]] std::span<const double> values() const { return value_; }  ///< of all columns

  /// The blocks of all columns, by ascending rows in each: where they are in values().
  struct ByRows {
    std::vector<std::int64_t> begin{0};  ///< of each column of the matrix
    std::vector<std::int32_t> row;
    std::vector<double> norm;
    std::vector<std::int64_t> offset;
  };
  [[nodiscard]] ByRows by_rows(const Blocking& blocking) const;

 private:
  std::vector<std::size_t> begin_{0}, first_value_;  ///< of each column of the matrix
  std::vector<std::int32_t> row_;
  std::vector<double> norm_;
  AlignedVector<double> value_;
};

}  // namespace quintet::electronic
