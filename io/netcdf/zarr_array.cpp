#include "io/netcdf/zarr_array.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/ranges.h>

#include "io/files/input_file.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/index.hpp"

namespace quintet::netcdf {
namespace {

/// CRC-32C (Castagnoli) of bytes, RFC 3720, appendix B.4.
std::uint32_t checksum_of(std::string_view bytes) {
  std::uint32_t checksum = ~std::uint32_t{0};
  for (const char c : bytes) {
    checksum ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) checksum = checksum >> 1U ^ ((checksum & 1U) != 0 ? 0x82f63b78U : 0U);
  }
  return ~checksum;
}

std::string without_checksum(std::string_view bytes, const std::string& what) {
  QUINTET_CHECK(bytes.size() >= 4, "{}: is too short for its checksum", what);
  const auto data = bytes.substr(0, bytes.size() - 4);
  std::uint32_t stored = 0;
  for (int i = 3; i >= 0; --i) stored = stored << 8U | static_cast<unsigned char>(bytes[data.size() + i]);
  QUINTET_CHECK(checksum_of(data) == stored, "{}: does not agree with its checksum: it is damaged", what);
  return std::string(data);
}

}  // namespace

std::string ZarrArray::file_of(const Index& index) const {
  if (index.empty()) return fmt::format("{}/{}", folder, prefix.empty() ? "0" : prefix);
  return fmt::format("{}/{}{}{}", folder, prefix, prefix.empty() ? "" : separator,
                     fmt::join(index, separator));
}

const std::vector<double>& ZarrArray::chunk_at(const Index& index) const {
  const auto file = file_of(index);
  if (file == last_file_) return last_;
  last_file_.clear();
  last_ = std::filesystem::exists(file) ? chunk_in(file) : std::vector<double>();
  last_file_ = file;
  return last_;
}

std::vector<double> ZarrArray::chunk_in(const std::string& file) const {
  auto bytes = read_input_file(file, (std::uint64_t{1} << 31U) - 1);
  const std::uint64_t n = product(chunk) * element.element_size;
  for (std::size_t s = steps.size(); s-- > 0;) {
    std::uint64_t expected = n;  // checksums before this step make the bytes longer
    for (std::size_t k = 0; k < s; ++k) expected += steps[k].kind == ZarrStep::Kind::checksum ? 4 : 0;
    switch (steps[s].kind) {
      case ZarrStep::Kind::packed:
        bytes = decompressed(steps[s].codec, bytes, expected, file);
        break;
      case ZarrStep::Kind::shuffle:
        bytes = unshuffled(bytes, steps[s].element_size);
        break;
      case ZarrStep::Kind::checksum:
        bytes = without_checksum(bytes, file);
        break;
    }
  }
  QUINTET_CHECK(bytes.size() == n, "{}: holds {} bytes; a chunk [{}] of {} has {}", file, bytes.size(),
                fmt::join(chunk, ", "), element.element_type, n);
  return npy_numbers<double>(bytes, element);
}

std::vector<double> ZarrArray::read(const Index& start, const Index& count) const {
  QUINTET_CHECK(refusal.empty(), "{}: {}", where, refusal);
  std::vector<double> values(product(count));
  if (values.empty()) return values;
  const std::size_t n_axes = shape.size();
  Index first(n_axes), end(n_axes), stride(n_axes, 1), to_stride(n_axes, 1);
  std::uint64_t step = 1;  // of an axis within a chunk
  for (std::size_t d = n_axes; d-- > 0; step *= chunk[order[d]]) stride[order[d]] = step;
  for (std::size_t d = n_axes; d-- > 1;) to_stride[d - 1] = to_stride[d] * count[d];
  for (std::size_t d = 0; d < n_axes; ++d) {
    first[d] = start[d] / chunk[d];
    end[d] = (start[d] + count[d] - 1) / chunk[d] + 1;
  }
  Index index = first;
  do {
    const auto& own = chunk_at(index);
    QUINTET_CHECK(!own.empty() || has_fill, "{}: chunk {} is not there, and no fill_value is given", where,
                  file_of(index));
    Index from(n_axes), begin(n_axes), to(n_axes);
    for (std::size_t d = 0; d < n_axes; ++d) {  // points of the array that the chunk and the box share
      begin[d] = from[d] = std::max(start[d], index[d] * chunk[d]);
      to[d] = std::min(start[d] + count[d], (index[d] + 1) * chunk[d]);
    }
    do {
      std::uint64_t at = 0, place = 0;
      for (std::size_t d = 0; d < n_axes; ++d) {
        at += (from[d] - index[d] * chunk[d]) * stride[d];
        place += (from[d] - start[d]) * to_stride[d];
      }
      values[place] = own.empty() ? fill : own[at];
    } while (next(from, begin, to));
  } while (next(index, first, end));
  return values;
}

std::uint64_t ZarrArray::n_chunks() const {
  std::uint64_t n = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::uint64_t along = shape[d] == 0 ? 0 : (shape[d] - 1) / chunk[d] + 1;
    if (along > 0 && n > std::numeric_limits<std::uint64_t>::max() / along) return ~std::uint64_t{0};
    n *= along;
  }
  return n;
}

std::uint64_t ZarrArray::n_absent() const {
  constexpr std::uint64_t most = 1U << 20U;  // beyond it, chunks are looked for as they are read
  const auto n = n_chunks();
  if (n > most || n == 0) return 0;
  Index index(shape.size()), end;
  const Index first = index;
  for (std::size_t d = 0; d < shape.size(); ++d) end.push_back((shape[d] - 1) / chunk[d] + 1);
  std::uint64_t absent = 0;
  do absent += std::filesystem::exists(file_of(index)) ? 0 : 1;
  while (next(index, first, end));
  return absent;
}

}  // namespace quintet::netcdf
