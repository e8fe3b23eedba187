#include "io/files/npy_header.hpp"

#include <charconv>
#include <cstring>
#include <limits>

#include <fmt/ranges.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

struct ElementType {
  std::string_view code;
  const char* name;
  std::uint64_t size;
};
constexpr ElementType element_types[] = {
    {"<f4", "float32", 4}, {"<f8", "float64", 8}, {"<i4", "int32", 4}, {"<i8", "int64", 8}};

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
  for (const auto& type : element_types)
    if (code == type.code) {
      header.element_type = type.name;
      header.element_size = type.size;
      return;
    }
  throw InputError(
      fmt::format("{}: elements of type {} are not read; expected <f4, <f8, <i4 or <i8 (convert with numpy: "
                  "a.astype('<f8'))",
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
    header.shape.push_back(static_cast<std::uint64_t>(n));
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

}  // namespace quintet
