#include "physics/particles/domain/neighbour_list.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace quintet {
namespace {

/// Range of cells along each direction that a sphere around an atom touches.
struct CellRange {
  int first[3], last[3];
};

/// What the search around one atom reads.
struct Search {
  CellGrid grid;
  Box box;
  Vec3 reach;  ///< range in fractional coordinates
  double range_squared;
  int n_types;
  const int *start, *order, *place;
  const double *x, *y, *z;

  /// True for a type of which this rank has no atom.
  [[nodiscard]] bool is_absent(int t) const {
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(t) * grid.size();
    return start[first] == start[first + grid.size()];
  }
  [[nodiscard]] CellRange cells_around(const double* centre) const {
    CellRange cells;
    for (int k = 0; k < 3; ++k) {
      const double s = box.fractional(k, centre[0], centre[1], centre[2]);
      cells.first[k] = grid.index(k, s - reach[k]);
      cells.last[k] = grid.index(k, s + reach[k]);
    }
    return cells;
  }
};

/// Append the atoms at places [begin, end) within range of the centre: |x_j - x_i|^2 <= range^2.
///
/// Distances are computed a block at a time, which the compiler turns into SIMD. Then each lane is written,
/// and the end moves on where it is kept: no branch to mispredict. Reads up to a block past `end` and writes
/// up to a block past what it keeps.
inline int* append_run(const Search& search, const double* centre, int begin, int end, int* out) {
  constexpr int width = CellList::padding;
  const double cx = centre[0], cy = centre[1], cz = centre[2], range_squared = search.range_squared;
  for (int p = begin; p < end; p += width) {
    const std::int64_t lanes = end - p;
    std::int64_t keep[width];
    for (int l = 0; l < width; ++l) {
      const double dx = search.x[p + l] - cx, dy = search.y[p + l] - cy, dz = search.z[p + l] - cz;
      keep[l] = static_cast<std::int64_t>(dx * dx + dy * dy + dz * dz <= range_squared) & (l < lanes);
    }
    for (int l = 0; l < width; ++l) {
      *out = search.order[p + l];
      out += keep[l];
    }
  }
  return out;
}

/// Row of atom i appended to `chunk` at `used`; returns the new end.
std::size_t append_row(const Search& search, int i, const double* centre, std::vector<int>& chunk,
                       std::size_t used) {
  const CellRange cells = search.cells_around(centre);
  const int itself = search.place[i];
  const auto& n = search.grid.n;
  for (int t = 0; t < search.n_types; ++t) {
    if (search.is_absent(t)) continue;
    for (int cx = cells.first[0]; cx <= cells.last[0]; ++cx)
      for (int cy = cells.first[1]; cy <= cells.last[1]; ++cy) {
        const int* column =
            search.start + (static_cast<std::ptrdiff_t>(t) * n[0] + cx) * n[1] * n[2] + cy * n[2];
        const int begin = column[cells.first[2]], end = column[cells.last[2] + 1];
        const std::size_t room = used + (end - begin) + 2 * CellList::padding;
        if (chunk.size() < room) chunk.resize(room + room / 2 + 1024);
        int* const first = chunk.data() + used;
        // The atom is no neighbour of its own (its images are).
        const bool meets_itself = begin <= itself && itself < end;
        int* out = append_run(search, centre, begin, meets_itself ? itself : end, first);
        if (meets_itself) out = append_run(search, centre, itself + 1, end, out);
        used += out - first;
      }
  }
  return used;
}

/// First atom of a thread's share.
inline int share(int n, int chunk, int n_chunks) {
  return static_cast<int>(static_cast<long long>(n) * chunk / n_chunks);
}

}  // namespace

std::uint64_t new_list_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void NeighbourListBuilder::build(const Exec& exec, const Atoms& atoms, double range, NeighbourList& list) {
  cells_.build(exec, atoms, range);
  Search search{cells_.grid(),        atoms.box,           {},
                range * range,        cells_.n_types(),    cells_.start(),
                cells_.order(),       cells_.place(),      cells_.coordinate(0),
                cells_.coordinate(1), cells_.coordinate(2)};
  // Slightly wider than the range, so that rounding in fractional coordinates cannot hide a cell.
  for (int k = 0; k < 3; ++k) search.reach[k] = range / atoms.box.width(k) * (1 + 1e-9);

  const int n = atoms.n_local;
  const int n_chunks = std::max(1, std::min(n, static_cast<int>(exec.concurrency())));
  chunks_.resize(n_chunks);
  chunk_size_.assign(n_chunks, 0);
  if (list.offset.extent(0) != static_cast<std::size_t>(n) + 1)
    list.offset = make_view<Array<std::size_t>>("particles::neighbour_offset", n + 1);
  const auto offset = list.offset;
  const auto position = atoms.position;
  auto* const chunks = chunks_.data();
  auto* const chunk_size = chunk_size_.data();
  Kokkos::parallel_for(
      "particles::neighbour_search", Kokkos::RangePolicy<Exec>(exec, 0, n_chunks),
      KOKKOS_LAMBDA(const int c) {
        std::size_t used = 0;
        for (int i = share(n, c, n_chunks); i < share(n, c + 1, n_chunks); ++i) {
          offset(i) = used;
          used = append_row(search, i, &position(i, 0), chunks[c], used);
        }
        chunk_size[c] = used;
      });
  exec.fence();
  std::size_t total = 0;
  for (auto& size : chunk_size_) total = size += total;  // now each chunk's end in the whole
  if (storage_.extent(0) < total)
    storage_ = make_view<Array<int>>("particles::neighbours", total + total / 8);
  const auto neighbour = storage_;
  Kokkos::parallel_for(
      "particles::neighbour_join", Kokkos::RangePolicy<Exec>(exec, 0, n_chunks), KOKKOS_LAMBDA(const int c) {
        const std::size_t first = c == 0 ? 0 : chunk_size[c - 1];
        std::copy_n(chunks[c].data(), chunk_size[c] - first, neighbour.data() + first);
        for (int i = share(n, c, n_chunks); i < share(n, c + 1, n_chunks); ++i) offset(i) += first;
      });
  exec.fence();
  offset(n) = total;
  list.range = range;
  list.neighbour = Kokkos::subview(storage_, std::make_pair(std::size_t{0}, total));
}

}  // namespace quintet
