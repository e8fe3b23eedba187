#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

/// Kernels of DeviceSubmatrices, for any execution space.
namespace quintet::electronic::device {

/// Neighbouring blocks of A that a submatrix has: its columns [begin, begin + count), values from A's
/// `offset` on.
struct Entry {
  std::int32_t begin, count;
  std::int64_t offset;
};
/// Rows of one block row that a thread works on at once: each element of x that it loads serves them all.
struct Tile {
  std::int32_t block;   ///< block row of the submatrix
  std::int32_t first;   ///< row in the block
  std::int32_t height;  ///< at most max_height
};
#ifdef KOKKOS_ENABLE_CUDA
inline constexpr int max_height = 8;  ///< rows of a product of the processor's matrix units
#else
inline constexpr int max_height = 3;  ///< eight columns of them fit into a core's registers
#endif

/// Where a submatrix's lists begin in the flat arrays of a batch.
struct Place {
  std::int64_t blocks;  ///< of its block rows; its begin has one more entry, so add the submatrix's number
  std::int64_t tiles;   ///< of its tiles
  std::int64_t values;  ///< of its results [function][n, n_own]
  std::int32_t n_blocks, n_tiles, n, n_own, own;
};
/// Up to `lanes` wanted columns of one submatrix.
struct ColumnPack {
  std::int32_t task, first, count;
};

/// Both sides' pointers: A as in BlockRowsView, and the batch.
struct Batch {
  const std::int64_t* row_begin;
  const std::int32_t* column;
  const std::int64_t* offset;
  const double* value;
  const Place* place;
  const std::int32_t* block;  ///< [blocks] of A
  const std::int32_t* begin;  ///< [blocks + 1 a task] first local row
  const Tile* tile;
  const std::int32_t* task_of;  ///< [blocks] task of a block row
  const std::int32_t* own;      ///< [own] local rows
  std::int64_t* entries_begin;  ///< [blocks + 1]
  Entry* entry;
};

/// Visit the blocks of A's row block[flat] that its submatrix has, those that follow on each other together:
/// both lists ascend, and the blocks of a row of A lie in that order.
template <class Visit>
KOKKOS_INLINE_FUNCTION void visit_entries(const Batch& b, std::int64_t flat, const Visit& visit) {
  const Place& s = b.place[b.task_of[flat]];
  const std::int32_t* blocks = b.block + s.blocks;
  const std::int32_t* begin = b.begin + s.blocks + b.task_of[flat];
  const std::int32_t row = b.block[flat], rows = begin[flat - s.blocks + 1] - begin[flat - s.blocks];
  std::int32_t local = 0;
  Entry entry{0, 0, 0};
  for (std::int64_t p = b.row_begin[row]; p < b.row_begin[row + 1]; ++p) {
    const std::int32_t column = b.column[p];
    while (local < s.n_blocks && blocks[local] < column) ++local;
    if (local == s.n_blocks) break;
    if (blocks[local] != column) continue;
    const std::int32_t count = begin[local + 1] - begin[local];
    const bool follows = entry.begin + entry.count == begin[local] &&
                         entry.offset + std::int64_t{entry.count} * rows == b.offset[p];
    if (entry.count > 0 && follows) {
      entry.count += count;
      continue;
    }
    if (entry.count > 0) visit(entry);
    entry = {begin[local], count, b.offset[p]};
  }
  if (entry.count > 0) visit(entry);
}

/// entries_begin[flat + 1] = number of entries of all rows up to this one.
struct CountEntries {
  Batch b;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t flat, std::int64_t& sum, bool final) const {
    visit_entries(b, flat, [&sum](const Entry&) { ++sum; });
    if (final) b.entries_begin[flat + 1] = sum;
  }
};
struct FillEntries {
  Batch b;
  std::int64_t* elements;  ///< [blocks] that the submatrix has in a block row
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t flat) const {
    Entry* to = b.entry + b.entries_begin[flat];
    std::int64_t columns = 0;
    visit_entries(b, flat, [&to, &columns](const Entry& entry) {
      *to++ = entry;
      columns += entry.count;
    });
    const std::int32_t* begin = b.begin + flat + b.task_of[flat];
    elements[flat] = columns * (begin[1] - begin[0]);
  }
};

/// The recurrence of one pack of columns, see DeviceSubmatrices, by a group of threads that share memory:
/// `rank`, `size`, sync().
template <class Real>
struct Recurrence {
  static constexpr int lanes = 8;

  Batch b;
  const ColumnPack* pack;
  const double* coefficient;  ///< [function][term]
  int n_functions, n_terms;
  double centre, half_width;
  double* result;
  double* moment;  ///< [pack][term]

  /// Shared memory of a group for submatrices of n rows (bytes).
  [[nodiscard]] static std::size_t shared_bytes(int n) { return 2 * sizeof(Real) * lanes * n; }

