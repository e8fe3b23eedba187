#include "apps/submatrix/inspect/describe_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include <fmt/ranges.h>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "physics/electronic/files/element_lines.hpp"
#include "physics/electronic/files/file_bytes.hpp"
#include "physics/electronic/files/matrix_files.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

bool before(const Triplet& a, const Triplet& b) {
  return std::pair(a.row, a.column) < std::pair(b.row, b.column);
}

/// Where two matrices, the second transposed, differ most: absent elements are 0.
struct Difference {
  double largest = 0, first = 0, second = 0;
  int row = 0, column = 0;
};
Difference difference_from_transposed(std::vector<Triplet> a, std::vector<Triplet> b) {
  for (auto& e : b) std::swap(e.row, e.column);
  std::sort(a.begin(), a.end(), before);
  std::sort(b.begin(), b.end(), before);
  Difference found;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    const bool has_a = i < a.size() && (j == b.size() || !before(b[j], a[i]));
    const bool has_b = j < b.size() && (i == a.size() || !before(a[i], b[j]));
    const auto& e = has_a ? a[i] : b[j];
    const double first = has_a ? a[i].value : 0, second = has_b ? b[j].value : 0;
    if (std::abs(first - second) > found.largest)
      found = {std::abs(first - second), first, second, e.row + 1, e.column + 1};
    i += has_a ? 1 : 0;
    j += has_b ? 1 : 0;
  }
  return found;
}

std::string symmetry_text(const std::vector<Triplet>& elements) {
  const auto found = difference_from_transposed(elements, elements);
  if (found.largest == 0) return "symmetric to the bit";
  return fmt::format(
      "M - M^T reaches {:.3g}: {:.6g} in row {}, column {}, but {:.6g} opposite (matrices.asymmetry)",
      found.largest, found.first, found.row, found.column, found.second);
}

std::string diagonal_text(const std::vector<Triplet>& elements, int n_rows) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  int n = 0;
  for (const auto& e : elements)
    if (e.row == e.column) {
      least = std::min(least, e.value);
      most = std::max(most, e.value);
      ++n;
    }
  if (n == 0) return "has no elements";
  auto text = fmt::format("{:.6g} to {:.6g}", least, most);
  if (n < n_rows) text += fmt::format(", {} of {} rows have none", n_rows - n, n_rows);
  return text;
}

std::string units_text(const std::string& units) {
  return units.empty() ? "not said: hartree if it is K (matrices.units changes it)" : units;
}

std::string blocks_text(const std::optional<Blocking>& blocking) {
  if (!blocking) return "not said (blocks.size, sizes or file gives them)";
  int least = blocking->n_rows(), most = 0;
  for (int b = 0; b < blocking->n_blocks(); ++b) {
    least = std::min(least, blocking->size(b));
    most = std::max(most, blocking->size(b));
  }
  return fmt::format("{} of {} rows{}", blocking->n_blocks(),
                     least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most),
                     blocking->order.empty() ? "" : ", in an order of their own");
}

void add(std::string& text, const std::string& name, const std::string& what) {
  text += fmt::format("  {:<10} {}\n", name, what);
}

void add_reading(std::string& text, const Reading& reading) {
  for (const auto& what : reading.assumed) add(text, "assumed", what);
  if (!reading.not_used.empty()) add(text, "not used", fmt::format("{}", fmt::join(reading.not_used, ", ")));
}

std::string elements_text(std::size_t n, double all) {
  return fmt::format("{} stored, {:.3g} % of the matrix", n, 100 * static_cast<double>(n) / all);
}

std::string shift_text(const std::array<int, 3>& s) { return fmt::format("{} {} {}", s[0], s[1], s[2]); }

