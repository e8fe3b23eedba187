#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "physics/particles/atoms/atom_record.hpp"
#include "physics/particles/device/resident_kernels.hpp"

/// Kernels of a rebuild on several ranks: those of domain_migration.cpp and of Ghosts::build.
namespace quintet::device {

/// A brick of the cell and the cells that its atoms are ordered by.
struct Brick {
  ImageCell cell;
  int grid[3], rank;
  int first_cell[3], n_cells[3], cells_of_box[3];
  double cells_per_unit[3];

  /// The rank whose brick holds a place; see owner_of() of domain_migration.hpp.
  KOKKOS_INLINE_FUNCTION int owner_of(const double* x) const {
    int owner = 0;
    for (int k = 0; k < 3; ++k) {
      const double place = ::floor(cell.fractional(k, x) * grid[k]), last = grid[k] - 1.0;
      owner = owner * grid[k] + static_cast<int>(place > 0 ? (place < last ? place : last) : 0);
    }
    return owner;
  }
  /// See sort_by_cell(); one that the brick does not hold is taken for its rim's.
  KOKKOS_INLINE_FUNCTION int cell_of(const double* x) const {
    int c = 0;
    for (int k = 0; k < 3; ++k) {
      const double place = cell.fractional(k, x) * cells_per_unit[k], last = cells_of_box[k] - 1.0;
      const int own = static_cast<int>(place > 0 ? (place < last ? place : last) : 0) - first_cell[k];
      c = c * n_cells[k] + (own > 0 ? (own < n_cells[k] ? own : n_cells[k] - 1) : 0);
    }
    return c;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int size() const { return n_cells[0] * n_cells[1] * n_cells[2]; }
  [[nodiscard]] int n_ranks() const { return grid[0] * grid[1] * grid[2]; }
};

/// Finds which rows stay, and how many go to each rank.
struct PartRows {
  Brick brick;
  const double* x;
  char* stays;
  int* leaving;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    const int owner = brick.owner_of(x + 3 * std::int64_t{i});
    stays[i] = owner == brick.rank ? 1 : 0;
    if (stays[i] == 0) Kokkos::atomic_fetch_add(&leaving[owner], 1);
  }
};

/// Packs all of the rows that leave but their forces, which the next evaluation gives, rank by rank. `next`:
/// the first place of each rank.
struct PackLeaving {
  Brick brick;
  const char* stays;
  int* next;
  const double *x, *v;
  const int *image, *type;
  const std::int64_t* id;
  AtomRecord* out;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    if (stays[i] != 0) return;
    const int owner = brick.owner_of(x + 3 * std::int64_t{i});
    AtomRecord& to = out[Kokkos::atomic_fetch_add(&next[owner], 1)];
    for (int l = 0; l < 3; ++l) {
      const std::size_t at = 3 * std::int64_t{i} + l;
      to.position[l] = x[at];
      to.velocity[l] = v[at];
      to.force[l] = 0;
      to.image[l] = image[at];
    }
    to.id = id[i];
    to.type = type[i];
  }
};

struct UnpackRecords {
  const AtomRecord* in;
  int first;
  double *x, *v;
  int *image, *type;
  std::int64_t* id;
  char* stays;
  KOKKOS_INLINE_FUNCTION void operator()(const int p) const {
    const AtomRecord& from = in[p];
    const int i = first + p;
    for (int l = 0; l < 3; ++l) {
      const std::size_t at = 3 * std::int64_t{i} + l;
      x[at] = from.position[l];
      v[at] = from.velocity[l];
      image[at] = from.image[l];
    }
    id[i] = from.id;
    type[i] = from.type;
    stays[i] = 1;
  }
};

/// Counts the rows that stay by cell (order == nullptr), or puts each into its cell's part of the order.
struct IntoCells {
  Brick brick;
  const double* x;
  const char* stays;
  int *next, *order;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    if (stays[i] == 0) return;
    const int place = Kokkos::atomic_fetch_add(&next[brick.cell_of(x + 3 * std::int64_t{i})], 1);
    if (order) order[place] = i;
  }
};

/// Counts become first places.
struct ScanCounts {
  int* count;
  KOKKOS_INLINE_FUNCTION void operator()(const int c, int& sum, const bool last) const {
    const int own = count[c];
    if (last) count[c] = sum;
    sum += own;
  }
};

