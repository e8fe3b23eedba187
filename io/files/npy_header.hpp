#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quintet {

/// Header of a NumPy array (numpy.lib.format, versions 1 to 3).
struct NpyHeader {
  std::string element_type;        ///< "float16" to "float64", "int8" to "int64", "uint8" to "uint64", "bool"
  std::uint64_t element_size = 0;  ///< (bytes)
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  ///< of the data, from the begin of the array

  [[nodiscard]] std::uint64_t n_elements() const;
  /// "(80, 570)", as NumPy writes it.
  [[nodiscard]] std::string shape_text() const;
};

/// Most bytes that a header has: what read_npy_header() must be given of a longer array.
constexpr std::uint64_t most_npy_header_bytes = std::uint64_t{1} << 17;

/// Read the header of an array of `bytes` bytes, which begins with `front`. Throws InputError, which begins
/// with `name`, if it is not an array, its header is damaged, its elements are not numbers, or its shape
/// needs more or fewer bytes.
[[nodiscard]] NpyHeader read_npy_header(std::string_view front, std::uint64_t bytes, const std::string& name);

/// The elements of whose bytes (a whole number of them) an array or a part of it consists, as they lie in the
/// file. T: float, double, std::int64_t (of integers).
template <class T>
[[nodiscard]] std::vector<T> npy_numbers(std::string_view bytes, const NpyHeader& header);
/// Entries [first, first + count) of the first axis in C order, from a whole array in Fortran order.
template <class T>
[[nodiscard]] std::vector<T> rows_of_fortran_order(const std::vector<T>& all,
                                                   const std::vector<std::uint64_t>& shape,
                                                   std::uint64_t first, std::uint64_t count);

}  // namespace quintet
