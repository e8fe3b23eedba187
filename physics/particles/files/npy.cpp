#include "physics/particles/files/npy.hpp"

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <span>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/files/read_configuration_text.hpp"

namespace quintet {

static_assert(std::endian::native == std::endian::little, "npy files are read as they lie in memory");

namespace {

struct ElementType {
  std::string name;
  std::uint64_t size;
};

const std::map<std::string, ElementType> element_types{
    {"<f4", {"float32", 4}}, {"<f8", {"float64", 8}}, {"<i4", {"int32", 4}}, {"<i8", {"int64", 8}}};

/// The text behind `'key':` in a header such as {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
std::string_view behind_key(const std::string& header, const std::string& key, const std::string& path) {
  const auto at = header.find("'" + key + "'");
  const auto colon = at == std::string::npos ? at : header.find(':', at);
  QUINTET_CHECK(colon != std::string::npos, "{}: the header {} has no '{}'; the file is damaged", path,
                text::shown(header), key);
  const auto begin = header.find_first_not_of(' ', colon + 1);
  return begin == std::string::npos ? std::string_view() : std::string_view(header).substr(begin);
}

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
  char prefix[12] = {};
  stream.read(prefix, 8);
  QUINTET_CHECK(stream.gcount() == 8 && std::memcmp(prefix, "\x93NUMPY", 6) == 0,
                "{}: this is no .npy file (its first bytes are not NumPy's)", path_);
  const int version = static_cast<unsigned char>(prefix[6]);
  QUINTET_CHECK(version >= 1 && version <= 3, "{}: .npy format version {} is not known, expected 1, 2 or 3",
                path_, version);
  const std::uint64_t length_bytes = version == 1 ? 2 : 4;
  const auto length_field = read_bytes(stream, length_bytes, path_);
  std::uint32_t header_length = 0;
  std::memcpy(&header_length, length_field.data(), length_bytes);
  data_begin_ = 8 + length_bytes + header_length;
  QUINTET_CHECK(data_begin_ <= bytes,
                "{}: the file is truncated within its header: {} bytes wanted, it has {}", path_, data_begin_,
                bytes);
  const auto header = read_bytes(stream, header_length, path_);
  parse_header(std::string(header.begin(), header.end()));
  const std::uint64_t elements = count_elements();
  QUINTET_CHECK(elements <= (bytes - data_begin_) / element_size_,
                "{}: the file is truncated: shape {} of {} needs {} elements, "
                "there are {}",
                path_, shape_text(), element_type_, elements, (bytes - data_begin_) / element_size_);
  QUINTET_CHECK(elements * element_size_ == bytes - data_begin_,
                "{}: the file holds {} bytes more than shape {} of {} needs", path_,
                bytes - data_begin_ - elements * element_size_, shape_text(), element_type_);
}

void NpyFile::parse_header(const std::string& header) {
  const auto descr = behind_key(header, "descr", path_);
  const auto quote = descr.starts_with('\'') ? descr.find('\'', 1) : std::string_view::npos;
  const std::string type(quote == std::string_view::npos ? descr.substr(0, 20) : descr.substr(1, quote - 1));
  const auto found = element_types.find(type);
  QUINTET_CHECK(found != element_types.end(),
                "{}: elements of type {} are not read; expected <f4, <f8, <i4 or <i8 (convert "
                "with numpy: a.astype('<f8'))",
                path_, text::shown(type));
  element_type_ = found->second.name;
  element_size_ = found->second.size;
  const auto order = behind_key(header, "fortran_order", path_);
  fortran_order_ = order.starts_with("True");
  QUINTET_CHECK(fortran_order_ || order.starts_with("False"),
                "{}: fortran_order is {} in the header, expected True or False", path_,
                text::shown(order.substr(0, 8)));
  const auto shape = behind_key(header, "shape", path_);
  const auto close = shape.find(')');
  QUINTET_CHECK(shape.starts_with('(') && close != std::string_view::npos,
                "{}: shape is {} in the header, expected (n, ...)", path_, text::shown(shape));
  for (const auto extent : text::split(shape.substr(1, close - 1), ", ")) {
    const std::int64_t n = text::to_integer(extent, path_, "an extent of the shape");
    QUINTET_CHECK(n >= 0, "{}: shape {} has the negative extent {}", path_,
                  text::shown(shape.substr(0, close + 1)), n);
    shape_.push_back(static_cast<std::uint64_t>(n));
  }
}

std::uint64_t NpyFile::count_elements() const {
  std::uint64_t n = 1;
  for (const std::uint64_t extent : shape_) {
    QUINTET_CHECK(extent == 0 || n <= std::numeric_limits<std::uint64_t>::max() / 8 / extent,
                  "{}: shape {} is too large for any file", path_, shape_text());
    n *= extent;
  }
  return n;
}

std::string NpyFile::shape_text() const {
  return shape_.size() == 1 ? fmt::format("({},)", shape_[0]) : fmt::format("({})", fmt::join(shape_, ", "));
}

std::uint64_t NpyFile::row_size() const {
  std::uint64_t size = 1;
  for (std::size_t axis = 1; axis < shape_.size(); ++axis) size *= shape_[axis];
  return size;
}

template <class T>
std::vector<T> NpyFile::read_rows(std::uint64_t first, std::uint64_t count) const {
  QUINTET_CHECK(!shape_.empty() && first <= shape_[0] && count <= shape_[0] - first,
                "{}: entries {} to {} were asked for, the shape is {}", path_, first, first + count,
                shape_text());
  QUINTET_CHECK(std::is_floating_point_v<T> || element_type_.starts_with("int"),
                "{}: elements are {}, integers were expected", path_, element_type_);
  // One entry lies spread over the whole file in Fortran order, so that all of it is read.
  const std::uint64_t begin = fortran_order_ ? 0 : first * row_size();
  const std::uint64_t n = (fortran_order_ ? shape_[0] : count) * row_size();
  std::ifstream stream(path_, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(data_begin_ + begin * element_size_));
  const auto values = converted<T>(read_bytes(stream, n * element_size_, path_), n, element_type_);
  return fortran_order_ ? rows_of_fortran_order(values, shape_, first, count) : values;
}

template std::vector<double> NpyFile::read_rows<double>(std::uint64_t, std::uint64_t) const;
template std::vector<std::int64_t> NpyFile::read_rows<std::int64_t>(std::uint64_t, std::uint64_t) const;

}  // namespace quintet
