#include <algorithm>
#include <cstring>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

/// NTPoly's binary files: int32 rows, columns, 1 if complex; int64 elements; then {int32 column, int32 row,
/// float64 value} each, indices from 1. Source: NTPoly, Source/Fortran/PSMatrixModule, WriteMatrixToBinary.
namespace quintet::electronic::reading {

namespace {

constexpr std::uint64_t header_bytes = 20, element_bytes = 16, elements_at_once = 1 << 18;

/// An element as it stands in the file.
struct Record {
  std::int32_t column, row;
  double value;
};
static_assert(sizeof(Record) == element_bytes);

struct Header {
  std::int32_t n_rows = 0;
  std::uint64_t n_elements = 0;
};

Header read_header(const FileBytes& file) {
  QUINTET_CHECK(file.size() >= header_bytes, "{}: is cut off: {} bytes, its header has {}", file.path(),
                file.size(), header_bytes);
  const auto numbers = file.values<std::int32_t>(0, 3);
  const auto count = file.value<std::int64_t>(12);
  QUINTET_CHECK(numbers[0] > 0 && numbers[0] == numbers[1] && count >= 0,
                "{}: is no binary matrix of NTPoly: {} rows, {} columns, {} elements", file.path(),
                numbers[0], numbers[1], count);
  QUINTET_CHECK(numbers[2] != 1, "{}: is a complex matrix; only real ones are read", file.path());
  QUINTET_CHECK(numbers[2] == 0, "{}: is no binary matrix of NTPoly: the mark for complex values is {}",
                file.path(), numbers[2]);
  const auto in_file = (file.size() - header_bytes) / element_bytes;
  const std::uint64_t n = count;
  QUINTET_CHECK(n == in_file && (file.size() - header_bytes) % element_bytes == 0,
                "{}: is {}: its header says {} elements, its {} bytes hold {}", file.path(),
                n > in_file ? "cut off" : "damaged", count, file.size(), in_file);
  return {numbers[0], n};
}

}  // namespace

FileShare read_ntpoly(const Comm& comm, const FileBytes& file, std::optional<int>) {
  FileShare share;
  together(comm, [&] {
    const auto header = read_header(file);
    const auto part = even_share(header.n_elements, comm.rank(), comm.size());
    share.n_rows = header.n_rows;
    share.elements.reserve(part.end - part.begin);
    for (auto begin = part.begin; begin < part.end; begin += elements_at_once) {
      auto number = begin;
      for (const auto& e : file.values<Record>(header_bytes + begin * element_bytes,
                                               std::min(elements_at_once, part.end - begin))) {
        const auto wrong = complaint(e.row, e.column, e.value, header.n_rows);
        QUINTET_CHECK(wrong.empty(), "{}: record {}: {}", file.path(), ++number, wrong);
        ++number;
        share.elements.push_back({e.row - 1, e.column - 1, e.value});
      }
    }
  });
  return share;
}

}  // namespace quintet::electronic::reading
