#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "physics/electronic/matrix/gather.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet::electronic {

/// A principal submatrix in the order in which the product with a few vectors reads it.
///
/// Its rows are cut into tiles of at most `max_height` rows of one block. A tile holds the kept blocks of the
/// upper triangle (its own diagonal block whole) as one stream [column][row of the tile], so that the product
/// runs through memory once and uses each element for both triangles.
template <class Real>
class LocalMatrix {
 public:
  static constexpr int max_height = 6;
  using Lanes = Pack<Real>;

  /// Gather A[rows, rows] from `a`: factor (A - shift), in the order of `blocks`. Storage is reused.
  void assign(const GatheredMatrix& a, std::span<const std::int32_t> blocks, double shift, double factor);

  [[nodiscard]] int n() const { return n_; }
  /// First row of each of the blocks, then n.
  [[nodiscard]] const std::vector<int>& begin() const { return begin_; }
  /// Elements of both triangles that are stored.
  [[nodiscard]] double n_elements() const { return n_elements_; }
  /// y += A x for one pack of vectors x, y [n][lanes].
  void apply(const Lanes* x, Lanes* y) const { apply_leading(x, y, n_); }
  /// Apply the leading n rows and columns alone, n the first row of a block or all rows.
  void apply_leading(const Lanes* x, Lanes* y, int n) const;
  /// The whole matrix, column-major [n, n].
  void dense(std::vector<double>& matrix) const;

 private:
  struct Segment {
    std::int32_t column, count;
  };
  struct Tile {
    std::int32_t row, height, segments_end;  ///< its first segment is its diagonal block
    std::size_t values_begin;
  };
  void append_tile(const GatheredMatrix& a, std::int32_t block, int first, int height, double shift,
                   double factor);
  void sort_neighbours(std::size_t n_blocks);
  void append_values(const double* block, int block_rows, int first, int height, int columns, double factor);

  int n_ = 0;
  double n_elements_ = 0;
  std::vector<int> begin_;
  std::vector<Tile> tiles_;
  std::vector<Segment> segments_;
  AlignedVector<Real> values_;
  std::size_t n_values_ = 0;
  struct Neighbour {
    std::int32_t local;
    const double* block;
  };
  std::vector<Neighbour> neighbours_;  ///< of the block row at hand
  std::vector<std::uint64_t> marked_;
  std::vector<const double*> block_at_;
  std::vector<std::int32_t> position_;  ///< of each block of the whole matrix among `blocks`, or -1
};

}  // namespace quintet::electronic
