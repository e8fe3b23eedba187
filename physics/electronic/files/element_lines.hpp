#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/reading.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "physics/electronic/files/file_bytes.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

/// Lines of text that hold one element each. Not for other folders.
namespace quintet::electronic::reading {

/// Error in a line, thrown by a parser of lines.
struct LineError {
  std::string what;
};

/// The element of a line (0-based), or nothing for an empty one. Throws LineError.
using LineParser = std::function<std::optional<Triplet>(std::string_view)>;

/// This rank's share of the elements in the lines from byte `begin` on, before which there are `lines_before`
/// lines. Throws InputError with file and line on all ranks. Collective.
[[nodiscard]] std::vector<Triplet> read_element_lines(const Comm& comm, const FileBytes& file,
                                                      std::uint64_t begin, std::uint64_t lines_before,
                                                      const LineParser& parse);

/// Throws InputError if the last line of those from byte `begin` on may lack digits: it has no line feed, its
/// last number stands nowhere before it and is shorter than the longest there. Else says so in `reading`.
void check_last_line(const FileBytes& file, std::uint64_t begin, Reading& reading);

/// The words of a line, separated by blanks or tabs.
[[nodiscard]] std::vector<std::string_view> words(std::string_view line);
/// A whole word as an integer or a real number (also with Fortran's D exponent,
/// or one of three digits without a letter: 0.5-101). Throws LineError.
[[nodiscard]] std::int64_t integer(std::string_view word);
[[nodiscard]] double real(std::string_view word);
/// 0-based element from 1-based indices. Throws LineError if out of 1 ... n_rows or not finite.
[[nodiscard]] Triplet checked(std::int64_t row, std::int64_t column, double value, std::int64_t n_rows);

}  // namespace quintet::electronic::reading
