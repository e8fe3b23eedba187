#include "physics/electronic/files/matrix_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/ranges.h>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "physics/electronic/files/matrix_readers.hpp"
#include "physics/electronic/files/matrix_writers.hpp"

namespace quintet::electronic {

namespace reading {

namespace {

/// Integer at a byte of the file's head (0 beyond it).
template <class T>
T number(const std::string& head, std::size_t begin) {
  T value{};
  if (begin + sizeof value <= head.size()) std::memcpy(&value, head.data() + begin, sizeof value);
  return value;
}

bool is_ntpoly(const std::string& head, std::uint64_t size) {
  const auto rows = number<std::int32_t>(head, 0), columns = number<std::int32_t>(head, 4),
             complex = number<std::int32_t>(head, 8);
  const auto count = number<std::int64_t>(head, 12);
  if (head.size() < 20 || rows <= 0 || columns != rows || (complex != 0 && complex != 1) || count < 0)
    return false;
  const std::uint64_t bytes = complex == 1 ? 24 : 16;
  return static_cast<std::uint64_t>(count) <= size / bytes && size == 20 + bytes * count;
}

/// The first record is framed by its length, twice.
bool is_cp2k_binary(const std::string& head, std::uint64_t) {
  const auto marker = number<std::int32_t>(head, 0);
  if (marker != 12 && marker != 16 && marker != 24) return false;
  return number<std::int32_t>(head, static_cast<std::size_t>(marker) + 4) == marker;
}

/// The first line begins with two integers (or the stars of an overflow) and a number follows.
bool is_cp2k_text(const std::string& head, std::uint64_t) {
  const auto line = head.substr(0, head.find_first_of("\r\n"));
  if (line.size() == head.size() && line.size() > 200) return false;
  const auto printable = [](unsigned char c) { return std::isprint(c) != 0 || c == '\t'; };
  const auto begin = line.find_first_not_of(" \t");
  return begin != std::string::npos && std::all_of(line.begin(), line.end(), printable) &&
         (std::isdigit(static_cast<unsigned char>(line[begin])) != 0 || line[begin] == '*' ||
          line[begin] == '-');
}

bool is_elsi(const std::string& head, std::uint64_t) {
  return number<std::int32_t>(head, 0) == 170915 && number<std::int32_t>(head, 4) == -910910;
}

bool is_matrix_market(const std::string& head, std::uint64_t) {
  return head.starts_with("%%MatrixMarket") || head.starts_with("%%matrixmarket");
}

bool is_hdf5(const std::string& head, std::uint64_t) { return head.starts_with("\x89HDF\r\n\x1a\n"); }

constexpr MatrixFormatRow formats[] = {{MatrixFormat::quintet_hdf5,
                                        "quintet_hdf5",
                                        "Quintet HDF5",
                                        ".h5",
                                        {".h5", ".hdf5"},
                                        true,
                                        is_hdf5,
                                        read_quintet,
                                        writing::write_quintet},
                                       {MatrixFormat::matrix_market,
                                        "matrix_market",
                                        "MatrixMarket",
                                        ".mtx",
                                        {".mtx"},
                                        true,
                                        is_matrix_market,
                                        read_matrix_market,
                                        writing::write_matrix_market},
                                       {MatrixFormat::elsi_csc,
                                        "elsi_csc",
                                        "ELSI CSC",
                                        ".csc",
                                        {".csc"},
                                        true,
                                        is_elsi,
                                        read_elsi_csc,
                                        writing::write_elsi_csc},
                                       {MatrixFormat::cp2k_binary,
                                        "cp2k_binary",
                                        "CP2K binary",
                                        ".csr",
                                        {},
                                        false,
                                        is_cp2k_binary,
                                        read_cp2k_binary,
                                        writing::write_cp2k_binary},
                                       {MatrixFormat::ntpoly_binary,
                                        "ntpoly_binary",
                                        "NTPoly binary",
                                        ".ntpoly",
                                        {},
                                        true,
                                        is_ntpoly,
                                        read_ntpoly,
                                        writing::write_ntpoly},
                                       {MatrixFormat::cp2k_text,
                                        "cp2k_text",
                                        "CP2K text",
                                        ".txt",
                                        {},
                                        false,
                                        is_cp2k_text,
                                        read_cp2k_text,
                                        writing::write_cp2k_text}};

std::optional<MatrixFormat> format_of_ending(const std::string& path) {
  const auto ending = std::filesystem::path(path).extension().string();
  for (const auto& row : formats)
    for (const auto telling : row.telling_endings)
      if (!ending.empty() && ending == telling) return row.value;
  return std::nullopt;
}

}  // namespace

std::optional<MatrixFormat> format_of_contents(const FileBytes& file) {
  const auto head = file.head(256);
  for (const auto& row : formats)
    if (row.begins(head, file.size())) return row.value;
  return std::nullopt;
}

}  // namespace reading

std::span<const MatrixFormatRow> matrix_formats() { return reading::formats; }

std::string format_name(MatrixFormat format) { return std::string(row_of(matrix_formats(), format).name); }

MatrixFormat detect_format(const std::string& path) {
  const FileBytes file(path);
  const auto contents = reading::format_of_contents(file);
  const auto found = contents ? contents : reading::format_of_ending(path);
  std::vector<std::string_view> known;
  for (const auto& row : matrix_formats()) known.push_back(row.doc);
  QUINTET_CHECK(
      found,
      "{}: is none of the matrix formats that are read ({}), or is cut off or damaged at its beginning", path,
      fmt::join(known, ", "));
  return *found;
}

}  // namespace quintet::electronic
