#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <set>
#include <string>

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
  return static_cast<int>(value);
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

/// A whole file on every rank. Collective.
reading::FileShare read_whole(const Comm& comm, const std::string& path) {
  auto format = MatrixFormat::automatic;
  auto share = reading::read_share(comm, path, format, std::nullopt);
  reading::check_duplicates(comm, path, share.elements, share.symmetric);
  QUINTET_CHECK(!share.symmetric, "{}: is marked symmetric; a matrix between two cells is not", path);
  share.elements = comm.all_gather(std::span<const Triplet>(share.elements));
  return share;
}

RealSpaceMatrix read_listed(const Comm& comm, const std::string& path) {
  std::vector<Entry> entries;
  together(comm, [&] { entries = read_list(path); });
  RealSpaceMatrix matrix;
  int stated = 0;
  for (const auto& entry : entries) {
    auto share = read_whole(comm, entry.path);
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
  matrix.n_rows = std::max(matrix.n_rows, stated);
  return matrix;
}

RealSpaceMatrix read_group(const Comm& comm, const std::string& path) {
  const auto file = hdf5::File::open(comm, path);
  hdf5::check_header(file, matrix_schema, matrix_schema_version);
  QUINTET_CHECK(file.root().has("real_space"), "{}: holds no group 'real_space'", path);
  const auto group = file.root().open_group("real_space");
  RealSpaceMatrix matrix;
  matrix.n_rows = rows_attribute(group, path);
  const auto begin = group.read<std::int64_t>("begin");
  QUINTET_CHECK(begin.size() > 1 && begin.front() == 0 && std::is_sorted(begin.begin(), begin.end()),
                "{}: 'begin' of the real-space matrices does not ascend from 0", path);
  const auto shift = group.read<std::int32_t>("shift", {begin.size() - 1, 3});
  const auto all = read_element_lists(group, path, matrix.n_rows, comm, 0, 1);
  QUINTET_CHECK(begin.back() == static_cast<std::int64_t>(all.size()),
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

RealSpaceMatrix read_real_space(const Comm& comm, const std::string& path) {
  bool is_hdf5 = false;
  together(comm,
           [&] { is_hdf5 = reading::format_of_contents(FileBytes(path)) == MatrixFormat::quintet_hdf5; });
  auto matrix = is_hdf5 ? read_group(comm, path) : read_listed(comm, path);
  check_shifts(path, matrix);
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
    begin.push_back(static_cast<std::int64_t>(value.size()));
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
