#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "physics/kernels/device_buffer.hpp"
#include "surrogates/potential/device/lanes.hpp"

/// Neighbour lists on an execution space: cells, then rows that are counted, placed and filled.
namespace quintet::device {

/// A regular grid of cells over the bounding box of all atoms.
struct Cells {
  double lower[3], per_length[3];
  int n[3];
  KOKKOS_INLINE_FUNCTION int along(int k, double x) const {
    const double cell = (x - lower[k]) * per_length[k];
    const int last = n[k] - 1;
    return cell > 0 ? (cell < last ? static_cast<int>(cell) : last) : 0;
  }
  KOKKOS_INLINE_FUNCTION int of(const double* x) const {
    return (along(0, x[0]) * n[1] + along(1, x[1])) * n[2] + along(2, x[2]);
  }
  [[nodiscard]] int size() const { return n[0] * n[1] * n[2]; }
};

struct CountInCells {
  const double* x;
  Cells cells;
  int* count;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    add_atomically(&count[cells.of(x + 3 * std::int64_t{i})], 1);
  }
};

/// count becomes the first place of each cell; count[n] the end.
struct ScanCells {
  int* count;
  int n;
  KOKKOS_INLINE_FUNCTION void operator()(const int c, int& sum, const bool last) const {
    const int own = c < n ? count[c] : 0;
    if (last) count[c] = sum;
    sum += own;
  }
};

struct PlaceInCells {
  const double* x;
  Cells cells;
  int *next, *order;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    order[Kokkos::atomic_fetch_add(&next[cells.of(x + 3 * std::int64_t{i})], 1)] = i;
  }
};

/// Atoms of a cell in the order of their index, whoever came first: rows then do not depend on timing.
struct SortCell {
  const int* start;
  int* order;
  KOKKOS_INLINE_FUNCTION void operator()(const int c) const {
    for (int p = start[c] + 1; p < start[c + 1]; ++p) {
      const int atom = order[p];
      int q = p;
      for (; q > start[c] && order[q - 1] > atom; --q) order[q] = order[q - 1];
      order[q] = atom;
    }
  }
};

struct GatherPositions {
  const double* x;
  const int* order;
  double* sorted;
  KOKKOS_INLINE_FUNCTION void operator()(const int p) const {
    for (int l = 0; l < 3; ++l) sorted[3 * std::int64_t{p} + l] = x[3 * std::int64_t{order[p]} + l];
  }
};

/// Count (list == nullptr) or write the neighbours of an atom.
template <class Space>
struct NeighbourRow {
  using Team = Lanes<Cut<Space>::lanes>;
  const double *x, *sorted;
  const int *start, *order;
  Cells cells;
  double range;
  std::int64_t* offset;  ///< counting: offset[i + 1] becomes the number
  int* list;
  [[nodiscard]] static int scratch_bytes() { return 0; }
  KOKKOS_INLINE_FUNCTION void operator()(const int i, char*) const {
    const double* own = x + 3 * std::int64_t{i};
    const double limit = range * range;
    int low[3], high[3];
    for (int k = 0; k < 3; ++k) {
      low[k] = cells.along(k, own[k] - range);
      high[k] = cells.along(k, own[k] + range);
    }
    int* const row = list ? list + offset[i] : nullptr;
    int found = 0;
    for (int a = low[0]; a <= high[0]; ++a)
      for (int b = low[1]; b <= high[1]; ++b) {
        const int line = (a * cells.n[1] + b) * cells.n[2];
        const int begin = start[line + low[2]], end = start[line + high[2] + 1];
        found += Team::select(
            end - begin,
            [&](int c) {
              const double* to = sorted + 3 * std::int64_t{begin + c};
              const double d[3] = {to[0] - own[0], to[1] - own[1], to[2] - own[2]};
              return d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= limit && order[begin + c] != i;
            },
            [&](int c, int place) {
              if (row) row[found + place] = order[begin + c];
            });
      }
    if (!list && Team::own() == 0) offset[i + 1] = found;
  }
};

/// offset[i + 1] holds the length of row i before and its end after.
struct ScanRows {
  std::int64_t* offset;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, std::int64_t& sum, const bool last) const {
    if (i > 0) sum += offset[i];
    if (last) offset[i] = i > 0 ? sum : 0;
  }
};

struct LongestRow {
  const std::int64_t* offset;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, int& most) const {
    const int n = offset[i + 1] - offset[i];
    if (n > most) most = n;
  }
};

struct Extent {
  const double* x;
  int l;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, Kokkos::MinMaxScalar<double>& e) const {
    const double value = x[3 * std::int64_t{i} + l];
    if (value < e.min_val) e.min_val = value;
    if (value > e.max_val) e.max_val = value;
  }
};

