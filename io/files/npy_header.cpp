#include "io/files/npy_header.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/ranges.h>

#include "io/log/error.hpp"

namespace quintet {

static_assert(std::endian::native == std::endian::little, "elements are read as they lie in memory");

namespace {

struct ElementType {
  std::string_view code;  ///< without the byte order
  const char* name;
  std::uint64_t size;
};
constexpr ElementType element_types[] = {{"f2", "float16", 2}, {"f4", "float32", 4}, {"f8", "float64", 8},
                                         {"i1", "int8", 1},    {"i2", "int16", 2},   {"i4", "int32", 4},
                                         {"i8", "int64", 8},   {"u1", "uint8", 1},   {"u2", "uint16", 2},
                                         {"u4", "uint32", 4},  {"u8", "uint64", 8},  {"b1", "bool", 1}};

/// IEEE 754 binary16, kept as its bits.
struct Half {
  std::uint16_t bits;
  explicit operator double() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                                        : std::numeric_limits<double>::infinity()
                         : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 != 0 ? -size : size;
  }
};

template <class T, class Stored>
std::vector<T> converted(std::string_view bytes, bool big_endian) {
  std::vector<T> values(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    char raw[sizeof(Stored)];
    std::memcpy(raw, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    if (big_endian) std::reverse(raw, raw + sizeof(Stored));
    Stored stored;
    std::memcpy(&stored, raw, sizeof(Stored));
    if constexpr (std::is_same_v<Stored, Half>)
      values[i] = static_cast<T>(static_cast<double>(stored));
    else
      values[i] = static_cast<T>(stored);
  }
  return values;
}

/// Text of a file, fit for a message.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, 80));
  for (char& c : result)
    if (c < ' ' || c > '~') c = '?';
  return fmt::format("'{}'", result);
}

/// The text behind `'key':` in a header such as {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
std::string_view behind_key(std::string_view header, const std::string& key, const std::string& name) {
  const auto at = header.find("'" + key + "'");
  const auto colon = at == std::string_view::npos ? at : header.find(':', at);
  QUINTET_CHECK(colon != std::string_view::npos, "{}: the header {} has no '{}'; the file is damaged", name,
                shown(header), key);
  const auto begin = header.find_first_not_of(' ', colon + 1);
  return begin == std::string_view::npos ? std::string_view() : header.substr(begin);
}

void read_type(std::string_view text, const std::string& name, NpyHeader& header) {
  const auto quote = text.starts_with('\'') ? text.find('\'', 1) : std::string_view::npos;
  const auto code = quote == std::string_view::npos ? text.substr(0, 20) : text.substr(1, quote - 1);
  const bool ordered = !code.empty() && std::string_view("<>|=").find(code[0]) != std::string_view::npos;
  for (const auto& type : element_types)
    if (ordered && code.substr(1) == type.code) {
      header.element_type = type.name;
      header.element_size = type.size;
      header.big_endian = code[0] == '>';
      return;
    }
  throw InputError(
      fmt::format("{}: elements of type {} are not read; expected real numbers (f2, f4, f8), integers "
                  "(i1 to i8, u1 to u8) or b1 (convert with numpy: a.astype('<f8'))",
                  name, shown(code)));
}

void read_shape(std::string_view text, const std::string& name, NpyHeader& header) {
  const auto close = text.find(')');
  QUINTET_CHECK(text.starts_with('(') && close != std::string_view::npos,
                "{}: shape is {} in the header, expected (n, ...)", name, shown(text));
  const auto whole = text.substr(0, close + 1);
  for (std::size_t at = 1; at < close;) {
    const auto end = std::min(text.find_first_of(", ", at), close);
    const auto word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    std::int64_t n = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    QUINTET_CHECK(error == std::errc() && rest == word.data() + word.size(),
                  "{}: an extent of the shape is {}, expected an integer", name, shown(word));
    QUINTET_CHECK(n >= 0, "{}: shape {} has the negative extent {}", name, shown(whole), n);
    header.shape.push_back(n);
  }
  std::uint64_t n = 1;
  for (const auto extent : header.shape) {
    QUINTET_CHECK(extent == 0 || n <= std::numeric_limits<std::uint64_t>::max() / 8 / extent,
                  "{}: shape {} is too large for any file", name, header.shape_text());
    n *= extent;
  }
}

}  // namespace

