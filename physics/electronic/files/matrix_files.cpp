#include "physics/electronic/files/matrix_files.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

namespace quintet::electronic {

namespace reading {

namespace {

/// An element's place in an order by rows (or, transposed, by columns).
std::int64_t key(const Triplet& e, bool by_column) {
  return by_column ? std::int64_t{e.column} << 32 | e.row : std::int64_t{e.row} << 32 | e.column;
}

/// True if the elements of all ranks, one after the other, strictly ascend. Collective.
bool strictly_ascending(const Comm& comm, const std::vector<Triplet>& elements, bool by_column) {
  bool here = true;
  for (std::size_t k = 1; k < elements.size() && here; ++k)
    here = key(elements[k - 1], by_column) < key(elements[k], by_column);
  struct Ends {
    std::int64_t first, last, count;
  };
  const Ends mine = elements.empty() ? Ends{0, 0, 0}
                                     : Ends{key(elements.front(), by_column), key(elements.back(), by_column),
                                            std::ssize(elements)};
  std::int64_t last = -1;
  for (const auto& ends : comm.all_gather(mine)) {
    if (ends.count == 0) continue;
    here = here && last < ends.first;
    last = ends.last;
  }
  return !comm.any(!here);
}

/// An element's key and its number in the file.
struct Numbered {
  std::int64_t key, number;
};

}  // namespace

std::string complaint(std::int64_t row, std::int64_t column, double value, std::int64_t n_rows) {
  if (row < 1 || column < 1)
    return fmt::format("the element's row is {} and its column {}; indices count from 1", row, column);
  if (row > n_rows || column > n_rows)
    return fmt::format("the element's row is {} and its column {}, the matrix has {} rows", row, column,
                       n_rows);
  if (!std::isfinite(value)) return fmt::format("the element (row {}, column {}) is {}", row, column, value);
  return {};
}

int agreed_rows(const Comm& comm, const std::string& path, const FileShare& share,
                std::optional<int> n_rows) {
  if (share.n_rows) {
    QUINTET_CHECK(!n_rows || *n_rows == *share.n_rows, "{}: has {} rows; {} were given", path, *share.n_rows,
                  *n_rows);
    return *share.n_rows;
  }
  int largest = -1;
  for (const auto& e : share.elements) largest = std::max({largest, e.row, e.column});
  return n_rows.value_or(comm.maximum(largest) + 1);
}

void check_duplicates(const Comm& comm, const std::string& path, const std::vector<Triplet>& elements,
                      bool symmetric) {
  // files are written in order, mostly; then there is no need to look further
  if (strictly_ascending(comm, elements, false) || strictly_ascending(comm, elements, true)) {
    const auto [upper, lower] = count_triangles(comm, elements);
    if (!symmetric || upper == 0 || lower == 0) return;
  }
  std::int64_t number = 0;
  const auto counts = comm.all_gather(std::ssize(elements));
  for (int r = 0; r < comm.rank(); ++r) number += counts[r];
  std::vector<std::vector<Numbered>> send(comm.size());
  for (const auto& e : elements) {
    const auto k =
        symmetric ? key({std::min(e.row, e.column), std::max(e.row, e.column), 0}, false) : key(e, false);
    send[std::min(e.row, e.column) % comm.size()].push_back({k, ++number});
  }
  std::vector<Numbered> all;
  for (const auto& list : comm.all_to_all(send)) all.insert(all.end(), list.begin(), list.end());
  std::sort(all.begin(), all.end(), [](const Numbered& a, const Numbered& b) {
    return a.key != b.key ? a.key < b.key : a.number < b.number;
  });
  const auto twice = std::adjacent_find(all.begin(), all.end(),
                                        [](const Numbered& a, const Numbered& b) { return a.key == b.key; });
  throw_together(comm, twice == all.end()
                           ? std::string()
                           : fmt::format("{}: the element (row {}, column {}) is there twice, as number {} "
                                         "and {} of the file",
                                         path, (twice->key >> 32) + 1, (twice->key & 0xffffffff) + 1,
                                         twice->number, (twice + 1)->number));
}

TriangleCounts count_triangles(const Comm& comm, const std::vector<Triplet>& elements) {
  TriangleCounts counts;
  for (const auto& e : elements) {
    counts.upper += e.row < e.column ? 1 : 0;
    counts.lower += e.row > e.column ? 1 : 0;
  }
  return {comm.sum(counts.upper), comm.sum(counts.lower)};
}

void mirror(std::vector<Triplet>& elements) {
  const auto n = elements.size();
  elements.reserve(2 * n);
  for (std::size_t k = 0; k < n; ++k) {
    const auto e = elements[k];
    if (e.row != e.column) elements.push_back({e.column, e.row, e.value});
  }
}

void check_rows(const Comm& comm, const std::string& path, int n_rows, std::size_t n_elements_here) {
  constexpr std::int64_t free_rows = 10000, rows_per_element = 16;
  const auto n_elements = comm.sum(static_cast<long>(n_elements_here));
  QUINTET_CHECK(n_rows <= free_rows + rows_per_element * n_elements,
                "{}: a matrix of {} rows with {} is nearly all empty rows: is the number of rows damaged?",
                path, n_rows, counted(n_elements, "element"));
}

}  // namespace reading

namespace {

using reading::FileShare;

/// Throws InputError if the elements are not of the triangles they should be. Collective.
void check_triangles(const Comm& comm, const std::string& path, const FileShare& share, Triangle triangle) {
  const auto [upper, lower] = reading::count_triangles(comm, share.elements);
  if (triangle == Triangle::one) {
    QUINTET_CHECK(upper == 0 || lower == 0,
                  "{}: was said to hold one triangle of a symmetric matrix, but holds {} above and {} below "
                  "the diagonal",
                  path, counted(upper, "element"), lower);
    return;
  }
  QUINTET_CHECK(
      share.symmetric || (upper == 0) == (lower == 0),
      "{}: holds only the {} triangle ({} elements off the diagonal). If it is one half of a symmetric "
      "matrix (CP2K's UPPER_TRIANGULAR), say 'triangle: one'; otherwise write both triangles",
      path, upper > 0 ? "upper" : "lower", upper + lower);
}

}  // namespace

MatrixFile read_matrix(const Comm& comm, const std::string& path, MatrixFormat format,
                       std::optional<int> n_rows, Triangle triangle) {
  QUINTET_CHECK(!n_rows || *n_rows > 0, "{}: a matrix of {} rows was asked for", path, *n_rows);
  MatrixFile matrix;
  matrix.format = format;
  auto share = reading::read_share(comm, path, matrix.format, n_rows);
  matrix.n_rows = reading::agreed_rows(comm, path, share, n_rows);
  reading::check_rows(comm, path, matrix.n_rows, share.elements.size());
  check_triangles(comm, path, share, triangle);
  const bool half = share.symmetric || triangle == Triangle::one;
  reading::check_duplicates(comm, path, share.elements, half);
  if (half) reading::mirror(share.elements);
  matrix.elements = std::move(share.elements);
  matrix.units = std::move(share.units);
  matrix.blocking = std::move(share.blocking);
  matrix.reading = std::move(share.reading);
  return matrix;
}

int common_rows(const MatrixFile& a, const std::string& a_path, const MatrixFile& b,
                const std::string& b_path) {
  const auto says_nothing = [](const MatrixFile& m) {
    return m.format == MatrixFormat::automatic || !row_of(matrix_formats(), m.format).tells_rows;
  };
  QUINTET_CHECK(a.n_rows == b.n_rows, "{} has {} rows and {} has {}: they are not of one system{}", a_path,
                a.n_rows, b_path, b.n_rows,
                says_nothing(a) || says_nothing(b)
                    ? ", or CP2K left out the last rows (THRESHOLD): then say matrices.n_rows"
                    : "");
  return a.n_rows;
}

}  // namespace quintet::electronic