/// All pairs (local i, any j != i) within a range, row by row; a row's order depends on positions alone.
template <class Space>
class Neighbours {
 public:
  /// Make the list of atoms 0 .. n_local among n_all at x `[n_all, 3]` (device memory).
  void build(const Space& space, const double* x, int n_local, int n_all, double range) {
    using Range = Kokkos::RangePolicy<Space>;
    const Cells cells = choose_cells(space, x, n_all, range / 2);
    const int n_cells = cells.size();
    make_room<int, Space>(start_, "device::cell_start", n_cells + 1, 1.1);
    make_room<int, Space>(next_, "device::cell_next", n_cells + 1, 1.1);
    make_room<int, Space>(order_, "device::cell_order", n_all, 1.05);
    make_room<double, Space>(sorted_, "device::sorted_positions", 3 * std::int64_t{n_all}, 1.05);
    make_room<std::int64_t, Space>(offset_, "device::row_offset", n_local + 1, 1.02);
    Kokkos::deep_copy(space, start_, 0);
    Kokkos::parallel_for("device::count_in_cells", Range(space, 0, n_all),
                         CountInCells{x, cells, start_.data()});
    Kokkos::parallel_scan("device::scan_cells", Range(space, 0, n_cells + 1),
                          ScanCells{start_.data(), n_cells});
    Kokkos::deep_copy(space, Kokkos::subview(next_, Kokkos::make_pair(0, n_cells + 1)),
                      Kokkos::subview(start_, Kokkos::make_pair(0, n_cells + 1)));
    Kokkos::parallel_for("device::place_in_cells", Range(space, 0, n_all),
                         PlaceInCells{x, cells, next_.data(), order_.data()});
    Kokkos::parallel_for("device::sort_cells", Range(space, 0, n_cells),
                         SortCell{start_.data(), order_.data()});
    Kokkos::parallel_for("device::gather_positions", Range(space, 0, n_all),
                         GatherPositions{x, order_.data(), sorted_.data()});
    NeighbourRow<Space> row{x,     sorted_.data(), start_.data(),  order_.data(),
                            cells, range,          offset_.data(), nullptr};
    for_each_atom(space, "device::count_neighbours", n_local, row);
    Kokkos::parallel_scan("device::scan_rows", Range(space, 0, n_local + 1), ScanRows{offset_.data()});
    std::int64_t total = 0;
    Kokkos::deep_copy(space, Kokkos::View<std::int64_t, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&total),
                      Kokkos::subview(offset_, n_local));
    space.fence();
    make_room<int, Space>(list_, "device::neighbours", total, 1.03);
    row.list = list_.data();
    for_each_atom(space, "device::fill_neighbours", n_local, row);
    longest_ = 0;
    if (n_local > 0)
      Kokkos::parallel_reduce("device::longest_row", Range(space, 0, n_local), LongestRow{offset_.data()},
                              Kokkos::Max<int>(longest_));
    total_ = total;
  }

  [[nodiscard]] const std::int64_t* offset() const { return offset_.data(); }
  [[nodiscard]] const int* list() const { return list_.data(); }
  [[nodiscard]] int longest() const { return longest_; }
  [[nodiscard]] std::int64_t total() const { return total_; }
  /// Memory held now (bytes).
  [[nodiscard]] std::size_t bytes() const {
    return sizeof(int) * (start_.extent(0) + next_.extent(0) + order_.extent(0) + list_.extent(0)) +
           8 * (sorted_.extent(0) + offset_.extent(0));
  }

 private:
  static Cells choose_cells(const Space& space, const double* x, int n_all, double size) {
    Cells cells{};
    double length[3], product = 1;
    for (int l = 0; l < 3; ++l) {
      Kokkos::MinMaxScalar<double> e{};
      Kokkos::parallel_reduce("device::extent", Kokkos::RangePolicy<Space>(space, 0, n_all), Extent{x, l},
                              Kokkos::MinMax<double>(e));
      cells.lower[l] = e.min_val;
      length[l] = std::max(e.max_val - e.min_val, 1e-3);
      product *= length[l] / size + 1;
    }
    // Atoms far apart in an open box must not make more cells than there are atoms.
    const double most = 4.0 * n_all + 64;
    if (product > most) size *= std::cbrt(product / most);
    for (int l = 0; l < 3; ++l) {
      cells.n[l] = std::clamp(length[l] / size, 1.0, 4096.0);
      cells.per_length[l] = cells.n[l] / length[l];
    }
    while (static_cast<double>(cells.n[0]) * cells.n[1] * cells.n[2] > most + 1e6) {
      const int l = cells.n[0] >= cells.n[1] && cells.n[0] >= cells.n[2] ? 0
                    : cells.n[1] >= cells.n[2]                           ? 1
                                                                         : 2;
      cells.n[l] = (cells.n[l] + 1) / 2;
      cells.per_length[l] = cells.n[l] / length[l];
    }
    return cells;
  }

  Buffer<int, Space> start_, next_, order_, list_;
  Buffer<double, Space> sorted_;
  Buffer<std::int64_t, Space> offset_;
  int longest_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace quintet::device
