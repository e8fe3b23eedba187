#pragma once

#include <cstdint>
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
  /// One thread's share of the atoms, and the part of the storage where it writes their rows.
  struct Chunk {
    std::size_t begin = 0, room = 0;
    std::size_t size = 0;  ///< neighbours found, or expected
    std::size_t longest_missed = 0;
  };
  void make_room(NeighbourList& list);

  CellList cells_;
  std::vector<Chunk> chunks_;
  Array<int> storage_;  ///< what `list.neighbour` is a part of
};

}  // namespace quintet
