#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <utility>

#include "io/log/error.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

namespace quintet::electronic {

namespace reading {

namespace {

constexpr std::array<std::pair<MatrixFormat, const char*>, 7> names{
    {{MatrixFormat::automatic, "automatic"},
     {MatrixFormat::cp2k_text, "cp2k_text"},
     {MatrixFormat::cp2k_binary, "cp2k_binary"},
     {MatrixFormat::elsi_csc, "elsi_csc"},
     {MatrixFormat::matrix_market, "matrix_market"},
     {MatrixFormat::ntpoly_binary, "ntpoly_binary"},
     {MatrixFormat::quintet_hdf5, "quintet_hdf5"}}};

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
  const auto bytes = static_cast<std::uint64_t>(complex == 1 ? 24 : 16);
  return static_cast<std::uint64_t>(count) <= size / bytes &&
         size == 20 + bytes * static_cast<std::uint64_t>(count);
}

/// The first record is framed by its length, twice.
bool is_cp2k_binary(const std::string& head) {
  const auto marker = number<std::int32_t>(head, 0);
  if (marker != 12 && marker != 16 && marker != 24) return false;
  return number<std::int32_t>(head, static_cast<std::size_t>(marker) + 4) == marker;
}

/// The first line begins with two integers (or the stars of an overflow) and a number follows.
bool is_cp2k_text(const std::string& head) {
  const auto line = head.substr(0, head.find_first_of("\r\n"));
  if (line.size() == head.size() && line.size() > 200) return false;
  const auto printable = [](unsigned char c) { return std::isprint(c) != 0 || c == '\t'; };
  const auto begin = line.find_first_not_of(" \t");
  return begin != std::string::npos && std::all_of(line.begin(), line.end(), printable) &&
         (std::isdigit(static_cast<unsigned char>(line[begin])) != 0 || line[begin] == '*' ||
          line[begin] == '-');
}

std::optional<MatrixFormat> format_of_ending(const std::string& path) {
  const auto ending = std::filesystem::path(path).extension().string();
  if (ending == ".h5" || ending == ".hdf5") return MatrixFormat::quintet_hdf5;
  if (ending == ".mtx") return MatrixFormat::matrix_market;
  if (ending == ".csc") return MatrixFormat::elsi_csc;
  return std::nullopt;
}

}  // namespace

std::optional<MatrixFormat> format_of_contents(const FileBytes& file) {
  const auto head = file.head(256);
  if (head.starts_with("\x89HDF\r\n\x1a\n")) return MatrixFormat::quintet_hdf5;
  if (head.starts_with("%%MatrixMarket") || head.starts_with("%%matrixmarket"))
    return MatrixFormat::matrix_market;
  if (number<std::int32_t>(head, 0) == 170915 && number<std::int32_t>(head, 4) == -910910)
    return MatrixFormat::elsi_csc;
  if (is_cp2k_binary(head)) return MatrixFormat::cp2k_binary;
  if (is_ntpoly(head, file.size())) return MatrixFormat::ntpoly_binary;
  if (is_cp2k_text(head)) return MatrixFormat::cp2k_text;
  return std::nullopt;
}

}  // namespace reading

std::string format_name(MatrixFormat format) {
  for (const auto& [value, name] : reading::names)
    if (value == format) return name;
  return "unknown";
}

MatrixFormat detect_format(const std::string& path) {
  const FileBytes file(path);
  const auto contents = reading::format_of_contents(file);
  const auto found = contents ? contents : reading::format_of_ending(path);
  QUINTET_CHECK(
      found,
      "{}: is none of the matrix formats that are read (CP2K text and binary, ELSI CSC, MatrixMarket, "
      "NTPoly binary, Quintet HDF5), or is cut off or damaged at its beginning",
      path);
  return *found;
}

}  // namespace quintet::electronic
