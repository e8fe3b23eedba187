#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <limits>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/element_lines.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

/// MatrixMarket files: `coordinate`, a line an element, or `array`, all elements by columns (of a symmetric
/// matrix those on and below the diagonal). Source: NIST, Boisvert, Pozo and Remington 1996, "The Matrix
/// Market Exchange Formats".
namespace quintet::electronic::reading {

namespace {

/// What stands before the elements.
struct Header {
  std::int64_t n_rows = 0, n_elements = 0;
  bool symmetric = false, dense = false, complex = false;
  std::string units;                     ///< as we write them into a comment
  std::uint64_t begin = 0, n_lines = 0;  ///< where the elements begin
};

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

void parse_banner(const std::string& path, const std::string& line, Header& header) {
  const auto lower = lower_case(line);
  const auto fields = words(lower);
  QUINTET_CHECK(fields.size() == 5 && fields[0] == "%%matrixmarket" && fields[1] == "matrix",
                "{}:1: expected '%%MatrixMarket matrix coordinate real symmetric', found '{}'", path,
                line.substr(0, 80));
  QUINTET_CHECK(fields[2] == "coordinate" || fields[2] == "array",
                "{}:1: is a MatrixMarket file of kind '{}'; expected 'coordinate' or 'array'", path,
                fields[2]);
  QUINTET_CHECK(
      fields[3] == "real" || fields[3] == "double" || fields[3] == "integer" || fields[3] == "complex",
      "{}:1: has '{}' values; only real ones are read", path, fields[3]);
  QUINTET_CHECK(fields[4] == "general" || fields[4] == "symmetric" || fields[4] == "hermitian",
                "{}:1: is a '{}' matrix; expected 'general', 'symmetric' or 'hermitian'", path, fields[4]);
  header.symmetric = fields[4] != "general";
  header.dense = fields[2] == "array";
  header.complex = fields[3] == "complex";
}

/// What our own files say in a comment: "Elements of a matrix. Unit: hartree."
void parse_comment(std::string_view line, Header& header) {
  constexpr std::string_view mark = " Unit: ";
  const auto at = line.rfind(mark);
  if (at == std::string_view::npos || !line.ends_with('.')) return;
  const auto unit = line.substr(at + mark.size(), line.size() - at - mark.size() - 1);
  if (unit.find(' ') == std::string_view::npos) header.units = std::string(unit);
}

/// Elements that an array holds.
std::int64_t elements_of_array(const Header& header) {
  const auto n = header.n_rows;
  return header.symmetric ? n * (n + 1) / 2 : n * n;
}

void parse_size(const std::string& path, std::string_view line, Header& header) {
  try {
    const auto fields = words(line);
    if (fields.size() != (header.dense ? 2U : 3U))
      throw LineError{fmt::format("expected rows{}, found '{}'",
                                  header.dense ? " and columns" : ", columns and elements", line)};
    header.n_rows = integer(fields[0]);
    header.n_elements = header.dense ? 0 : integer(fields[2]);
    if (header.n_rows != integer(fields[1]))
      throw LineError{
          fmt::format("the matrix has {} rows and {} columns; expected a square one", fields[0], fields[1])};
    if (header.n_rows < 1 || header.n_rows > std::numeric_limits<std::int32_t>::max() ||
        header.n_elements < 0)
      throw LineError{fmt::format("a matrix of {} rows and {} elements", fields[0], header.n_elements)};
    if (header.dense) header.n_elements = elements_of_array(header);
  } catch (const LineError& error) {
    throw InputError(fmt::format("{}:{}: {}", path, header.n_lines, error.what));
  }
}

/// One line from byte `begin` on, without its end; moves on to the next.
std::string next_line(const FileBytes& file, std::uint64_t& begin) {
  std::string line;
  for (bool ended = false; !ended && begin < file.size();) {
    const auto text = file.values<char>(begin, std::min<std::uint64_t>(512, file.size() - begin));
    const auto stop = std::find(text.begin(), text.end(), '\n');
    line.append(text.begin(), stop);
    ended = stop != text.end();
    begin += static_cast<std::uint64_t>(stop - text.begin()) + (ended ? 1 : 0);
  }
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

Header read_header(const FileBytes& file) {
  Header header;
  for (bool done = false; !done;) {
    QUINTET_CHECK(header.begin < file.size(),
                  "{}: is cut off: the line with rows, columns and elements is "
                  "missing",
                  file.path());
    const auto line = next_line(file, header.begin);
    if (++header.n_lines == 1) {
      parse_banner(file.path(), line, header);
      continue;
    }
    if (line.starts_with('%')) parse_comment(line, header);
    done = !line.starts_with('%') && !words(line).empty();
    if (done) parse_size(file.path(), line, header);
  }
  return header;
}

/// Parses the lines of a file, which hold a real number or one whose imaginary part is noise.
class Lines {
 public:
  explicit Lines(const Header& header) : header_(header) {}

  /// An element; of an array its value alone.
  [[nodiscard]] std::optional<Triplet> parse(std::string_view line) {
    const auto fields = words(line);
    if (fields.empty() || fields[0].starts_with('%')) return std::nullopt;
    const std::size_t n_indices = header_.dense ? 0 : 2, n_values = header_.complex ? 2 : 1;
    if (fields.size() != n_indices + n_values)
      throw LineError{fmt::format("expected {}value{}, found '{}'",
                                  header_.dense ? "one " : "row, column and ",
                                  header_.complex ? " (real and imaginary part)" : "", line.substr(0, 60))};
    const double value = real(fields[n_indices]);
    if (header_.complex) check_imaginary(real(fields.back()));
    return header_.dense ? checked(1, 1, value, 1)
                         : checked(integer(fields[0]), integer(fields[1]), value, header_.n_rows);
  }
  [[nodiscard]] double largest_imaginary() const { return largest_; }

 private:
  void check_imaginary(double part) {
    constexpr double noise = 1e-8;  // as matrices.asymmetry
    if (!(std::abs(part) <= noise))
      throw LineError{
          fmt::format("has the imaginary part {:g}: a complex matrix; only real ones are read. Write the "
                      "Gamma-point or the "
                      "real-space matrices",
                      part)};
    largest_ = std::max(largest_, std::abs(part));
  }
  const Header& header_;
  double largest_ = 0;
};

/// Give this rank's values of an array their rows and columns; zeros are left out. Collective.
void place_values(const Comm& comm, const Header& header, std::vector<Triplet>& elements) {
  std::int64_t k = 0;
  const auto counts = comm.all_gather(std::ssize(elements));
  for (int r = 0; r < comm.rank(); ++r) k += counts[r];
  std::int64_t column = 0, begin = 0;  // the column's first element
  const auto length = [&] { return header.symmetric ? header.n_rows - column : header.n_rows; };
  for (auto& e : elements) {
    for (; k >= begin + length(); ++column) begin += length();
    e.column = column;
    e.row = k - begin + (header.symmetric ? column : 0);
    ++k;
  }
  std::erase_if(elements, [](const Triplet& e) { return e.value == 0; });
}

}  // namespace

FileShare read_matrix_market(const Comm& comm, const FileBytes& file, std::optional<int>) {
  Header header;
  FileShare share;
  together(comm, [&] {
    header = read_header(file);
    check_last_line(file, header.begin, share.reading);
  });
  share.n_rows = header.n_rows;
  share.symmetric = header.symmetric;
  share.units = header.units;
  Lines lines(header);
  share.elements = read_element_lines(comm, file, header.begin, header.n_lines,
                                      [&](std::string_view line) { return lines.parse(line); });
  const auto found = comm.sum(static_cast<long>(share.elements.size()));
  QUINTET_CHECK(found == header.n_elements, "{}: holds {} elements; its line {} says {}: the file is {}",
                file.path(), found, header.n_lines, header.n_elements,
                found < header.n_elements ? "cut off" : "damaged");
  if (header.dense) place_values(comm, header, share.elements);
  if (header.complex)
    share.reading.leave(
        fmt::format("imaginary parts of {:g} at most", comm.maximum(lines.largest_imaginary())));
  return share;
}

}  // namespace quintet::electronic::reading
