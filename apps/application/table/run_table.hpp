#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "apps/application/table/table_file.hpp"
#include "io/log/error.hpp"

namespace quintet {

/// A column of a table and what it has in a row, which the program gives as a `Row`.
template <class Row>
struct RunColumn {
  std::string name, unit, doc;
  std::function<double(const Row&)> value;                    ///< of a number
  std::function<std::vector<double>(const Row&)> entry = {};  ///< instead: several numbers, of `shape`
  hdf5::Shape shape = {};
  std::vector<std::string> axes = {};
  bool is_integer = false;
};

/// A table of run.h5 that grows by one `Row` at a time; see TableFile for what restarts find.
///
/// @code
///   RunTable<Sample> table(context, {"thermo"}, {{"step", "1", "Steps done", [](const Sample& s) { ... }}},
///   step); table.add(sample);
/// @endcode
template <class Row>
class RunTable {
 public:
  /// On a restart rows whose key is above `last` are dropped, those before are read back. Collective.
  RunTable(Context& context, TableLayout layout, std::vector<RunColumn<Row>> columns, double last)
      : columns_(std::move(columns)), file_(context, std::move(layout), stored(columns_), last) {}

  /// Append a row, unless its key is not above that of the row before. Returns whether it was. Collective.
  bool add(const Row& row) {
    std::vector<std::vector<double>> values;
    for (const auto& column : columns_)
      values.push_back(column.entry ? column.entry(row) : std::vector<double>{column.value(row)});
    const std::size_t key = index(file_.layout().key);
    if (size() > 0 && !(values[key].front() > this->values(key).back())) return false;
    file_.append(values);
    return true;
  }

  [[nodiscard]] std::size_t size() const { return file_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const std::vector<RunColumn<Row>>& columns() const { return columns_; }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::any_of(columns_.begin(), columns_.end(), [&](const auto& c) { return c.name == name; });
  }
  /// Values so far of a column, rows one after the other. Throws InternalError for an unknown name.
  [[nodiscard]] const std::vector<double>& column(const std::string& name) const {
    return values(index(name));
  }
  [[nodiscard]] const std::vector<double>& values(std::size_t c) const { return file_.values(c); }
  /// The numbers of row i, those of all columns that have one in a row.
  [[nodiscard]] std::vector<double> row(std::size_t i) const {
    std::vector<double> numbers;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (!columns_[c].entry) numbers.push_back(values(c)[i]);
    return numbers;
  }

 private:
  static std::vector<TableColumn> stored(const std::vector<RunColumn<Row>>& columns) {
    std::vector<TableColumn> all;
    for (const auto& c : columns) all.push_back({c.name, c.unit, c.doc, c.shape, c.axes, c.is_integer});
    return all;
  }
  [[nodiscard]] std::size_t index(const std::string& name) const {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (columns_[c].name == name) return c;
    throw InternalError("table " + file_.layout().group + " has no column '" + name + "'");
  }

  std::vector<RunColumn<Row>> columns_;
  TableFile file_;
};

}  // namespace quintet
