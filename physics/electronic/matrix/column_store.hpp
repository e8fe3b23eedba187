#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

/// Whole block columns of a matrix, own and fetched, for reading.
class ColumnStore {
 public:
  /// Columns that appear in `wanted` (any order, repeated or not); the matrix must outlive the store. Each
  /// block of another rank travels once. Collective.
  ColumnStore(const BlockMatrix& m, std::span<const std::int32_t> wanted);

  struct Column {
    std::span<const std::int32_t> row;
    const double* value;  ///< of its first block; the others follow without gaps
  };
  [[nodiscard]] Column operator[](std::int32_t column) const { return columns_[index_[column]]; }

 private:
  std::vector<std::int32_t> index_;  ///< of each column of the matrix in columns_, or -1
  std::vector<Column> columns_;
  std::vector<std::vector<std::int32_t>> rows_;  ///< from each rank
  std::vector<std::vector<double>> values_;
};

}  // namespace quintet::electronic
