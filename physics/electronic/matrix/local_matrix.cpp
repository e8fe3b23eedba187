#include "physics/electronic/matrix/local_matrix.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "io/log/error.hpp"

namespace quintet::electronic {

template <class Real>
void LocalMatrix<Real>::append_values(const double* block, int block_rows, int first, int height, int columns,
                                      double factor) {
  const std::size_t size = std::int64_t{height} * columns;
  if (n_values_ + size > values_.size()) values_.resize(std::max(2 * values_.size(), n_values_ + size));
  Real* to = values_.data() + n_values_;
  n_values_ += size;
  if (height == block_rows) {
    for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<Real>(factor * block[i]);
    return;
  }
  for (int c = 0; c < columns; ++c)
    for (int r = 0; r < height; ++r)
      *to++ = static_cast<Real>(factor * block[std::int64_t{c} * block_rows + first + r]);
}

template <class Real>
void LocalMatrix<Real>::append_tile(const GatheredMatrix& a, std::int32_t block, int first, int height,
                                    double shift, double factor) {
  const int block_rows = a.blocking->size(block);
  const std::size_t values_begin = n_values_;
  for (const Neighbour& neighbour : neighbours_) {
    const int column = begin_[neighbour.local];
    const int columns = begin_[neighbour.local + 1] - column;
    const bool diagonal = &neighbour == neighbours_.data();
    // runs of neighbouring blocks become one segment
    if (!diagonal && &neighbour != neighbours_.data() + 1 &&
        segments_.back().column + segments_.back().count == column)
      segments_.back().count += columns;
    else
      segments_.push_back({column, columns});
    const std::size_t at = n_values_;
    append_values(neighbour.block, block_rows, first, height, columns, factor);
    if (diagonal)
      for (int r = 0; r < height; ++r)
        values_[at + (first + r) * height + r] -= static_cast<Real>(factor * shift);
    n_elements_ += static_cast<double>(height) * columns * (diagonal ? 1 : 2);
  }
  tiles_.push_back({begin_[neighbours_.front().local] + first, height,
                    static_cast<std::int32_t>(segments_.size()), values_begin});
}

/// By place, all but the diagonal block: a bit for each, read in order, takes a third of the time of a sort.
template <class Real>
void LocalMatrix<Real>::sort_neighbours(std::size_t n_blocks) {
  const auto by_place = [](const Neighbour& l, const Neighbour& r) { return l.local < r.local; };
  if (std::is_sorted(neighbours_.begin() + 1, neighbours_.end(), by_place)) return;
  constexpr std::size_t bits = 64;
  marked_.assign(n_blocks / bits + 1, 0);
  block_at_.resize(n_blocks);
  for (std::size_t i = 1; i < neighbours_.size(); ++i) {
    const std::size_t place = neighbours_[i].local;
    marked_[place / bits] |= std::uint64_t{1} << place % bits;
    block_at_[place] = neighbours_[i].block;
  }
  std::size_t next = 1;
  for (std::size_t word = 0; word < marked_.size(); ++word)
    for (std::uint64_t left = marked_[word]; left != 0; left &= left - 1) {
      const std::size_t place = word * bits + std::countr_zero(left);
      neighbours_[next++] = {static_cast<std::int32_t>(place), block_at_[place]};
    }
}

template <class Real>
void LocalMatrix<Real>::assign(const GatheredMatrix& a, std::span<const std::int32_t> blocks, double shift,
                               double factor) {
  position_.resize(a.blocking->n_blocks(), -1);
  begin_.assign(1, 0);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    position_[blocks[i]] = i;
    begin_.push_back(begin_.back() + a.blocking->size(blocks[i]));
  }
  n_ = begin_.back();
  n_elements_ = 0;
  n_values_ = 0;
  tiles_.clear();
  segments_.clear();
  for (const std::int32_t block : blocks) {
    neighbours_.clear();
    const auto [from, to] = a.row_range(block);
    for (auto p = from; p < to; ++p)
      if (const auto local = position_[a.column[p]]; local >= 0)
        neighbours_.push_back({local, a.value.data() + a.offset[p]});
    sort_neighbours(blocks.size());
    const int rows = a.blocking->size(block);
    for (int first = 0; first < rows; first += max_height)
      append_tile(a, block, first, std::min(max_height, rows - first), shift, factor);
  }
  for (const std::int32_t block : blocks) position_[block] = -1;
}

namespace {

/// One tile of `height` rows: y_tile += A x, and y += A^T x_tile for all but the diagonal segment, in the
/// columns below n. Sums of the tile stay in registers.
template <class Real, int height, class Segment>
void apply_tile(int row, int n, const Segment* segment, const Segment* end, const Real* __restrict a,
                const Pack<Real>* __restrict x, Pack<Real>* __restrict y) {
  Pack<Real> x_tile[height], sum[height];
  for (int r = 0; r < height; ++r) {
    x_tile[r] = x[row + r];
    sum[r] = Pack<Real>{};
  }
  for (int c = segment->column; c < segment->column + segment->count; ++c, a += height)
#pragma GCC unroll 6
    for (int r = 0; r < height; ++r) sum[r] += a[r] * x[c];
  for (++segment; segment != end && segment->column < n; ++segment)
    for (int c = segment->column; c < std::min(segment->column + segment->count, n); ++c, a += height) {
      const Pack<Real> x_c = x[c];
      Pack<Real> y_c = y[c];
#pragma GCC unroll 6
      for (int r = 0; r < height; ++r) {
        const Pack<Real> element =
            a[r] - Pack<Real>{};  // broadcast: x - 0 is x for all x, without an addition
        sum[r] += element * x_c;
        y_c += element * x_tile[r];
      }
      y[c] = y_c;
    }
  for (int r = 0; r < height; ++r) y[row + r] += sum[r];
}

}  // namespace

template <class Real>
void LocalMatrix<Real>::apply_leading(const Lanes* x, Lanes* y, int n) const {
  const Segment* segment = segments_.data();
  for (const Tile& tile : tiles_) {
    if (tile.row >= n) break;
    const Real* const a = values_.data() + tile.values_begin;
    const Segment* const end = segments_.data() + tile.segments_end;
    switch (tile.height) {
      case 1:
        apply_tile<Real, 1>(tile.row, n, segment, end, a, x, y);
        break;
      case 2:
        apply_tile<Real, 2>(tile.row, n, segment, end, a, x, y);
        break;
      case 3:
        apply_tile<Real, 3>(tile.row, n, segment, end, a, x, y);
        break;
      case 4:
        apply_tile<Real, 4>(tile.row, n, segment, end, a, x, y);
        break;
      case 5:
        apply_tile<Real, 5>(tile.row, n, segment, end, a, x, y);
        break;
      case 6:
        apply_tile<Real, 6>(tile.row, n, segment, end, a, x, y);
        break;
      default:
        throw InternalError("a tile of more rows than there is a kernel for");
    }
    segment = end;
  }
}

template <class Real>
void LocalMatrix<Real>::dense(std::vector<double>& matrix) const {
  const std::int64_t n = n_;
  matrix.assign(n * n, 0.0);
  const Real* a = values_.data();
  int s = 0;
  for (const Tile& tile : tiles_)
    for (; s < tile.segments_end; ++s)
      for (int c = segments_[s].column; c < segments_[s].column + segments_[s].count; ++c)
        for (int r = tile.row; r < tile.row + tile.height; ++r, ++a)
          matrix[std::int64_t{r} * n + c] = matrix[std::int64_t{c} * n + r] = *a;
}

template class LocalMatrix<double>;
template class LocalMatrix<float>;

}  // namespace quintet::electronic