/// Which images there are, and how far M(0, s)^T is from M(0, -s).
void add_images(std::string& text, const RealSpaceMatrix& matrix) {
  std::map<std::array<int, 3>, std::size_t> place;
  for (std::size_t q = 0; q < matrix.shift.size(); ++q) place[matrix.shift[q]] = q;
  std::vector<std::string> lonely;
  Difference worst;
  std::array<int, 3> where{};
  for (const auto& [s, q] : place) {
    const auto opposite = place.find({-s[0], -s[1], -s[2]});
    if (opposite == place.end()) {
      lonely.push_back(shift_text(s));
      continue;
    }
    const auto found = difference_from_transposed(matrix.elements[q], matrix.elements[opposite->second]);
    if (found.largest > worst.largest) worst = found, where = s;
  }
  std::array<int, 3> least{}, most{};
  for (const auto& s : matrix.shift)
    for (std::size_t k = 0; k < 3; ++k)
      least[k] = std::min(least[k], s[k]), most[k] = std::max(most[k], s[k]);
  add(text, "images",
      fmt::format("{}: {} to {}, {} to {}, {} to {}", matrix.shift.size(), least[0], most[0], least[1],
                  most[1], least[2], most[2]));
  if (!lonely.empty()) {
    const auto n = lonely.size();
    lonely.resize(std::min<std::size_t>(n, 3));
    add(text, "opposites",
        fmt::format("{} images lack theirs: {}{} (all cells of a box, or an image is missing)", n,
                    fmt::join(lonely, ", "), n > 3 ? ", ..." : ""));
  }
  add(text, "symmetry",
      worst.largest == 0 ? "M(0, s) and M(0, -s)^T are equal to the bit"
                         : fmt::format("M(0, s) - M(0, -s)^T reaches {:.3g}, in s = {}, row {}, column {}",
                                       worst.largest, shift_text(where), worst.row, worst.column));
}

std::string describe_images(const std::string& path) {
  const auto matrix = read_real_space(Comm::self(), path);
  std::size_t n = 0;
  std::vector<Triplet> own;
  for (std::size_t q = 0; q < matrix.shift.size(); ++q) {
    n += matrix.elements[q].size();
    if (matrix.shift[q] == std::array{0, 0, 0}) own = matrix.elements[q];
  }
  std::string text = fmt::format("{}: real-space images (matrices.repeat folds them to a supercell)\n", path);
  add(text, "rows", fmt::format("{} of a cell", matrix.n_rows));
  add(text, "elements",
      elements_text(n, double(matrix.n_rows) * matrix.n_rows * double(matrix.shift.size())));
  add(text, "diagonal", diagonal_text(own, matrix.n_rows) + " within the cell");
  add_images(text, matrix);
  add(text, "units", units_text(matrix.units));
  add_reading(text, matrix.reading);
  return text;
}

// A file of one triangle fails to read as a whole matrix: it is tried again as one, and the first error is
// told if that fails, too.
std::string describe_one(const std::string& path) {
  const auto read = [&](Triangle triangle) {
    return read_matrix(Comm::self(), path, MatrixFormat::automatic, std::nullopt, triangle);
  };
  MatrixFile matrix;
  bool one_triangle = false;
  try {
    matrix = read(Triangle::both);
  } catch (const InputError&) {
    try {
      matrix = read(Triangle::one);
      one_triangle = true;
    } catch (const InputError&) {
    }
    if (!one_triangle) throw;
  }
  const auto& row = row_of(matrix_formats(), matrix.format);
  std::string text = fmt::format("{}: {}\n", path, row.doc);
  add(text, "rows",
      fmt::format("{}{}", matrix.n_rows,
                  row.tells_rows ? "" : ", the largest index (matrices.n_rows changes it)"));
  add(text, "elements", elements_text(matrix.elements.size(), double(matrix.n_rows) * matrix.n_rows));
  add(text, "diagonal", diagonal_text(matrix.elements, matrix.n_rows));
  add(text, "symmetry",
      one_triangle ? "one triangle alone is there (matrices.triangle: one)" : symmetry_text(matrix.elements));
  add(text, "units", units_text(matrix.units));
  add(text, "blocks", blocks_text(matrix.blocking));
  add_reading(text, matrix.reading);
  return text;
}

/// A text whose first line that says something is a shift and the name of a file.
bool is_list(const std::string& path) {
  const auto head = FileBytes(path).head(4096);
  for (std::size_t begin = 0; begin < head.size();) {
    const auto end = std::min(head.find('\n', begin), head.size());
    const std::string_view line(head.data() + begin, end - begin);
    const auto words = reading::words(line.substr(0, line.find_first_of("#\r")));
    begin = end + 1;
    if (words.empty()) continue;
    return words.size() == 4 && words[3].find_first_not_of("0123456789+-.eEdD") != std::string_view::npos;
  }
  return false;
}

bool holds_images(const std::string& path) {
  constexpr std::string_view hdf5_mark = "\x89HDF\r\n\x1a\n";
  if (FileBytes(path).head(hdf5_mark.size()) != hdf5_mark) return is_list(path);
  return hdf5::File::open(Comm::self(), path).root().has("real_space");
}

}  // namespace

std::string describe_matrix(const std::string& path) {
  return holds_images(path) ? describe_images(path) : describe_one(path);
}

}  // namespace quintet::submatrix
