#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "io/parallel/comm_fwd.hpp"

namespace quintet::kinetics {

/// Cells of one rank within a global array of cells.
struct CellBox {
  std::array<int, 6> begin{}, extent{1, 1, 1, 1, 1, 1};
};

/// Rows [begin, end) along the first axis.
struct RowRange {
  int begin = 0, end = 0;
  [[nodiscard]] int size() const { return end > begin ? end - begin : 0; }
};

/// Brings a row-major global array [cells 0, cells 1, ..., values], held in boxes of cells, into whole rows
/// of the first axis and back.
///
/// The rows that a box touches are shared out over the ranks whose boxes touch the same rows, so that nothing
/// travels further than it must; or all rows go to rank 0. Rows move in chunks: beside the caller's rows only
/// some megabytes a chunk are held. Values are copied, never computed with.
class RowExchange {
 public:
  enum class Owner { shared, root };

  /// @param boxes of all ranks, in rank order; together they are a grid of boxes, row-major over the ranks
  /// @param gives whether a rank's box counts when rows are made (false: a replica of another rank's box)
  /// @param values numbers a cell
  /// @param chunk_bytes aimed at for the rows a rank handles at once; at least one row
  RowExchange(const Comm& comm, std::vector<CellBox> boxes, std::vector<bool> gives,
              const std::array<int, 6>& cells, int dim, std::size_t values, Owner owner,
              std::size_t chunk_bytes = std::size_t{1} << 24);

  /// Chunks, the same number on all ranks.
  [[nodiscard]] int n_chunks() const { return n_chunks_; }
  [[nodiscard]] RowRange rows() const { return owned_[rank_]; }  ///< of this rank
  [[nodiscard]] RowRange chunk(int i) const { return chunk(rank_, i); }
  [[nodiscard]] std::size_t row_size() const { return row_size_; }  ///< numbers a row

  /// Copies the local rows [first, first + n) of a box from or to `values` [n, extents..., values].
  using Give = std::function<void(int first, int n, double* values)>;
  using Take = std::function<void(int first, int n, const double* values)>;
  /// Fill `rows`, this rank's rows of chunk i, from all boxes. Collective.
  void collect(int i, const Give& give, std::span<double> rows) const;
  /// Collect all of this rank's rows, chunk by chunk. Collective.
  [[nodiscard]] std::vector<double> collect(const Give& give) const;
  /// Hand `rows`, this rank's rows of chunk i, to all boxes. Collective.
  void spread(int i, std::span<const double> rows, const Take& take) const;

 private:
  [[nodiscard]] RowRange share(int rank) const;
  [[nodiscard]] RowRange chunk(int rank, int i) const;
  /// Rows that the box of `rank` and `range` have in common.
  [[nodiscard]] RowRange common(int rank, const RowRange& range) const;
  [[nodiscard]] std::size_t box_row_size(int rank) const;
  /// Call visit(place in the chunk's rows, place in the box's rows, n numbers) for each run of numbers.
  template <class Visit>
  void visit_runs(int rank, const RowRange& common, int first_row, const Visit& visit) const;

  std::shared_ptr<const Comm> comm_;
  int rank_;
  std::vector<CellBox> boxes_;
  std::vector<bool> gives_;
  std::vector<RowRange> owned_;  ///< rows of each rank
  std::array<int, 6> cells_;
  int dim_;
  std::size_t values_, row_size_;
  Owner owner_;
  int rows_a_chunk_, n_chunks_ = 0;
  bool all_local_ = true;
};

}  // namespace quintet::kinetics