std::uint64_t NpyHeader::n_elements() const {
  std::uint64_t n = 1;
  for (const auto extent : shape) n *= extent;
  return n;
}

std::string NpyHeader::shape_text() const {
  return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
}

NpyHeader read_npy_header(std::string_view front, std::uint64_t bytes, const std::string& name) {
  QUINTET_CHECK(front.size() >= 8 && std::memcmp(front.data(), "\x93NUMPY", 6) == 0,
                "{}: this is no .npy file (its first bytes are not NumPy's)", name);
  const int version = static_cast<unsigned char>(front[6]);
  QUINTET_CHECK(version >= 1 && version <= 3, "{}: .npy format version {} is not known, expected 1, 2 or 3",
                name, version);
  const std::uint64_t length_bytes = version == 1 ? 2 : 4;
  QUINTET_CHECK(front.size() >= 8 + length_bytes, "{}: the file is truncated: {} bytes wanted, {} are there",
                name, 8 + length_bytes, front.size());
  std::uint64_t length = 0;
  for (std::uint64_t i = 0; i < length_bytes; ++i)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(front[8 + i])) << (8 * i);
  NpyHeader header;
  header.begin = 8 + length_bytes + length;
  QUINTET_CHECK(header.begin <= front.size() || header.begin > bytes,
                "{}: its header has {} bytes; at most {} are read", name, header.begin, front.size());
  QUINTET_CHECK(header.begin <= bytes,
                "{}: the file is truncated within its header: {} bytes wanted, it has {}", name, header.begin,
                bytes);
  const auto text = front.substr(8 + length_bytes, length);
  read_type(behind_key(text, "descr", name), name, header);
  const auto order = behind_key(text, "fortran_order", name);
  header.fortran_order = order.starts_with("True");
  QUINTET_CHECK(header.fortran_order || order.starts_with("False"),
                "{}: fortran_order is {} in the header, expected True or False", name,
                shown(order.substr(0, 8)));
  read_shape(behind_key(text, "shape", name), name, header);
  const std::uint64_t elements = header.n_elements(), there = bytes - header.begin;
  QUINTET_CHECK(elements <= there / header.element_size,
                "{}: the file is truncated: shape {} of {} needs {} elements, there are {}", name,
                header.shape_text(), header.element_type, elements, there / header.element_size);
  QUINTET_CHECK(elements * header.element_size == there,
                "{}: the file holds {} bytes more than shape {} of {} needs", name,
                there - elements * header.element_size, header.shape_text(), header.element_type);
  return header;
}

template <class T>
std::vector<T> npy_numbers(std::string_view bytes, const NpyHeader& header) {
  const auto as = [&]<class Stored>(Stored) { return converted<T, Stored>(bytes, header.big_endian); };
  const std::string& type = header.element_type;
  if (type == "float64") return as(double{});
  if (type == "float32") return as(float{});
  if (type == "float16") return as(Half{});
  if (type == "int64") return as(std::int64_t{});
  if (type == "int32") return as(std::int32_t{});
  if (type == "int16") return as(std::int16_t{});
  if (type == "int8") return as(std::int8_t{});
  if (type == "uint64") return as(std::uint64_t{});
  if (type == "uint32") return as(std::uint32_t{});
  if (type == "uint16") return as(std::uint16_t{});
  QUINTET_ASSERT(type == "uint8" || type == "bool", "an element type without a conversion");
  return as(std::uint8_t{});
}

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

template std::vector<float> npy_numbers<float>(std::string_view, const NpyHeader&);
template std::vector<double> npy_numbers<double>(std::string_view, const NpyHeader&);
template std::vector<std::int64_t> npy_numbers<std::int64_t>(std::string_view, const NpyHeader&);
template std::vector<float> rows_of_fortran_order(const std::vector<float>&,
                                                  const std::vector<std::uint64_t>&, std::uint64_t,
                                                  std::uint64_t);
template std::vector<double> rows_of_fortran_order(const std::vector<double>&,
                                                   const std::vector<std::uint64_t>&, std::uint64_t,
                                                   std::uint64_t);
template std::vector<std::int64_t> rows_of_fortran_order(const std::vector<std::int64_t>&,
                                                         const std::vector<std::uint64_t>&, std::uint64_t,
                                                         std::uint64_t);

}  // namespace quintet
