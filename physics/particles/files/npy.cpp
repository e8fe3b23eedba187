#include "physics/particles/files/npy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <type_traits>

#include "io/log/error.hpp"

namespace quintet {

static_assert(std::endian::native == std::endian::little, "npy files are read as they lie in memory");

namespace {

std::vector<char> read_bytes(std::ifstream& stream, std::uint64_t n, const std::string& path) {
  std::vector<char> bytes(n);
  stream.read(bytes.data(), static_cast<std::streamsize>(n));
  QUINTET_CHECK(static_cast<std::uint64_t>(stream.gcount()) == n,
                "{}: the file is truncated: {} bytes wanted, {} are there", path, n, stream.gcount());
  return bytes;
}

template <class T, class Stored>
void convert(std::span<const char> bytes, std::vector<T>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = static_cast<T>(stored);
  }
}

template <class T>
std::vector<T> converted(std::span<const char> bytes, std::size_t n, const std::string& element_type) {
  std::vector<T> values(n);
  if (element_type == "float32")
    convert<T, float>(bytes, values);
  else if (element_type == "float64")
    convert<T, double>(bytes, values);
  else if (element_type == "int32")
    convert<T, std::int32_t>(bytes, values);
  else
    convert<T, std::int64_t>(bytes, values);
  return values;
}

/// Entries [first, first + count) of the first axis in C order, from a whole array in Fortran order.
template <class T>
std::vector<T> rows_of_fortran_order(const std::vector<T>& all, const std::vector<std::uint64_t>& shape,
                                     std::uint64_t first, std::uint64_t count) {
  std::uint64_t row_size = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) row_size *= shape[axis];
  std::vector<T> result;
  result.reserve(count * row_size);
  for (std::uint64_t row = first; row < first + count; ++row)
    for (std::uint64_t c = 0; c < row_size; ++c) {
      // c counts the indices behind the first, the last one fastest; the file has the first one fastest.
      std::uint64_t rest = c, offset = 0;
      for (std::size_t axis = shape.size(); axis-- > 1;) {
        offset = (offset + rest % shape[axis]) * shape[axis - 1];
        rest /= shape[axis];
      }
      result.push_back(all[offset + row]);
    }
  return result;
}

}  // namespace

NpyFile::NpyFile(std::string path) : path_(std::move(path)) {
  namespace fs = std::filesystem;
  QUINTET_CHECK(fs::is_regular_file(path_), "cannot read {}: there is no such file", path_);
  const std::uint64_t bytes = fs::file_size(path_);
  std::ifstream stream(path_, std::ios::binary);
  QUINTET_CHECK(stream.good(), "cannot open {} for reading", path_);
  const auto front = read_bytes(stream, std::min(bytes, most_npy_header_bytes), path_);
  header_ = read_npy_header({front.data(), front.size()}, bytes, path_);
}

std::uint64_t NpyFile::row_size() const {
  std::uint64_t size = 1;
  for (std::size_t axis = 1; axis < shape().size(); ++axis) size *= shape()[axis];
  return size;
}

template <class T>
std::vector<T> NpyFile::read_rows(std::uint64_t first, std::uint64_t count) const {
  QUINTET_CHECK(!shape().empty() && first <= shape()[0] && count <= shape()[0] - first,
                "{}: entries {} to {} were asked for, the shape is {}", path_, first, first + count,
                shape_text());
  QUINTET_CHECK(std::is_floating_point_v<T> || header_.element_type.starts_with("int"),
                "{}: elements are {}, integers were expected", path_, header_.element_type);
  // One entry lies spread over the whole file in Fortran order, so that all of it is read.
  const std::uint64_t begin = header_.fortran_order ? 0 : first * row_size();
  const std::uint64_t n = (header_.fortran_order ? shape()[0] : count) * row_size();
  std::ifstream stream(path_, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(header_.begin + begin * header_.element_size));
  const auto values =
      converted<T>(read_bytes(stream, n * header_.element_size, path_), n, header_.element_type);
  return header_.fortran_order ? rows_of_fortran_order(values, shape(), first, count) : values;
}

template std::vector<double> NpyFile::read_rows<double>(std::uint64_t, std::uint64_t) const;
template std::vector<std::int64_t> NpyFile::read_rows<std::int64_t>(std::uint64_t, std::uint64_t) const;

}  // namespace quintet
