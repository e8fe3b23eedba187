#include "physics/particles/domain/neighbour_list.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "physics/kernels/pack.hpp"

namespace quintet {
namespace {

/// What the search around one atom reads.
struct Search {
  CellGrid grid;
  Box box;
  Vec3 reach;  ///< range in fractional coordinates
  double range_squared;
  int n_types;
  const int *start, *order, *place;
  const double *x, *y, *z;
  /// The box has a right angle between all rows: |d|^2 = sum_k (width_k d_k)^2 for d in fractional
  /// coordinates.
  bool upright;
  Vec3 width;

  /// True for a type of which this rank has no atom.
  [[nodiscard]] bool is_absent(int t) const {
    const std::ptrdiff_t first = std::int64_t{t} * grid.size();
    return start[first] == start[first + grid.size()];
  }
  /// How far fractional coordinate s is from a cell along k (angstrom); cells of the rim have no end.
  [[nodiscard]] double distance_to(int k, int cell, double s) const {
    const double below = cell == 0 ? 0 : grid.lower[k] + cell / grid.per_unit[k] - s;
    const double above = cell == grid.n[k] - 1 ? 0 : s - grid.lower[k] - (cell + 1) / grid.per_unit[k];
    return width[k] * std::max({below, above, 0.0});
  }
};

using P = Pack<double>;
constexpr int width = pack_width<double>;
static_assert(CellList::padding % width == 0, "a block is read past the last place");

/// keep_l = -1 where the atom at place p + l, l < width, p + l < end, is within range of the centre, else 0:
/// |x_j - x_i|^2 <= range^2. Reads up to a block past the last place.
struct Near {
  P x, y, z, range_squared, lane;
  Near(const Search& search, const double* centre)
      : x(broadcast(centre[0])),
        y(broadcast(centre[1])),
        z(broadcast(centre[2])),
        range_squared(broadcast(search.range_squared)) {
    double lanes[width];
    for (int l = 0; l < width; ++l) lanes[l] = l;
    lane = load<double>(lanes);
  }
  [[nodiscard]] auto operator()(const Search& search, int p, int end) const {
    const P dx = load<double>(search.x + p) - x, dy = load<double>(search.y + p) - y,
            dz = load<double>(search.z + p) - z;
    return (dx * dx + dy * dy + dz * dz <= range_squared) & (lane < broadcast(double(end - p)));
  }
};

/// Counts the atoms at places [begin, end) within range of the centre.
struct CountRun {
  std::size_t n = 0;
  void operator()(const Search& search, const double* centre, int begin, int end) {
    const Near near(search, centre);
    const P zero{}, one = broadcast(1.0);
    P found{};
    for (int p = begin; p < end; p += width) found += near(search, p, end) ? one : zero;
    n += static_cast<std::size_t>(horizontal_sum<double>(found));
  }
};

/// A comparison's lanes as numbers: -1 where it holds, else 0.
template <class Mask>
void spread(const Mask& mask, std::int64_t* lanes) {
  if constexpr (width > 1) {
    static_assert(sizeof(mask) == sizeof(P));
    std::memcpy(lanes, &mask, sizeof(mask));
  } else {
    lanes[0] = -static_cast<std::int64_t>(mask);
  }
}

/// Writes them; from the first run on that there may be no room for, it only counts.
///
/// Each lane is written, and the end moves on where it is kept, so that no branch can be mispredicted. Writes
/// up to a block past what it keeps.
struct WriteRun {
  int *out, *last;
  std::size_t n = 0;
  std::size_t longest_missed = 0;  ///< places of the longest run that was not written; 0: all were
  void operator()(const Search& search, const double* centre, int begin, int end) {
    if (end <= begin) return;
    if (last - out < end - begin + 2 * width) {
      CountRun count;
      count(search, centre, begin, end);
      n += count.n;
      last = out;  // nothing can follow
      longest_missed = std::max(longest_missed, static_cast<std::size_t>(end - begin) + 2 * width);
      return;
    }
    const int* const first = out;
    const Near near(search, centre);
    for (int p = begin; p < end; p += width) {
      std::int64_t keep[width];
      spread(near(search, p, end), keep);
      for (int l = 0; l < width; ++l) {
        *out = search.order[p + l];
        out -= keep[l];
      }
    }
    n += out - first;
  }
};

/// Call `run` for the places of the atoms near atom i, type by type: contiguous runs of a column of cells.
template <class Run>
void visit_runs(const Search& search, int i, const double* centre, Run& run) {
  const int itself = search.place[i];
  const CellGrid& grid = search.grid;
  const auto& n = grid.n;
  Vec3 s;
  int first[3], last[3];
  for (int k = 0; k < 3; ++k) {
    s[k] = search.box.fractional(k, centre[0], centre[1], centre[2]);
    first[k] = grid.index(k, s[k] - search.reach[k]);
    last[k] = grid.index(k, s[k] + search.reach[k]);
  }
  // A little more, as for the reach. The square of what the range leaves beyond a slab, then beyond a column.
  const double whole = search.range_squared * (1 + 1e-9);
  for (int t = 0; t < search.n_types; ++t) {
    if (search.is_absent(t)) continue;
    for (int cx = first[0]; cx <= last[0]; ++cx) {
      const double far_x = search.upright ? search.distance_to(0, cx, s[0]) : 0;
      for (int cy = first[1]; cy <= last[1]; ++cy) {
        int lowest = first[2], highest = last[2];
        if (search.upright) {
          const double far_y = search.distance_to(1, cy, s[1]);
          const double rest = whole - far_x * far_x - far_y * far_y;
          if (rest < 0) continue;
          const double reach = std::sqrt(rest) / search.width[2] * (1 + 1e-9);
          lowest = grid.index(2, s[2] - reach);
          highest = grid.index(2, s[2] + reach);
        }
        const int* column = search.start + (std::int64_t{t} * n[0] + cx) * n[1] * n[2] + cy * n[2];
        const int begin = column[lowest], end = column[highest + 1];
        // The atom is no neighbour of its own (its images are).
        const bool meets_itself = begin <= itself && itself < end;
        run(search, centre, begin, meets_itself ? itself : end);
        if (meets_itself) run(search, centre, itself + 1, end);
      }
    }
  }
}

/// Are all angles of the box right angles?
bool is_upright(const Box& box) {
  const auto& r = box.rows();
  const auto dot = [&](int a, int b) {
    return r[3 * a] * r[3 * b] + r[3 * a + 1] * r[3 * b + 1] + r[3 * a + 2] * r[3 * b + 2];
  };
  for (int a = 0; a < 3; ++a)
    if (std::abs(dot(a, (a + 1) % 3)) > 1e-12 * std::sqrt(dot(a, a) * dot((a + 1) % 3, (a + 1) % 3)))
      return false;
  return true;
}

/// First atom of a thread's share.
inline int share(int n, int chunk, int n_chunks) { return static_cast<long long>(n) * chunk / n_chunks; }

/// About how many neighbours atoms [begin, end) have, from every 64th of them; seldom too few.
std::size_t estimate(const Search& search, const Vectors& position, int begin, int end) {
  constexpr int every = 64;
  CountRun count;
  int n_sampled = 0;
  for (int i = begin; i < end; i += every, ++n_sampled) visit_runs(search, i, &position(i, 0), count);
  if (n_sampled == 0) return 0;
  // A sample of k rows is off by some k^-1/2. Room that is not written costs no memory.
  const double margin = 1.125 + 4 / std::sqrt(n_sampled);
  return margin * count.n * (end - begin) / n_sampled;
}

}  // namespace

std::uint64_t new_list_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// Give each chunk room for its size and a bit; the old list is gone then.
void NeighbourListBuilder::make_room(NeighbourList& list) {
  constexpr std::size_t spare = 4096;  // of a run's places, most of which are no neighbours
  std::size_t total = 0;
  for (Chunk& chunk : chunks_) {
    chunk.begin = total;
    chunk.room = chunk.size + chunk.size / 64 + std::max(spare, chunk.longest_missed);
    total += chunk.room;
  }
  if (storage_.extent(0) >= total) return;
  list.neighbour = {};
  storage_ = {};  // before the new one: the two need not fit side by side
  storage_ = make_view<Array<int>>("particles::neighbours", total);
}

void NeighbourListBuilder::build(const Exec& exec, const Atoms& atoms, double range, NeighbourList& list) {
  cells_.build(exec, atoms, range);
  Search search{cells_.grid(),
                atoms.box,
                {},
                range * range,
                cells_.n_types(),
                cells_.start(),
                cells_.order(),
                cells_.place(),
                cells_.coordinate(0),
                cells_.coordinate(1),
                cells_.coordinate(2),
                is_upright(atoms.box),
                {}};
  // Slightly wider than the range, so that rounding in fractional coordinates cannot hide a cell.
  for (int k = 0; k < 3; ++k) {
    search.width[k] = atoms.box.width(k);
    search.reach[k] = range / search.width[k] * (1 + 1e-9);
  }

  const int n = atoms.n_local;
  const int n_chunks = std::max(1, std::min<int>(n, exec.concurrency()));
  if (list.offset.extent(0) != static_cast<std::size_t>(n) + 1) {
    list.offset = {};  // before the new one: the two need not fit side by side
    list.offset = make_view<Array<std::size_t>>("particles::neighbour_offset", n + 1);
  }
  chunks_.resize(n_chunks);
  auto* const chunks = chunks_.data();
  const auto offset = list.offset;
  const auto position = atoms.position;
  Kokkos::parallel_for(
      "particles::neighbour_sample", Kokkos::RangePolicy<Exec>(exec, 0, n_chunks),
      KOKKOS_LAMBDA(const int c) {
        chunks[c] = {};
        chunks[c].size = estimate(search, position, share(n, c, n_chunks), share(n, c + 1, n_chunks));
      });
  exec.fence();
  do {
    make_room(list);
    const auto storage = storage_;
    Kokkos::parallel_for(
        "particles::neighbour_search", Kokkos::RangePolicy<Exec>(exec, 0, n_chunks),
        KOKKOS_LAMBDA(const int c) {
          Chunk& chunk = chunks[c];
          WriteRun write{storage.data() + chunk.begin, storage.data() + chunk.begin + chunk.room};
          for (int i = share(n, c, n_chunks); i < share(n, c + 1, n_chunks); ++i) {
            offset(i) = write.n;
            visit_runs(search, i, &position(i, 0), write);
          }
          chunk.size = write.n;
          chunk.longest_missed = write.longest_missed;
        });
    exec.fence();
  } while (std::any_of(chunks_.begin(), chunks_.end(), [](const Chunk& c) { return c.longest_missed > 0; }));

  // Close the gaps between the chunks.
  std::size_t total = 0;
  for (int c = 0; c < n_chunks; ++c) {
    const Chunk& chunk = chunks_[c];
    if (chunk.begin != total)
      std::copy_n(storage_.data() + chunk.begin, chunk.size, storage_.data() + total);  // never upwards
    for (int i = share(n, c, n_chunks); i < share(n, c + 1, n_chunks); ++i) offset(i) += total;
    total += chunk.size;
  }
  offset(n) = total;
  list.range = range;
  list.neighbour = Kokkos::subview(storage_, std::make_pair(std::size_t{0}, total));
}

}  // namespace quintet
