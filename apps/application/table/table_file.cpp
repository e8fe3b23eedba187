#include "apps/application/table/table_file.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "apps/application/life/context.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

std::uint64_t numbers_of(const TableColumn& column) {
  std::uint64_t n = 1;
  for (const auto extent : column.entry) n *= extent;
  return n;
}

hdf5::Series open_series(hdf5::Group& group, const TableColumn& column, const std::string& row) {
  hdf5::Description description{column.unit, {row}, column.doc};
  description.axes.insert(description.axes.end(), column.axes.begin(), column.axes.end());
  return column.is_integer ? group.series<std::int64_t>(column.name, column.entry, description)
                           : group.series<double>(column.name, column.entry, description);
}

/// Add to the checksum of each row what this column has of it.
template <class T>
void add_parts(std::uint64_t seed, std::span<const T> values, std::span<std::uint64_t> sums) {
  const std::size_t n = values.size() / sums.size();
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] += hdf5::RowChecksum::part<T>(seed, values.subspan(i * n, n), 0);
}

void append_to(hdf5::Series& series, const TableColumn& column, std::uint64_t rows,
               const std::vector<double>& values) {
  if (!column.is_integer) return series.append_entries<double>(rows, values);
  const std::vector<std::int64_t> integers(values.begin(), values.end());
  series.append_entries<std::int64_t>(rows, integers);
}

void add_parts_of(const TableColumn& column, std::uint64_t seed, const std::vector<double>& values,
                  std::span<std::uint64_t> sums) {
  if (!column.is_integer) return add_parts<double>(seed, values, sums);
  add_parts<std::int64_t>(seed, std::vector<std::int64_t>(values.begin(), values.end()), sums);
}

}  // namespace

TableFile::TableFile(Context& context, TableLayout layout, std::vector<TableColumn> columns, double last)
    : layout_(std::move(layout)),
      columns_(std::move(columns)),
      file_(&context.results()),
      values_(columns_.size()),
      size_(std::make_shared<std::uint64_t>(0)) {
  hdf5::Group group = file_->root().group(layout_.group);
  open(context, group);
  const auto recorded = context.recorded_rows(layout_.group);
  const std::uint64_t found = whole_rows(group);
  cut(rising_rows(group, recorded ? std::min(found, *recorded) : found, last));
  std::vector<std::string> paths;
  for (const auto& column : columns_) paths.push_back(path_of(column));
  checksums_->cover(paths);
  for (std::size_t c = 0; c < columns_.size() && layout_.keeps_in_memory; ++c)
    values_[c] = group.read_rows<double>(columns_[c].name, 0, *size_);
  // A kill before the next checkpoint must not find the former extent over what was zeroed.
  if (found > 0) file_->flush();
  context.record_rows(layout_.group, [size = size_] { return *size; });
  tell_losses(context, checksums_->altered(*size_, std::numeric_limits<double>::infinity()));
}

void TableFile::open(const Context& context, hdf5::Group& group) {
  for (const auto& column : columns_) {
    is_new_.push_back(!group.has(column.name));
    series_.push_back(open_series(group, column, layout_.row));
    seeds_.push_back(hdf5::RowChecksum::seed(path_of(column)));
  }
  checksums_.emplace(context.comm(), *file_, layout_.group, "row", layout_.row);
}

std::string TableFile::path_of(const TableColumn& column) const { return layout_.group + "/" + column.name; }

std::size_t TableFile::key() const {
  const auto found = std::find_if(columns_.begin(), columns_.end(),
                                  [&](const auto& column) { return column.name == layout_.key; });
  if (found == columns_.end())
    throw InternalError(fmt::format("Table {} without its column '{}'", layout_.group, layout_.key));
  return found - columns_.begin();
}

std::uint64_t TableFile::whole_rows(const hdf5::Group& group) const {
  std::uint64_t rows = std::numeric_limits<std::uint64_t>::max();
  bool any = false;
  for (std::size_t c = 0; c < series_.size(); ++c) {
    if (is_new_[c]) continue;
    rows = std::min(rows, group.whole_rows(columns_[c].name));
    any = true;
  }
  return any ? rows : 0;
}

std::uint64_t TableFile::rising_rows(const hdf5::Group& group, std::uint64_t rows, double last) const {
  const std::size_t k = key();
  if (is_new_[k]) return 0;
  const std::uint64_t stride = numbers_of(columns_[k]);
  constexpr std::uint64_t piece = 65536;  // rows, as those of a long signal need not fit into memory twice
  double before = -std::numeric_limits<double>::infinity();
  for (std::uint64_t first = 0; first < rows; first += piece) {
    const std::uint64_t n = std::min(piece, rows - first);
    const auto values = group.read_rows<double>(layout_.key, first, n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const double value = values[i * stride];
      if (!(value > before && value <= last)) return first + i;
      before = value;
    }
  }
  return rows;
}

void TableFile::cut(std::uint64_t rows) {
  // The key first, and to the file: what is cut of the others is zeroed there at once.
  series_[key()].truncate(std::min(rows, series_[key()].size()));
  file_->hand_over();
  for (std::size_t c = 0; c < series_.size(); ++c) series_[c].truncate(std::min(rows, series_[c].size()));
  for (std::size_t c = 0; c < series_.size(); ++c)
    if (const std::uint64_t has = series_[c].size(); has < rows)  // a column that the file lacked
      append_to(series_[c], columns_[c], rows - has,
                std::vector<double>((rows - has) * numbers_of(columns_[c]), none));
  checksums_->keep(rows);
  *size_ = rows;
}

void TableFile::tell_losses(Context& context, const std::string& altered) const {
  const auto recorded = context.recorded_rows(layout_.group);
  const bool is_whole = recorded ? *recorded <= size() : !context.results_begin_here();
  if (!altered.empty()) {
    const std::string rows = is_whole ? ""
                                      : fmt::format("; it has {} of the {} from before the restart", size(),
                                                    counted(recorded.value_or(size()), "row"));
    context.lose(layout_.group, fmt::format("run.h5: {}: damaged, and kept as it is{}", altered, rows));
    return;
  }
  if (is_whole) return;
  if (size() == 0)
    context.lose(layout_.group, "run.h5 has no rows from before the restart: it begins here");
  else
    context.lose(layout_.group, fmt::format("run.h5 has {} of the {} from before the restart", size(),
                                            counted(*recorded, "row")));
}

void TableFile::append(const std::vector<std::vector<double>>& values) {
  const std::uint64_t rows = values.at(0).size() / numbers_of(columns_[0]);
  if (rows == 0) return;
  std::vector<std::uint64_t> sums(rows, 0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    append_to(series_[c], columns_[c], rows, values.at(c));
    add_parts_of(columns_[c], seeds_[c], values[c], sums);
    if (layout_.keeps_in_memory) values_[c].insert(values_[c].end(), values[c].begin(), values[c].end());
  }
  checksums_->append(sums);
  *size_ += rows;
}

void TableFile::clear() {
  cut(0);
  for (auto& values : values_) values.clear();
}

}  // namespace quintet
