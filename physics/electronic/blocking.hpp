#pragma once

#include <string>
#include <vector>

namespace quintet::electronic {

/// How the orbitals are grouped into blocks (atoms, molecules, parts of a graph). Blocks are contiguous after
/// `order`: row i of the blocked matrix is row order[i] of the user's (empty: the same).
struct Blocking {
  std::vector<int> begin{0};  ///< first row of each block, then the number of rows
  std::vector<int> order;     ///< [n_rows], a permutation, or empty

  [[nodiscard]] int n_blocks() const { return static_cast<int>(begin.size()) - 1; }
  [[nodiscard]] int n_rows() const { return begin.back(); }
  [[nodiscard]] int size(int block) const {
    return begin[static_cast<std::size_t>(block) + 1] - begin[static_cast<std::size_t>(block)];
  }
};

/// Blocks of one size. Throws InputError if it does not divide n_rows.
[[nodiscard]] Blocking uniform_blocking(int n_rows, int block_size);
/// Blocks of given sizes. Throws InputError if a size is not positive or they do not sum to n_rows.
[[nodiscard]] Blocking blocking_of_sizes(int n_rows, const std::vector<int>& sizes);

}  // namespace quintet::electronic
