#include "physics/particles/files/npy.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <type_traits>

#include "io/log/error.hpp"

namespace quintet {

namespace {

std::vector<char> read_bytes(std::ifstream& stream, std::uint64_t n, const std::string& path) {
  std::vector<char> bytes(n);
  stream.read(bytes.data(), n);
  QUINTET_CHECK(static_cast<std::uint64_t>(stream.gcount()) == n,
                "{}: the file is truncated: {} bytes wanted, {} are there", path, n, stream.gcount());
  return bytes;
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
  if (header_.shape.empty()) header_.shape = {1};  // a single number
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
  QUINTET_CHECK(std::is_floating_point_v<T> || !header_.element_type.starts_with("float"),
                "{}: elements are {}, integers were expected", path_, header_.element_type);
  // One entry lies spread over the whole file in Fortran order, so that all of it is read.
  const std::uint64_t begin = header_.fortran_order ? 0 : first * row_size();
  const std::uint64_t n = (header_.fortran_order ? shape()[0] : count) * row_size();
  std::ifstream stream(path_, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(header_.begin + begin * header_.element_size));
  const auto bytes = read_bytes(stream, n * header_.element_size, path_);
  const auto values = npy_numbers<T>({bytes.data(), bytes.size()}, header_);
  return header_.fortran_order ? rows_of_fortran_order(values, shape(), first, count) : values;
}

template std::vector<double> NpyFile::read_rows<double>(std::uint64_t, std::uint64_t) const;
template std::vector<std::int64_t> NpyFile::read_rows<std::int64_t>(std::uint64_t, std::uint64_t) const;

}  // namespace quintet
