#include <cstddef>
#include <limits>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/element_lines.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

/// CP2K's KS_CSR_WRITE and S_CSR_WRITE without BINARY: a line an element, Fortran format (2(I8),E23.14E3), or
/// (2(I8),E23.6E2) in single precision; complex ones have a second value. Source: CP2K,
/// src/dbcsrx/csr_conversions.
namespace quintet::electronic::reading {

namespace {

constexpr std::size_t index_width = 8, value_width = 23, line_width = 2 * index_width + value_width;

std::string_view trimmed(std::string_view field) {
  const auto begin = field.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : field.substr(begin);
}

/// Fields of a fixed width may touch.
Triplet fixed_fields(std::string_view line, std::int64_t largest) {
  return checked(integer(trimmed(line.substr(0, index_width))),
                 integer(trimmed(line.substr(index_width, index_width))),
                 real(trimmed(line.substr(2 * index_width))), largest);
}

std::optional<Triplet> parse_line(std::string_view line, std::int64_t largest) {
  const auto fields = words(line);
  if (fields.empty()) return std::nullopt;
  if (line.size() == line_width && fields.size() < 3) return fixed_fields(line, largest);
  if (fields.size() == 4 || line.size() == line_width + value_width)
    throw LineError{
        "has two values: a complex matrix (k-points); only real ones are read. Write the Gamma-point or, "
        "with "
        "REAL_SPACE, the real-space matrices"};
  if (fields.size() != 3)
    throw LineError{
        fmt::format("expected row, column and value, found '{}': the file is cut off, damaged or "
                    "no matrix of CP2K",
                    line.substr(0, 60))};
  return checked(integer(fields[0]), integer(fields[1]), real(fields[2]), largest);
}

}  // namespace

FileShare read_cp2k_text(const Comm& comm, const FileBytes& file, std::optional<int> n_rows) {
  const std::int64_t largest = n_rows.value_or(std::numeric_limits<std::int32_t>::max());
  FileShare share;
  together(comm, [&] { check_last_line(file, 0, share.reading); });
  share.elements =
      read_element_lines(comm, file, 0, 0, [&](std::string_view line) { return parse_line(line, largest); });
  throw_together(comm,
                 comm.any(!share.elements.empty()) ? "" : file.path() + ": holds no elements of a matrix");
  return share;
}

}  // namespace quintet::electronic::reading
