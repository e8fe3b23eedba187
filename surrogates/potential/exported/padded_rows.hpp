#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "physics/particles/atoms/atoms.hpp"
#include "surrogates/potential/exported/exported_model.hpp"

namespace quintet::potential {

/// Rows of neighbours within a cutoff, as tables of a fixed width, nearest first; keeps its work arrays.
///
/// Neighbours that are equally far come in the order of their rows in Atoms, so that the same atoms in the
/// same order give the same table whatever the list holds beyond the cutoff.
class PaddedRows {
 public:
  /// `facts` of the model that reads them.
  explicit PaddedRows(const ExportedFacts& facts);

  /// Fill `system` with local atoms [begin, end), who come first, and whoever stands in rows: in theirs, then
  /// in those of who stands there, and so on, `layers` times. The list must have rows of all these.
  ///
  /// A row is sum(sel) wide, or as long as the longest one, where that is longer: the model then leaves out
  /// neighbours by a rule of its own.
  void fill(const Atoms& atoms, const NeighbourList& list, int begin, int end, int layers,
            ExportedSystem& system);

  /// Row in Atoms of each atom of the last system.
  [[nodiscard]] const std::vector<int>& rows() const { return rows_; }
  /// Centres with more neighbours than sel holds, since the last call, and the most that one of them had.
  [[nodiscard]] std::pair<std::int64_t, int> take_overflow();

 private:
  /// A neighbour in a row.
  struct Near {
    double distance2;
    int row;
  };
  void find(const Atoms& atoms, const NeighbourList& list, int i);
  void count(const Atoms& atoms);
  int number_of(int row);
  void add_row(const Atoms& atoms, const NeighbourList& list, int row);

  double cutoff_;
  std::vector<int> sel_;
  bool counts_together_;
  int least_width_ = 0;
  std::vector<Near> near_;           ///< of one centre
  std::vector<int> all_;             ///< numbers of the neighbours, row by row
  std::vector<std::size_t> offset_;  ///< [n_rows + 1] first of a row in all_
  std::vector<int> of_type_;         ///< [n_types] neighbours of one centre
  std::vector<int> number_;          ///< [atoms and ghosts] in the system; -1: not there
  std::vector<int> rows_;
  std::int64_t overflowing_ = 0;
  int most_ = 0;
};

}  // namespace quintet::potential
