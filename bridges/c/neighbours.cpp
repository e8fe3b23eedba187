#include "bridges/c/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "io/log/error.hpp"
#include "physics/particles/domain/neighbour_list.hpp"

namespace quintet::bridges {

namespace {

constexpr int most_images = 20;

/// Scrambled bits of an ordered pair (the finaliser of splitmix64).
std::uint64_t bits_of(std::uint64_t i, std::uint64_t j) {
  std::uint64_t z = (i << 32 | j) + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// The row of each owned atom, -1 for none.
std::vector<int> rows_of_atoms(const HostList& from, int n_owned) {
  std::vector<int> row(n_owned, -1);
  for (int r = 0; r < from.n_rows; ++r) {
    const int i = from.atoms[r];
    QUINTET_CHECK(i >= 0 && i < n_owned, "row {} of the neighbour list is of atom {}; {} atoms are owned", r,
                  i, n_owned);
    QUINTET_CHECK(row[i] < 0, "rows {} and {} of the neighbour list are both of atom {}", row[i], r, i);
    QUINTET_CHECK(from.n_neighbours[r] >= 0, "row {} of the neighbour list has {} neighbours", r,
                  from.n_neighbours[r]);
    row[i] = r;
  }
  return row;
}

/// Whether each pair of owned atoms that have types stands in both rows: the bits of (i, j) less those of
/// (j, i) cancel.
bool is_full(const HostList& from, int n_owned, const std::vector<int>& type) {
  std::uint64_t sum = 0;
  for (int r = 0; r < from.n_rows; ++r) {
    const int i = from.atoms[r];
    if (type[i] < 0) continue;
    for (int k = 0; k < from.n_neighbours[r]; ++k) {
      const int j = from.neighbours[r][k] & from.mask;
      if (j < n_owned && type[j] >= 0) sum += bits_of(i, j) - bits_of(j, i);
    }
  }
  return sum == 0;
}

}  // namespace

void take_rows(const HostList& from, int n_owned, const std::vector<int>& type, int n_types,
               NeighbourList& list) {
  const std::vector<int> row = rows_of_atoms(from, n_owned);
  const int n_all = type.size();
  std::size_t listed = 0;
  for (int r = 0; r < from.n_rows; ++r) listed += from.n_neighbours[r];
  if (list.offset.extent(0) < static_cast<std::size_t>(n_owned) + 1)
    list.offset = make_view<Array<std::size_t>>("bridges::offset", n_owned + n_owned / 4 + 1);
  if (list.neighbour.extent(0) < listed + 1)
    list.neighbour = make_view<Array<int>>("bridges::neighbour", listed + listed / 4 + 1);
  std::vector<int> place(n_types + 1);
  std::size_t at = 0;
  for (int i = 0; i < n_owned; ++i) {
    list.offset(i) = at;
    if (row[i] < 0 || type[i] < 0) continue;
    const int n = from.n_neighbours[row[i]];
    const int* const neighbours = from.neighbours[row[i]];
    std::fill(place.begin(), place.end(), 0);
    for (int k = 0; k < n; ++k) {
      const int j = neighbours[k] & from.mask;
      QUINTET_CHECK(j >= 0 && j < n_all, "neighbour {} of atom {} is atom {}; there are {} atoms and ghosts",
                    k, i, j, n_all);
      QUINTET_CHECK(j != i, "atom {} stands in its own row of the neighbour list", i);
      if (type[j] >= 0) ++place[type[j] + 1];
    }
    for (int t = 0; t < n_types; ++t) place[t + 1] += place[t];
    const std::size_t n_kept = place[n_types];
    for (int k = 0; k < n; ++k) {
      const int j = neighbours[k] & from.mask;
      if (type[j] >= 0) list.neighbour(at + place[type[j]]++) = j;
    }
    at += n_kept;
  }
  list.offset(n_owned) = at;
  QUINTET_CHECK(
      is_full(from, n_owned, type),
      "the neighbour list has pairs in one row alone; a full list is needed: each pair in the rows of "
      "both atoms");
  list.version = new_list_version();
}

Images with_images(const Box& box, const double* position, int n_atoms, double range) {
  Images images;
  images.position.resize(3 * std::int64_t{n_atoms});
  std::vector<Vec3> fractional(n_atoms);
  Vec3 reach{};
  std::array<int, 3> most{};
  for (int k = 0; k < 3; ++k) {
    if (!box.periodic()[k]) continue;
    reach[k] = range / box.width(k) * (1 + 1e-9);
    QUINTET_CHECK(reach[k] < most_images,
                  "the cell is {:.4g} angstrom wide and the cutoff {:.4g} angstrom: it reaches over more "
                  "than {} images",
                  box.width(k), range, most_images);
    most[k] = std::ceil(reach[k]);
  }
  const Mat3& rows = box.rows();
  for (int i = 0; i < n_atoms; ++i) {
    const double* x = position + 3 * std::int64_t{i};
    Vec3& s = fractional[i];
    s = box.to_fractional({x[0], x[1], x[2]});
    for (int l = 0; l < 3; ++l) images.position[3 * std::int64_t{i} + l] = x[l];
    for (int k = 0; k < 3; ++k) {
      const double turns = box.periodic()[k] ? std::floor(s[k]) : 0.0;
      s[k] -= turns;
      for (int l = 0; l < 3; ++l) images.position[3 * std::int64_t{i} + l] -= turns * rows[3 * k + l];
    }
  }
  for (int a = -most[0]; a <= most[0]; ++a)
    for (int b = -most[1]; b <= most[1]; ++b)
      for (int c = -most[2]; c <= most[2]; ++c) {
        const std::array<int, 3> shift{a, b, c};
        if (a == 0 && b == 0 && c == 0) continue;
        for (int i = 0; i < n_atoms; ++i) {
          bool near = true;
          for (int k = 0; k < 3; ++k) {
            const double s = fractional[i][k] + shift[k];
            near = near && (!box.periodic()[k] || (s >= -reach[k] && s <= 1 + reach[k]));
          }
          if (!near) continue;
          images.owner.push_back(i);
          for (int l = 0; l < 3; ++l)
            images.position.push_back(images.position[3 * std::int64_t{i} + l] + a * rows[l] +
                                      b * rows[3 + l] + c * rows[6 + l]);
        }
      }
  return images;
}

}  // namespace quintet::bridges
