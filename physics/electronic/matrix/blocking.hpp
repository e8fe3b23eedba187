#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/parallel/comm_fwd.hpp"

namespace quintet::electronic {

struct Triplet;

/// How the orbitals are grouped into blocks (atoms, molecules, parts of a graph). Blocks are contiguous after
/// `order`: row i of the blocked matrix is row order[i] of the user's (empty: the same).
struct Blocking {
  std::vector<int> begin{0};  ///< first row of each block, then the number of rows
  std::vector<int> order;     ///< [n_rows], a permutation, or empty

  [[nodiscard]] int n_blocks() const { return std::ssize(begin) - 1; }
  [[nodiscard]] int n_rows() const { return begin.back(); }
  [[nodiscard]] int size(int block) const { return begin[block + 1] - begin[block]; }
  [[nodiscard]] bool operator==(const Blocking&) const = default;  ///< the same blocks in the same order
};

/// Blocks of one size. Throws InputError if it does not divide n_rows.
[[nodiscard]] Blocking uniform_blocking(int n_rows, int block_size);
/// Blocks of given sizes. Throws InputError if a size is not positive or they do not sum to n_rows.
[[nodiscard]] Blocking blocking_of_sizes(int n_rows, const std::vector<int>& sizes);
/// One block an atom, from the number of orbitals of each atom in the matrix's order. Throws InputError as
/// blocking_of_sizes().
[[nodiscard]] Blocking atom_blocking(int n_rows, const std::vector<int>& orbitals_of_atom);
/// One block a molecule: the orbitals of its atoms, atoms of a molecule in ascending order, molecules in that
/// of the list. Atoms of a molecule need not be neighbours in the matrix; `order` is set then. Throws
/// InputError if an atom is missing, named twice or out of range (atoms count from 0), or the orbitals do not
/// sum to n_rows.
[[nodiscard]] Blocking molecule_blocking(int n_rows, const std::vector<int>& orbitals_of_atom,
                                         const std::vector<std::vector<int>>& molecules);

/// Parts of the graph of a matrix: units (atoms, or blocks of one orbital) are joined to blocks of at most
/// `rows_per_block` rows, so that strong couplings (largest |element| between two units) lie inside. A block
/// begins with the free unit that couples most strongly to the blocks made before; it grows by the unit with
/// the largest sum of couplings to it that still fits. Greedy, on rank 0, with memory for all couplings
/// there: for up to some 1e5 units. The same for any number of ranks. Throws InputError if a unit is larger
/// than rows_per_block, or an element out of range. Collective.
[[nodiscard]] Blocking graph_blocking(const Comm& comm, const Blocking& units,
                                      std::span<const Triplet> elements, int rows_per_block);

/// Row of the blocked matrix of each of the user's rows, [n_rows]: the inverse of `order`.
[[nodiscard]] std::vector<std::int32_t> blocked_rows(const Blocking& blocking);
/// Block of each row of the blocked matrix, [n_rows].
[[nodiscard]] std::vector<std::int32_t> block_of_rows(const Blocking& blocking);
/// Throws InputError if the blocks are not ascending from 0 or `order` is not a permutation.
void check_blocking(const Blocking& blocking);

}  // namespace quintet::electronic
