#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/electronic/files/file_bytes.hpp"
#include "physics/electronic/files/matrix_files.hpp"

namespace quintet::electronic {

namespace {

using Shift = std::array<int, 3>;
/// Elements that couple a cell with another one, by row and column.
using Coupling = std::map<std::pair<std::int32_t, std::int32_t>, double>;

/// x modulo n in [0, n).
int wrapped(int x, int n) { return (x % n + n) % n; }

Shift wrapped(const Shift& s, const Shift& repeat) {
  return {wrapped(s[0], repeat[0]), wrapped(s[1], repeat[1]), wrapped(s[2], repeat[2])};
}

Shift opposite(const Shift& s, const Shift& repeat) { return wrapped(Shift{-s[0], -s[1], -s[2]}, repeat); }

void check_box(const RealSpaceMatrix& matrix, const Shift& repeat) {
  QUINTET_CHECK(std::min({repeat[0], repeat[1], repeat[2]}) > 0,
                "a supercell of {} cells was asked for; expected 1 or more in each direction",
                fmt::join(repeat, " x "));
  const double rows = double(matrix.n_rows) * repeat[0] * repeat[1] * repeat[2];
  QUINTET_CHECK(rows <= std::numeric_limits<std::int32_t>::max(),
                "a supercell of {} cells has {:.0f} orbitals; at most {} can be counted",
                fmt::join(repeat, " x "), rows, std::numeric_limits<std::int32_t>::max());
}

/// F(g) = sum of M(0, s) over all s = g (mod box).
std::map<Shift, Coupling> sum_images(const RealSpaceMatrix& matrix, const Shift& repeat) {
  std::map<Shift, Coupling> sums;
  for (std::size_t q = 0; q < matrix.shift.size(); ++q) {
    auto& sum = sums[wrapped(matrix.shift[q], repeat)];
    for (const auto& e : matrix.elements[q]) sum[{e.row, e.column}] += e.value;
  }
  return sums;
}

/// (F(g)_ij + F(-g)_ji)/2 as a list, for each g.
std::map<Shift, std::vector<Triplet>> symmetrised(const std::map<Shift, Coupling>& sums,
                                                  const Shift& repeat) {
  std::map<Shift, Coupling> halves;
  for (const auto& [g, sum] : sums)
    for (const auto& [place, value] : sum) {
      halves[g][place] += 0.5 * value;
      halves[opposite(g, repeat)][{place.second, place.first}] += 0.5 * value;
    }
  std::map<Shift, std::vector<Triplet>> lists;
  for (const auto& [g, half] : halves)
    for (const auto& [place, value] : half) lists[g].push_back({place.first, place.second, value});
  return lists;
}

}  // namespace

MatrixFile fold(const Comm& comm, const RealSpaceMatrix& matrix, const std::array<int, 3>& repeat) {
  check_box(matrix, repeat);
  const auto couplings = symmetrised(sum_images(matrix, repeat), repeat);
  std::size_t n_elements = 0;
  for (const auto& [g, list] : couplings) n_elements += list.size();
  const auto [nx, ny, nz] = repeat;
  const auto share = even_share(static_cast<std::uint64_t>(nx) * ny * nz, comm.rank(), comm.size());
  MatrixFile folded;
  folded.n_rows = matrix.n_rows * nx * ny * nz;
  folded.elements.reserve(n_elements * (share.end - share.begin));
  for (auto c = static_cast<int>(share.begin); c < static_cast<int>(share.end); ++c) {
    const Shift cell{c % nx, c / nx % ny, c / (nx * ny)};
    for (const auto& [g, list] : couplings) {
      const auto d = wrapped(Shift{cell[0] + g[0], cell[1] + g[1], cell[2] + g[2]}, repeat);
      const auto row = c * matrix.n_rows, column = ((d[2] * ny + d[1]) * nx + d[0]) * matrix.n_rows;
      for (const auto& e : list) folded.elements.push_back({row + e.row, column + e.column, e.value});
    }
  }
  return folded;
}

}  // namespace quintet::electronic
