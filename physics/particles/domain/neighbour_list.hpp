#pragma once

#include <vector>

#include "physics/particles/domain/cell_list.hpp"

namespace quintet {

/// A number that no list has had yet (NeighbourList::version).
[[nodiscard]] std::uint64_t new_list_version();

/// Builds full neighbour lists through a cell list; keeps its work arrays from one build to the next.
class NeighbourListBuilder {
 public:
  /// All pairs (local i, local or ghost j != i) with |x_j - x_i| <= range, row by row.
  ///
  /// A row is ordered by type, then cell, then index: the same for any number of threads. O(n).
  void build(const Exec& exec, const Atoms& atoms, double range, NeighbourList& list);

 private:
  CellList cells_;
  std::vector<std::vector<int>>
      chunks_;  ///< the rows of one thread's share of the atoms, one after the other
  std::vector<std::size_t> chunk_size_;
  Array<int> storage_;  ///< what `list.neighbour` is a part of
};

}  // namespace quintet
