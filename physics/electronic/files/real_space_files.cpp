#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <set>
#include <string>

#include <fmt/ranges.h>

#include "io/config/tree.hpp"
#include "io/files/input_file.hpp"
#include "io/files/output_file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/element_lines.hpp"
#include "physics/electronic/files/file_sink.hpp"
#include "physics/electronic/files/matrix_hdf5.hpp"
#include "physics/electronic/files/matrix_readers.hpp"

namespace quintet::electronic {

namespace {

/// A line of a list of files.
struct Entry {
  std::array<int, 3> shift;
  std::string path;
};

int shift_number(std::string_view word) {
  const auto value = reading::integer(word);
  if (std::abs(value) > 10000) throw reading::LineError{fmt::format("a shift of {} cells", value)};
  return value;
}

Entry parse_entry(const std::vector<std::string_view>& fields, const std::filesystem::path& folder) {
  if (fields.size() != 4)
    throw reading::LineError{"expected three integers, the shift in cells, and the name of a matrix file"};
  return {{shift_number(fields[0]), shift_number(fields[1]), shift_number(fields[2])},
          (folder / std::string(fields[3])).string()};
}

std::vector<Entry> read_list(const std::string& path) {
  const FileBytes file(path);
  const auto folder = std::filesystem::path(path).parent_path();
  std::vector<Entry> entries;
  std::uint64_t line_number = 0;
  try {
    for_each_line(file, 0, file.size(), [&](std::string_view line) {
      ++line_number;
      const auto fields = reading::words(line.substr(0, line.find('#')));
      if (!fields.empty()) entries.push_back(parse_entry(fields, folder));
    });
  } catch (const reading::LineError& error) {
    throw InputError(fmt::format("{}:{}: {}", path, line_number, error.what));
  }
  return entries;
}

/// What all sources must satisfy.
void check_shifts(const std::string& path, const RealSpaceMatrix& matrix) {
  QUINTET_CHECK(!matrix.shift.empty(), "{}: names no shifts", path);
  std::set<std::array<int, 3>> seen;
  for (const auto& s : matrix.shift)
    QUINTET_CHECK(seen.insert(s).second, "{}: the shift {} {} {} is there twice", path, s[0], s[1], s[2]);
  QUINTET_CHECK(seen.contains({0, 0, 0}), "{}: the shift 0 0 0 is missing", path);
}

/// Name the shifts without elements; that of the cell itself must have some.
void tell_empty(const std::string& path, RealSpaceMatrix& matrix) {
  std::vector<std::string> empty;
  for (std::size_t q = 0; q < matrix.shift.size(); ++q) {
    if (!matrix.elements[q].empty()) continue;
    const auto& s = matrix.shift[q];
    QUINTET_CHECK(s != (std::array{0, 0, 0}), "{}: the shift 0 0 0 has no elements", path);
    empty.push_back(fmt::format("{} {} {}", s[0], s[1], s[2]));
  }
  if (empty.empty()) return;
  constexpr std::size_t most = 3;
  const auto n = empty.size();
  empty.resize(std::min(n, most));
  matrix.reading.assume(fmt::format("{} of {} shifts have no elements ({}{})", n, matrix.shift.size(),
                                    fmt::join(empty, ", "), n > most ? ", ..." : ""));
}

/// True if a file has no bytes but blanks and line feeds, as CP2K leaves that of a shift without elements.
/// Collective.
bool is_blank(const Comm& comm, const std::string& path) {
  bool blank = false;
  together(comm, [&] {
    constexpr std::uint64_t most = 4096;
    const auto size = check_input_file(path);
    if (size == 0) blank = true;
    if (size == 0 || size > most) return;
    const auto text = FileBytes(path).head(most);
    blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
  });
  return blank;
}

/// A whole file on every rank. Collective.
reading::FileShare read_whole(const Comm& comm, const std::string& path, MatrixFormat format,
                              std::optional<int> n_rows) {
  if (is_blank(comm, path)) return {};
  auto share = reading::read_share(comm, path, format, n_rows);
  reading::check_duplicates(comm, path, share.elements, share.symmetric);
  share.elements = comm.all_gather(std::span<const Triplet>(share.elements));
  if (share.symmetric) reading::mirror(share.elements);
  return share;
}

/// The units of files that belong together, "" where none says.
void agree_on_units(const std::string& path, const std::string& units, RealSpaceMatrix& matrix) {
  if (units.empty() || units == matrix.units) return;
  QUINTET_CHECK(matrix.units.empty(), "{}: its values are in '{}', those of the files before it in '{}'",
                path, units, matrix.units);
  matrix.units = units;
}

RealSpaceMatrix read_listed(const Comm& comm, const std::string& path, MatrixFormat format,
                            std::optional<int> n_rows) {
  std::vector<Entry> entries;
  together(comm, [&] { entries = read_list(path); });
  RealSpaceMatrix matrix;
  int stated = 0;
  for (const auto& entry : entries) {
    auto share = read_whole(comm, entry.path, format, n_rows);
    agree_on_units(entry.path, share.units, matrix);
    matrix.reading.add(share.reading);
    QUINTET_CHECK(stated == 0 || !share.n_rows || *share.n_rows == stated,
                  "{}: has {} rows, the files before it in {} have {}", entry.path, share.n_rows.value_or(0),
                  path, stated);
    stated = share.n_rows.value_or(stated);
    for (const auto& e : share.elements) matrix.n_rows = std::max({matrix.n_rows, e.row + 1, e.column + 1});
    QUINTET_CHECK(stated == 0 || matrix.n_rows <= stated, "{}: has an element in row or column {} of {}",
                  entry.path, matrix.n_rows, stated);
    matrix.shift.push_back(entry.shift);
    matrix.elements.push_back(std::move(share.elements));
  }
  QUINTET_CHECK(stated == 0 || !n_rows || stated == *n_rows, "{}: its files have {} rows; {} were given",
                path, stated, n_rows.value_or(0));
  if (stated == 0 && !n_rows)
    matrix.reading.assume(
        fmt::format("{} orbitals in a cell, the largest index (matrices.n_rows changes it)", matrix.n_rows));
  matrix.n_rows = std::max({matrix.n_rows, stated, n_rows.value_or(0)});
  return matrix;
}

RealSpaceMatrix read_group(const Comm& comm, const std::string& path) {
  const auto file = hdf5::File::open(comm, path);
  hdf5::check_header(file, matrix_schema, matrix_schema_version);
  QUINTET_CHECK(file.root().has("real_space"), "{}: holds no group 'real_space'", path);
  const auto group = file.root().open_group("real_space");
  RealSpaceMatrix matrix;
  matrix.n_rows = rows_attribute(group, path);
  if (group.has_member_attribute("value", "units"))
    matrix.units = group.member_text_attribute("value", "units");
  for (const auto& name : file.root().names())
    if (name != "real_space") matrix.reading.leave(name);
  const auto begin = group.read<std::int64_t>("begin");
  QUINTET_CHECK(begin.size() > 1 && begin.front() == 0 && std::is_sorted(begin.begin(), begin.end()),
                "{}: 'begin' of the real-space matrices does not ascend from 0", path);
  const auto shift = group.read<std::int32_t>("shift", {begin.size() - 1, 3});
  const auto all = read_element_lists(group, path, matrix.n_rows, comm, 0, 1);
  QUINTET_CHECK(begin.back() == std::ssize(all),
                "{}: 'begin' of the real-space matrices ends with {}; there are {} elements", path,
                begin.back(), all.size());
  for (std::size_t q = 0; q + 1 < begin.size(); ++q) {
    matrix.shift.push_back({shift[3 * q], shift[3 * q + 1], shift[3 * q + 2]});
    matrix.elements.emplace_back(all.begin() + begin[q], all.begin() + begin[q + 1]);
    reading::check_duplicates(Comm::self(), path, matrix.elements.back(), false);
  }
  return matrix;
}

}  // namespace

RealSpaceMatrix read_real_space(const Comm& comm, const std::string& path, MatrixFormat format,
                                std::optional<int> n_rows) {
  bool is_hdf5 = false;
  together(comm,
           [&] { is_hdf5 = reading::format_of_contents(FileBytes(path)) == MatrixFormat::quintet_hdf5; });
  constexpr auto own = MatrixFormat::quintet_hdf5;
  QUINTET_CHECK(!is_hdf5 || format == MatrixFormat::automatic || format == own,
                "{}: is a file of format {}, not {}", path, format_name(own), format_name(format));
  auto matrix = is_hdf5 ? read_group(comm, path) : read_listed(comm, path, format, n_rows);
  QUINTET_CHECK(!n_rows || *n_rows == matrix.n_rows, "{}: a cell has {} orbitals; {} were given", path,
                matrix.n_rows, n_rows.value_or(0));
  check_shifts(path, matrix);
  tell_empty(path, matrix);
  std::size_t n_elements = 0;
  for (const auto& list : matrix.elements) n_elements += list.size();
  reading::check_rows(Comm::self(), path, matrix.n_rows, n_elements);
  return matrix;
}

void write_real_space(const Comm& comm, const RealSpaceMatrix& matrix, const std::string& path,
                      const MatrixLabels& labels) {
  std::vector<std::int32_t> shift, row, column;
  std::vector<std::int64_t> begin{0};
  std::vector<double> value;
  for (std::size_t q = 0; q < matrix.shift.size(); ++q) {
    shift.insert(shift.end(), matrix.shift[q].begin(), matrix.shift[q].end());
    for (const auto& e : matrix.elements[q]) {
      row.push_back(e.row);
      column.push_back(e.column);
      value.push_back(e.value);
    }
    begin.push_back(value.size());
  }
  const auto unfinished = path + ".unfinished";
  together(comm, [&] {
    if (comm.is_root()) make_new_file(unfinished);
  });
  auto file = hdf5::File::create(comm, unfinished);
  hdf5::write_header(file.root(), matrix_schema, matrix_schema_version, labels.provenance);
  auto group = file.root().group("real_space");
  group.set_attribute("n_rows", matrix.n_rows);
  const auto write = [&](const std::string& name, const auto& values, const hdf5::Shape& shape,
                         const hdf5::Description& description) {
    group.write(name, std::span(values), shape, description);
  };
  write("shift", shift, {matrix.shift.size(), 3},
        {"1", {"shift", "xyz"}, "Lattice vector of the column's cell, in cells."});
  write("begin", begin, {begin.size()}, {"1", {"shift"}, "First element of each shift, then their number."});
  write("row", row, {row.size()}, {"1", {"element"}, "Orbital of cell 0, from 0."});
  write("column", column, {column.size()}, {"1", {"element"}, "Orbital of the shifted cell, from 0."});
  write("value", value, {value.size()}, {labels.units, {"element"}, labels.description});
  file.close();
  give_name(comm, unfinished, path);
}

}  // namespace quintet::electronic
