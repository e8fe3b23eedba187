#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

/// CP2K's KS_CSR_WRITE and S_CSR_WRITE with BINARY: one Fortran record an element, {int32 marker, int32 row,
/// int32 column, value, int32 marker}; marker 16 with float64, 12 with float32, 24 with complex. Source:
/// CP2K, src/dbcsrx/csr_conversions.
namespace quintet::electronic::reading {

namespace {

constexpr std::uint64_t elements_at_once = 1 << 17;

/// Elements of records of float or double values.
template <class Value>
class Cp2kRecords {
 public:
  static constexpr std::uint64_t payload = 2 * sizeof(std::int32_t) + sizeof(Value), size = payload + 8;

  Cp2kRecords(const FileBytes& file, std::int64_t largest) : file_(file), largest_(largest) {}

  [[nodiscard]] std::vector<Triplet> read(Share records) const {
    std::vector<Triplet> elements;
    elements.reserve(records.end - records.begin);
    for (auto begin = records.begin; begin < records.end; begin += elements_at_once) {
      const auto count = std::min(elements_at_once, records.end - begin);
      const auto bytes = file_.values<std::byte>(begin * size, count * size);
      for (std::uint64_t k = 0; k < count; ++k)
        elements.push_back(element(bytes.data() + k * size, begin + k + 1));
    }
    return elements;
  }

 private:
  template <class T>
  static T take(const std::byte* from) {
    T value{};
    std::memcpy(&value, from, sizeof value);
    return value;
  }

  [[nodiscard]] Triplet element(const std::byte* record, std::uint64_t number) const {
    const auto before = take<std::int32_t>(record), after = take<std::int32_t>(record + 4 + payload);
    QUINTET_CHECK(before == payload && after == payload,
                  "{}: record {} lies between the lengths {} and {}; expected {}: the file is damaged or no "
                  "binary matrix of CP2K",
                  file_.path(), number, before, after, payload);
    const auto row = take<std::int32_t>(record + 4), column = take<std::int32_t>(record + 8);
    const double value = take<Value>(record + 12);
    const auto wrong = complaint(row, column, value, largest_);
    QUINTET_CHECK(wrong.empty(), "{}: record {}: {}", file_.path(), number, wrong);
    return {row - 1, column - 1, value};
  }

  const FileBytes& file_;
  std::int64_t largest_;
};

template <class Value>
std::vector<Triplet> read_records(const Comm& comm, const FileBytes& file, std::int64_t largest) {
  using Records = Cp2kRecords<Value>;
  const auto count = file.size() / Records::size;
  QUINTET_CHECK(file.size() % Records::size == 0,
                "{}: is cut off: {} bytes are {} records of {} bytes and {} bytes of the next", file.path(),
                file.size(), count, Records::size, file.size() % Records::size);
  return Records(file, largest).read(even_share(count, comm.rank(), comm.size()));
}

}  // namespace

FileShare read_cp2k_binary(const Comm& comm, const FileBytes& file, std::optional<int> n_rows) {
  FileShare share;
  together(comm, [&] {
    QUINTET_CHECK(file.size() >= 20, "{}: is cut off: {} bytes, less than one element", file.path(),
                  file.size());
    const std::int64_t largest = n_rows.value_or(std::numeric_limits<std::int32_t>::max());
    const auto marker = file.value<std::int32_t>(0);
    QUINTET_CHECK(
        marker != 24,
        "{}: is a complex matrix (records of 24 bytes: k-points); only real ones are read. Write the "
        "Gamma-point or, with REAL_SPACE, the real-space matrices",
        file.path());
    QUINTET_CHECK(marker != 0x10000000 && marker != 0x0c000000,
                  "{}: was written on a machine of the other byte order; write it as text", file.path());
    QUINTET_CHECK(marker == 16 || marker == 12,
                  "{}: is no binary matrix of CP2K: it begins with the record length {}; expected 16",
                  file.path(), marker);
    share.elements =
        marker == 16 ? read_records<double>(comm, file, largest) : read_records<float>(comm, file, largest);
  });
  return share;
}

}  // namespace quintet::electronic::reading
