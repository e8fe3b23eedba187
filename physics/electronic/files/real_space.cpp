#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
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

/// Elements of a shift, sorted by row and column.
using Images = std::map<Shift, std::vector<Triplet>>;

bool before(const Triplet& a, const Triplet& b) {
  return a.row != b.row ? a.row < b.row : a.column < b.column;
}

const Triplet* find(const Images& images, const Shift& s, std::int32_t row, std::int32_t column) {
  const auto image = images.find(s);
  if (image == images.end()) return nullptr;
  const Triplet wanted{row, column, 0};
  const auto place = std::lower_bound(image->second.begin(), image->second.end(), wanted, before);
  return place != image->second.end() && !before(wanted, *place) ? &*place : nullptr;
}

Shift minus(const Shift& s) { return {-s[0], -s[1], -s[2]}; }

std::string text_of(const Shift& s) { return fmt::format("{}", fmt::join(s, " ")); }

/// True if the shifts are cells of the box, counted from 0: then -s stands as repeat - s. Where each is its
/// own opposite nothing could be compared, and half of the shifts may be missing.
bool are_cells_of(const Images& images, const Shift& repeat) {
  bool compared = false, beyond = false;
  for (const auto& [s, list] : images) {
    for (std::size_t x = 0; x < 3; ++x) beyond = beyond || s[x] < 0 || s[x] >= repeat[x];
    if (beyond) return false;
    const Shift other = opposite(s, repeat);
    compared = compared || (other != s && !list.empty() && images.contains(other));
  }
  return compared;
}

/// An element and what stands where its transposed should.
struct Difference {
  double size = 0;
  Shift shift{}, other{};
  Triplet element;
  std::string found;
};

[[noreturn]] void refuse_images(const std::string& path, const Images& images, const Difference& worst,
                                double asymmetry) {
  const auto& [size, s, other, e, found] = worst;
  const std::string remedy =
      " If the files hold one of each such pair (CP2K's UPPER_TRIANGULAR), say matrices.triangle: one";
  if (!images.contains(other))
    throw InputError(fmt::format(
        "{}: the shift {} is missing: it holds the transposed of the shift {}, whose element (row {}, column "
        "{}) is {:.10g}. Add it.{}",
        path, text_of(other), text_of(s), e.row + 1, e.column + 1, e.value, remedy));
  throw InputError(fmt::format(
      "{}: element (row {}, column {}) of the shift {} is {:.10g}, but (row {}, column {}) of the shift {}, "
      "which must be equal, is {}; they may differ by {:g} (matrices.asymmetry).{}",
      path, e.row + 1, e.column + 1, text_of(s), e.value, e.column + 1, e.row + 1, text_of(other), found,
      asymmetry, found == "absent" ? remedy : " Are the shifts those of the columns, and the files whole?"));
}

}  // namespace

void compare_images(const std::string& path, RealSpaceMatrix& matrix, const std::array<int, 3>& repeat,
                    double asymmetry, Triangle triangle) {
  check_box(matrix, repeat);
  Images images;
  for (std::size_t q = 0; q < matrix.shift.size(); ++q) {
    auto& list = images[matrix.shift[q]] = matrix.elements[q];
    std::sort(list.begin(), list.end(), before);
  }
  const bool in_box = are_cells_of(images, repeat);
  Difference worst;
  bool missing = false;
  std::map<Shift, std::vector<Triplet>> made;
  for (const auto& [s, list] : images)
    for (const auto& e : list) {
      const Shift other = in_box ? opposite(s, repeat) : minus(s);
      const Triplet* const transposed = find(images, other, e.column, e.row);
      if (transposed == nullptr && triangle == Triangle::one) {
        made[other].push_back({e.column, e.row, e.value});
        continue;
      }
      const double size = std::abs(e.value - (transposed == nullptr ? 0.0 : transposed->value));
      const bool no_shift = !images.contains(other);  // names more than an element does
      if (size > asymmetry && std::pair(no_shift, size) > std::pair(missing, worst.size)) {
        missing = no_shift;
        worst = {size, s, other, e,
                 transposed == nullptr ? std::string("absent") : fmt::format("{:.10g}", transposed->value)};
      }
    }
  if (worst.size > asymmetry) refuse_images(path, images, worst, asymmetry);
  if (in_box) matrix.reading.assume("its shifts are the cells of the box (none is negative)");
  if (triangle == Triangle::one && made.empty())
    matrix.reading.assume("no element lacks its transposed, though matrices.triangle is one");
  for (const auto& [s, list] : made) {
    std::size_t q = std::find(matrix.shift.begin(), matrix.shift.end(), s) - matrix.shift.begin();
    if (q == matrix.shift.size()) {
      matrix.shift.push_back(s);
      matrix.elements.emplace_back();
    }
    matrix.elements[q].insert(matrix.elements[q].end(), list.begin(), list.end());
  }
  std::size_t n_made = 0;
  for (const auto& [s, list] : made) n_made += list.size();
  if (n_made > 0)
    matrix.reading.assume(fmt::format("{} made from their transposed (matrices.triangle: one)",
                                      counted(n_made, "element is", "elements are")));
}

MatrixFile fold(const Comm& comm, const RealSpaceMatrix& matrix, const std::array<int, 3>& repeat) {
  check_box(matrix, repeat);
  const auto couplings = symmetrised(sum_images(matrix, repeat), repeat);
  std::size_t n_elements = 0;
  for (const auto& [g, list] : couplings) n_elements += list.size();
  const auto [nx, ny, nz] = repeat;
  const auto share = even_share(static_cast<std::uint64_t>(nx) * ny * nz, comm.rank(), comm.size());
  MatrixFile folded;
  folded.n_rows = matrix.n_rows * nx * ny * nz;
  folded.units = matrix.units;
  folded.reading = matrix.reading;
  folded.elements.reserve(n_elements * (share.end - share.begin));
  for (int c = share.begin; c < static_cast<int>(share.end); ++c) {
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