  template <class Group>
  KOKKOS_INLINE_FUNCTION void run(const Group& group, std::int64_t number, Real* shared) const {
    const ColumnPack& columns = pack[number];
    const Place& s = b.place[columns.task];
    const int n = s.n;
    Real *current = shared, *next = shared + std::int64_t{lanes} * n;  // T_k V and T_{k-1} V
    const std::int32_t* own = b.own + s.own + columns.first;
    double* const moments = moment + number * n_terms;
    double* const to = result + s.values + std::int64_t{columns.first} * n;
    for (int r = group.rank; r < n; r += group.size)
      for (int l = 0; l < lanes; ++l) {
        const Real unit = l < columns.count && own[l] == r ? Real(1) : Real(0);
        current[r * lanes + l] = unit;
        next[r * lanes + l] = 0;
        if (l < columns.count) add(s, 0, l, r, unit, to);
      }
    group.sync();
    for (int k = 0; k + 1 < n_terms; ++k) {
      if (group.rank == 0) moments[k] = diagonal(current, own, columns.count);
      group.advance(*this, s, columns, k, current, next, to);
      group.sync();
      Real* const former = current;
      current = next;
      next = former;
    }
    if (group.rank == 0) moments[n_terms - 1] = diagonal(current, own, columns.count);
    group.sync();
  }

  KOKKOS_INLINE_FUNCTION static double diagonal(const Real* current, const std::int32_t* own, int count) {
    double sum = 0;
    for (int l = 0; l < count; ++l) sum += static_cast<double>(current[own[l] * lanes + l]);
    return sum;
  }
  /// Term k of all functions.
  KOKKOS_INLINE_FUNCTION void add(const Place& s, int k, int l, int r, Real value, double* to) const {
    for (int f = 0; f < n_functions; ++f) {
      double& sum = to[(std::int64_t{f} * s.n_own + l) * s.n + r];
      sum = (k == 0 ? 0.0 : sum) + coefficient[f * n_terms + k] * static_cast<double>(value);
    }
  }
  /// Rows of T_{k+1} V, in place of those of T_{k-1} V, by one thread.
  KOKKOS_INLINE_FUNCTION void advance(const Place& s, const ColumnPack& columns, const Tile& tile, int k,
                                      const Real* current, Real* next, double* to) const {
    const std::int64_t flat = s.blocks + tile.block;
    const std::int32_t first = b.begin[flat + columns.task], rows = b.begin[flat + columns.task + 1] - first;
    Real sum[max_height][lanes];
    for (int h = 0; h < max_height; ++h)
      for (int l = 0; l < lanes; ++l) sum[h][l] = 0;
    int at[max_height];  // rows of a low tile that it lacks are those that it has: what they give is not kept
    for (int h = 0; h < max_height; ++h) at[h] = tile.first + (h < tile.height ? h : 0);
    apply(flat, rows, at, current, sum);
    for (int h = 0; h < tile.height; ++h)
      for (int l = 0; l < lanes; ++l)
        finish(s, columns, k, first + tile.first + h, l, sum[h][l], current, next, to);
  }
  /// T_{k+1} V of one row and column from (A T_k V) there.
  KOKKOS_INLINE_FUNCTION void finish(const Place& s, const ColumnPack& columns, int k, int r, int l,
                                     Real product, const Real* current, Real* next, double* to) const {
    const Real scale = (k == 0 ? 1 : 2) / half_width, back = k == 0 ? Real(0) : Real(1);
    const Real value =
        scale * (product - static_cast<Real>(centre) * current[r * lanes + l]) - back * next[r * lanes + l];
    next[r * lanes + l] = value;
    if (l < columns.count) add(s, k + 1, l, r, value, to);
  }
  /// sum[h][l] = (A x)[row at[h]][l]. Elements of A are fetched a few columns ahead: they come from far away.
  KOKKOS_INLINE_FUNCTION void apply(std::int64_t flat, int rows, const int (&at)[max_height], const Real* x,
                                    Real (&sum)[max_height][lanes]) const {
    constexpr int ahead = 3;
    const std::int64_t end = b.entries_begin[flat + 1];
    std::int64_t e = b.entries_begin[flat];
    Entry following = e < end ? b.entry[e] : Entry{};
    for (; e < end; ++e) {
      const Entry entry = following;
      if (e + 1 < end) following = b.entry[e + 1];
      const double* a = b.value + entry.offset;
      const Real* column = x + std::int64_t{entry.begin} * lanes;
      int c = 0;
      for (; c + ahead <= entry.count; c += ahead, a += ahead * rows, column += ahead * lanes) {
        Real element[ahead][max_height];
        for (int i = 0; i < ahead; ++i)
          for (int h = 0; h < max_height; ++h) element[i][h] = static_cast<Real>(a[i * rows + at[h]]);
        for (int i = 0; i < ahead; ++i)
          for (int l = 0; l < lanes; ++l) {
            const Real value = column[i * lanes + l];
            for (int h = 0; h < max_height; ++h) sum[h][l] += element[i][h] * value;
          }
      }
      for (; c < entry.count; ++c, a += rows, column += lanes)
        for (int h = 0; h < max_height; ++h) {
          const Real element = a[at[h]];
          for (int l = 0; l < lanes; ++l) sum[h][l] += element * column[l];
        }
    }
  }
};

}  // namespace quintet::electronic::device
