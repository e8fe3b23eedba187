#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/files/npy_header.hpp"

namespace quintet {

/// An array file of NumPy: its header, read and checked when opened, and its rows as they are asked for.
///
/// Format versions 1 to 3, real numbers, integers and truth values of any size and byte order, in C or
/// Fortran order; a single number has shape (1,). Source: NumPy's documentation, numpy.lib.format. Errors
/// (InputError) name the file: absent, not a .npy file, truncated, longer than its shape says, elements that
/// are not numbers.
class NpyFile {
 public:
  explicit NpyFile(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<std::uint64_t>& shape() const { return header_.shape; }
  /// "float32", "int64", "bool", ...
  [[nodiscard]] const std::string& element_type() const { return header_.element_type; }
  /// "(80, 570)", as NumPy writes it.
  [[nodiscard]] std::string shape_text() const { return header_.shape_text(); }
  /// Elements of one entry along the first axis.
  [[nodiscard]] std::uint64_t row_size() const;

  /// Entries [first, first + count) along the first axis in C order, as float64. T: double, std::int64_t (of
  /// integers only).
  template <class T>
  [[nodiscard]] std::vector<T> read_rows(std::uint64_t first, std::uint64_t count) const;

 private:
  std::string path_;
  NpyHeader header_;
};

}  // namespace quintet