/// The rows of a cell, which end at end[c], by id: their order does not depend on who came first.
struct SortById {
  const int* end;
  const std::int64_t* id;
  int* order;
  KOKKOS_INLINE_FUNCTION void operator()(const int c) const {
    const int begin = c > 0 ? end[c - 1] : 0;
    for (int p = begin + 1; p < end[c]; ++p) {
      const int row = order[p];
      int q = p;
      for (; q > begin && id[order[q - 1]] > id[row]; --q) order[q] = order[q - 1];
      order[q] = row;
    }
  }
};

/// The cell of each row; the last of all for those that leave. order[p] = p.
struct NameCells {
  Brick brick;
  const double* x;
  const char* stays;
  int n_rows;
  int *cell, *order;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t p) const {
    order[p] = p;
    if (p < n_rows) cell[p] = stays[p] == 0 ? brick.size() : brick.cell_of(x + 3 * p);
  }
};

/// A step of a bitonic sort by cell, then by id: pairs of places `apart`, in runs that rise and fall by
/// turns. There are 2^m places; those from n_rows on are empty and come last.
struct SortPairs {
  std::int64_t run, apart;
  int n_rows;
  const int* cell;
  const std::int64_t* id;
  int* order;
  KOKKOS_INLINE_FUNCTION bool before(int a, int b) const {
    if (a >= n_rows || b >= n_rows) return a < b;
    return cell[a] != cell[b] ? cell[a] < cell[b] : id[a] < id[b];
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t pair) const {
    const std::int64_t p = 2 * pair - (pair & (apart - 1)), q = p + apart;
    const int a = order[p], b = order[q];
    const bool rises = (p & run) == 0;
    if (!(rises ? before(b, a) : before(a, b))) return;
    order[p] = b;
    order[q] = a;
  }
};

/// to[p] = from[order[p]], rows of `width` numbers.
template <class T, int width>
struct GatherRows {
  const T* from;
  const int* order;
  T* to;
  KOKKOS_INLINE_FUNCTION void operator()(const int p) const {
    for (int l = 0; l < width; ++l)
      to[std::int64_t{width} * p + l] = from[std::int64_t{width} * order[p] + l];
  }
};

/// Rows from `first` on that lie within `reach` of a face of the brick or beyond it, in order; see
/// Ghosts::select.
struct SelectBorder {
  ImageCell cell;
  int direction, side;
  double face, reach;
  int first;
  const double* x;
  int* sent;
  KOKKOS_INLINE_FUNCTION void operator()(const int p, int& sum, const bool last) const {
    const int i = first + p;
    const double beyond = (cell.fractional(direction, x + 3 * std::int64_t{i}) - face) * side;
    if (!(beyond >= -reach)) return;
    if (last) sent[sum] = i;
    ++sum;
  }
};

struct PackBorder {
  const int* sent;
  const double* x;
  const std::int64_t* id;
  const int* type;
  double shift[3];
  BorderAtom* out;
  KOKKOS_INLINE_FUNCTION void operator()(const int p) const {
    const int i = sent[p];
    for (int l = 0; l < 3; ++l) out[p].position[l] = x[3 * std::int64_t{i} + l] + shift[l];
    out[p].id = id[i];
    out[p].type = type[i];
  }
};

/// Ghosts that came by a message are nobody's images here.
struct UnpackBorder {
  const BorderAtom* in;
  int first;
  double* x;
  std::int64_t* id;
  int *type, *owner, *shift;
  KOKKOS_INLINE_FUNCTION void operator()(const int p) const {
    const int i = first + p;
    for (int l = 0; l < 3; ++l) x[3 * std::int64_t{i} + l] = in[p].position[l];
    id[i] = in[p].id;
    type[i] = in[p].type;
    owner[i] = i;
    shift[i] = shift_code(0, 0, 0);
  }
};

/// Rows that were chosen as images on the other side of the cell, which has `rows`.
struct ImageBorder {
  const int* sent;
  int first, direction, image;
  double rows[9];
  double* x;
  std::int64_t* id;
  int *type, *owner, *shift;
  KOKKOS_INLINE_FUNCTION void operator()(const int p) const {
    const int from = sent[p], row = first + p, own = owner[from];
    int by[3];
    for (int k = 0; k < 3; ++k) by[k] = shift_along(shift[from], k) + (k == direction ? image : 0);
    owner[row] = own;
    shift[row] = shift_code(by[0], by[1], by[2]);
    for (int l = 0; l < 3; ++l)
      x[3 * std::int64_t{row} + l] =
          x[3 * std::int64_t{own} + l] + by[0] * rows[l] + by[1] * rows[3 + l] + by[2] * rows[6 + l];
    id[row] = id[own];
    type[row] = type[own];
  }
};

}  // namespace quintet::device
