#include <algorithm>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

/// ELSI's CSC files: int32 header[16] = {170915, -910910, 0 real or 1 complex, rows, electrons, elements,
/// ...}; int32 column_begin[rows] and int32 row[elements], both from 1; float64 value[elements]. Source:
/// ELSI, src/elsi_rw.f90.
namespace quintet::electronic::reading {

namespace {

constexpr std::uint64_t header_bytes = 64, elements_at_once = 1 << 18;

struct Header {
  std::int32_t n_rows = 0, n_electrons = 0;
  std::uint64_t n_elements = 0;
  [[nodiscard]] std::uint64_t rows_begin() const {
    return header_bytes + 4 * static_cast<std::uint64_t>(n_rows);
  }
  [[nodiscard]] std::uint64_t values_begin() const { return rows_begin() + 4 * n_elements; }
  [[nodiscard]] std::uint64_t bytes() const { return values_begin() + 8 * n_elements; }
};

Header read_header(const FileBytes& file) {
  QUINTET_CHECK(file.size() >= header_bytes, "{}: is cut off: {} bytes, its header has {}", file.path(),
                file.size(), header_bytes);
  const auto numbers = file.values<std::int32_t>(0, 16);
  QUINTET_CHECK(numbers[0] == 170915, "{}: is no CSC file of ELSI: it begins with {}; expected 170915",
                file.path(), numbers[0]);
  QUINTET_CHECK(numbers[2] != 1, "{}: is a complex matrix; only real ones are read", file.path());
  QUINTET_CHECK(numbers[2] == 0 && numbers[3] > 0 && numbers[5] >= 0,
                "{}: its header is damaged: kind {}, {} rows, {} elements", file.path(), numbers[2],
                numbers[3], numbers[5]);
  const Header header{numbers[3], numbers[4], static_cast<std::uint64_t>(numbers[5])};
  QUINTET_CHECK(header.bytes() == file.size(),
                "{}: is {}: {} bytes, {} are expected of {} rows and {} elements", file.path(),
                file.size() < header.bytes() ? "cut off" : "damaged", file.size(), header.bytes(),
                header.n_rows, header.n_elements);
  return header;
}

/// First element of each column (from 0), then their number.
std::vector<std::uint64_t> column_begin(const FileBytes& file, const Header& header) {
  std::vector<std::uint64_t> begin;
  std::int64_t last = 1;
  for (const auto first :
       file.values<std::int32_t>(header_bytes, static_cast<std::uint64_t>(header.n_rows))) {
    QUINTET_CHECK(first >= last && (first == 1 || !begin.empty()) &&
                      static_cast<std::uint64_t>(first) <= header.n_elements + 1,
                  "{}: column {} begins at element {}; expected {} to {}", file.path(), begin.size() + 1,
                  first, last, begin.empty() ? 1 : header.n_elements + 1);
    begin.push_back(static_cast<std::uint64_t>(first) - 1);
    last = first;
  }
  begin.push_back(header.n_elements);
  return begin;
}

std::vector<Triplet> read_elements(const FileBytes& file, const Header& header, Share part) {
  const auto columns = column_begin(file, header);
  std::vector<Triplet> elements;
  elements.reserve(part.end - part.begin);
  auto next = std::upper_bound(columns.begin(), columns.end(), part.begin);
  for (auto begin = part.begin; begin < part.end; begin += elements_at_once) {
    const auto count = std::min(elements_at_once, part.end - begin);
    const auto row = file.values<std::int32_t>(header.rows_begin() + 4 * begin, count);
    const auto value = file.values<double>(header.values_begin() + 8 * begin, count);
    for (std::uint64_t k = 0; k < count; ++k) {
      while (*next <= begin + k) ++next;
      const std::int32_t column = next - columns.begin();  // from 1
      const auto wrong = complaint(row[k], column, value[k], header.n_rows);
      QUINTET_CHECK(wrong.empty(), "{}: number {} of its elements: {}", file.path(), begin + k + 1, wrong);
      elements.push_back({row[k] - 1, column - 1, value[k]});
    }
  }
  return elements;
}

}  // namespace

FileShare read_elsi_csc(const Comm& comm, const FileBytes& file, std::optional<int>) {
  FileShare share;
  together(comm, [&] {
    const auto header = read_header(file);
    share.n_rows = header.n_rows;
    if (header.n_electrons > 0)
      share.reading.leave(fmt::format("the header's number of electrons, {}", header.n_electrons));
    share.elements = read_elements(file, header, even_share(header.n_elements, comm.rank(), comm.size()));
  });
  return share;
}

}  // namespace quintet::electronic::reading
