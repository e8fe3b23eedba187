#include "apps/quintet/verify/tables.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"

namespace quintet::verify {

namespace {

using hdf5::Group;

constexpr int max_depth = 12;  ///< of groups; hard links can make a circle
constexpr std::uint64_t piece = 65536;

std::vector<std::string> axes_of(const Group& group, const std::string& name) {
  if (!group.has_member_attribute(name, "axes")) return {};
  return group.member_texts_attribute(name, "axes");
}

bool grows(const std::string& axis) { return axis == "sample" || axis == "row" || axis == "frame"; }

/// How a key reads in a message: steps are whole numbers.
std::string text(double value) { return fmt::format("{:.10g}", value); }

/// Rows of the key that rise from the first one on, and what ends them.
std::pair<std::uint64_t, std::string> rising(const Group& root, const std::string& key, std::uint64_t rows) {
  const auto shape = root.shape(key);
  std::uint64_t width = 1;
  for (std::size_t d = 1; d < shape.size(); ++d) width *= shape[d];
  double before = -std::numeric_limits<double>::infinity();
  for (std::uint64_t first = 0; first < rows; first += piece) {
    const auto n = std::min(piece, rows - first);
    const auto values = root.read_rows<double>(key, first, n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const double value = values[i * width];
      if (value > before) {
        before = value;
        continue;
      }
      const std::string what =
          value == 0 ? "a row of zeros" : "after " + text(before) + " comes " + text(value);
      return {first + i, fmt::format("row {}: {} does not rise: {}", first + i, key, what)};
    }
  }
  return {rows, ""};
}

/// The rows that all columns have; what is missing goes to `damage`.
void count_rows(const Group& root, Table& table) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), longest = 0;
  std::string shortest;
  for (const auto& column : table.columns) {
    const auto rows = root.whole_rows(column, table.axis);
    longest = std::max(longest, root.shape(column)[table.axis]);
    if (rows < least) least = rows, shortest = column;
  }
  if (!table.counts.empty()) {
    longest = 0;
    for (const auto n : root.read<std::int64_t>(table.counts))
      longest = std::max<std::uint64_t>(longest, std::max<std::int64_t>(0, n));
    least = std::min(least, longest);
  }
  // A frame counts when its step is there, which is written last.
  if (table.is_of_frames && !table.key.empty()) {
    longest = root.shape(table.key)[0];
    least = std::min(least, longest);
  }
  table.rows = longest;
  table.whole = least;
  if (least < longest) table.damage = fmt::format("{} has {} of {} rows", shortest, least, longest);
  if (table.key.empty()) return;
  auto [rows, damage] = rising(root, table.key, table.whole);
  if (rows == table.whole) return;
  table.whole = rows;
  table.damage = damage;
}

std::string join(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

/// Tables by the group that they are known by and their first axis.
using Found = std::map<std::pair<std::string, std::string>, Table>;

bool has_index(const Group& root) {
  return root.has("frames") && root.is_group("frames") && root.open_group("frames").has("step");
}

/// Name of the table that a dataset belongs to. Frames of run.h5 are listed in its group "frames", all others
/// lie in groups within one, such as "particles"; other tables are a group each.
std::string name_of_table(const Group& root, const std::string& group, const std::vector<std::string>& axes) {
  if (axes.front() != "frame") return group;
  const bool is_spectrogram = std::find(axes.begin(), axes.end(), "bin") != axes.end();
  return has_index(root) && !is_spectrogram ? "frames" : group.substr(0, group.find('/'));
}

void find_tables(const Group& root, const std::string& path, int depth, Found& found) {
  const Group group = path.empty() ? root : root.open_group(path);
  for (const auto& name : group.names()) {
    const auto full = join(path, name);
    if (group.is_group(name)) {
      if (depth < max_depth) find_tables(root, full, depth + 1, found);
      continue;
    }
    const auto axes = axes_of(group, name);
    if (axes.empty() || !grows(axes.front()) || (axes.size() > 1 && axes[1] == "time")) continue;
    const auto known_by = name_of_table(root, path, axes);
    Table& table = found[{known_by, axes.front()}];
    table.group = known_by;
    table.is_of_frames = axes.front() == "frame";
    table.columns.push_back(full);
    if (hdf5::has_covered(group, name)) table.checksums = full;
    if ((name == "step" && !table.key.ends_with("step")) || (name == "time" && table.key.empty()))
      table.key = full;
  }
}

/// Fields over time lie in groups of their own, with one time and one count for all.
void find_fields(const Group& root, std::vector<Table>& found) {
  if (!root.has("n_frames") || !root.has("dimensions")) return;
  Table table{.group = "frames", .axis = 1, .counts = "n_frames"};
  for (const char* name : {"t0_fields", "t1_fields", "t2_fields"}) {
    if (!root.has(name)) continue;
    const Group group = root.open_group(name);
    for (const auto& member : group.names())
      if (const auto axes = axes_of(group, member); axes.size() > 1 && axes[1] == "time")
        table.columns.push_back(join(name, member));
  }
  if (table.columns.empty()) return;
  table.key = "dimensions/time";
  if (root.has("frame_checksum") && hdf5::has_covered(root, "frame_checksum")) {
    table.columns.emplace_back("frame_checksum");
    table.checksums = "frame_checksum";
  }
  found.push_back(std::move(table));
}

void resize(Group root, const std::string& name, std::size_t axis, std::uint64_t rows) {
  auto shape = root.shape(name);
  if (shape[axis] <= rows) return;
  shape[axis] = rows;
  root.resize(name, shape);
}

}  // namespace

std::vector<Table> tables_of(const hdf5::File& file) {
  std::vector<Table> found;
  find_fields(file.root(), found);
  if (found.empty()) {  // in fields over time a sample is a run, which does not grow
    Found by_name;
    find_tables(file.root(), "", 0, by_name);
    for (auto& [name, table] : by_name)
      if (!table.key.empty() || name.second == "frame") found.push_back(std::move(table));
  }
  for (auto& table : found) {
    count_rows(file.root(), table);
    if (table.checksums.empty()) continue;
    std::vector<std::uint64_t> rows{table.whole};
    if (!table.counts.empty()) {
      rows.clear();
      for (const auto n : file.root().read<std::int64_t>(table.counts))
        rows.push_back(std::min<std::uint64_t>(table.whole, std::max<std::int64_t>(0, n)));
    }
    table.altered = hdf5::altered_rows(file.root(), table.checksums, rows)
                        .text(table.group == "frames" || table.group == "particles" ? "frame" : "row");
  }
  return found;
}

void cut(hdf5::File& file, const Table& table, std::uint64_t rows) {
  Group root = file.root();
  if (!table.counts.empty()) {
    auto counts = root.read<std::int64_t>(table.counts);
    for (auto& n : counts) n = std::min<std::int64_t>(n, rows);
    root.write_box<std::int64_t>(table.counts, counts, {{0}, {counts.size()}});
    file.flush();
  }
  if (!table.key.empty()) resize(root, table.key, 0, rows);
  file.flush();  // HDF5 zeroes what is cut at once: the shorter key must be on the disk before
  for (const auto& column : table.columns)
    if (column != table.key) resize(root, column, table.axis, rows);
  file.flush();
}

}  // namespace quintet::verify
