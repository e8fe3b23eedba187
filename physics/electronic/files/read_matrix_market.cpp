#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/element_lines.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

/// MatrixMarket coordinate files. Source: NIST, Boisvert, Pozo and Remington 1996, "The Matrix Market
/// Exchange Formats".
namespace quintet::electronic::reading {

namespace {

/// What stands before the elements.
struct Header {
  std::int64_t n_rows = 0, n_elements = 0;
  bool symmetric = false;
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
  QUINTET_CHECK(fields[2] == "coordinate", "{}:1: is a MatrixMarket file of kind '{}'; expected 'coordinate'",
                path, fields[2]);
  QUINTET_CHECK(fields[3] == "real" || fields[3] == "double" || fields[3] == "integer",
                "{}:1: has '{}' values; only real ones are read", path, fields[3]);
  QUINTET_CHECK(fields[4] == "general" || fields[4] == "symmetric",
                "{}:1: is a '{}' matrix; expected 'general' or 'symmetric'", path, fields[4]);
  header.symmetric = fields[4] == "symmetric";
}

void parse_size(const std::string& path, std::string_view line, Header& header) {
  try {
    const auto fields = words(line);
    if (fields.size() != 3)
      throw LineError{fmt::format("expected rows, columns and elements, found '{}'", line)};
    header.n_rows = integer(fields[0]);
    header.n_elements = integer(fields[2]);
    if (header.n_rows != integer(fields[1]))
      throw LineError{
          fmt::format("the matrix has {} rows and {} columns; expected a square one", fields[0], fields[1])};
    if (header.n_rows < 1 || header.n_rows > std::numeric_limits<std::int32_t>::max() ||
        header.n_elements < 0)
      throw LineError{fmt::format("a matrix of {} rows and {} elements", fields[0], fields[2])};
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
    done = !line.starts_with('%') && !words(line).empty();
    if (done) parse_size(file.path(), line, header);
  }
  return header;
}

std::optional<Triplet> parse_line(std::string_view line, std::int64_t n_rows) {
  const auto fields = words(line);
  if (fields.empty() || fields[0].starts_with('%')) return std::nullopt;
  if (fields.size() != 3)
    throw LineError{fmt::format("expected row, column and value, found '{}'", line.substr(0, 60))};
  return checked(integer(fields[0]), integer(fields[1]), real(fields[2]), n_rows);
}

}  // namespace

FileShare read_matrix_market(const Comm& comm, const FileBytes& file, std::optional<int>) {
  Header header;
  together(comm, [&] {
    header = read_header(file);
    QUINTET_CHECK(file.value<char>(file.size() - 1) == '\n',
                  "{}: is cut off: its last line has no end (if it is whole, add a line feed)", file.path());
  });
  FileShare share;
  share.n_rows = static_cast<int>(header.n_rows);
  share.symmetric = header.symmetric;
  share.elements = read_element_lines(comm, file, header.begin, header.n_lines,
                                      [&](std::string_view line) { return parse_line(line, header.n_rows); });
  const auto found = comm.sum(static_cast<long>(share.elements.size()));
  QUINTET_CHECK(found == header.n_elements, "{}: holds {} elements; its line {} says {}: the file is {}",
                file.path(), found, header.n_lines, header.n_elements,
                found < header.n_elements ? "cut off" : "damaged");
  return share;
}

}  // namespace quintet::electronic::reading
