#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "io/hdf5/checksum.hpp"

namespace quintet {

/// A dataset of a table: a value in each row.
struct TableColumn {
  std::string name, unit, doc;
  hdf5::Shape entry = {};              ///< shape of a value; {}: a number
  std::vector<std::string> axes = {};  ///< of an entry
  bool is_integer = false;             ///< stored as int64
};

/// How a table lies in run.h5 and by what its rows are known.
struct TableLayout {
  std::string group;            ///< in run.h5; checkpoints count the rows under this name
  std::string row = "sample";   ///< name of the first axis
  std::string key = "step";     ///< the column whose (first) number rises from row to row
  bool keeps_in_memory = true;  ///< all values so far
};

/// A group of run.h5 whose datasets grow together, a row at a time, and which a kill at any moment leaves so
/// that a restart ends up with the rows of the uninterrupted run.
///
/// A restart keeps as many rows as the checkpoint counts, and of these the ones whose keys rise strictly and
/// are not above that of the restart: no others were there when the checkpoint was written (HDF5 zeroes what
/// is cut at once, and says so to the file at the next flush only; an older checkpoint counts nothing). What
/// is cut is brought to the disk before the constructor returns. Where rows that the checkpoint counts are
/// gone, Context::lose() tells.
///
/// Each row has a checksum in `row_checksum`. A restart compares those of the rows that it keeps, and tells
/// likewise of rows whose values have changed on the disk: they stay as they are, since nothing computes them
/// again.
class TableFile {
 public:
  /// `last`: the greatest key that a restart keeps. A column that the file lacks is NaN in the rows before.
  /// Collective. Throws InputError where a column has another shape or type in the file.
  TableFile(Context& context, TableLayout layout, std::vector<TableColumn> columns, double last);

  /// Append n rows: for each column its n values, columns one after the other, alike on all ranks.
  /// Collective.
  void append(const std::vector<std::vector<double>>& values);
  /// Drop all rows, before any was appended: later, HDF5 1.10 may hang on several ranks. Collective.
  void clear();

  [[nodiscard]] std::uint64_t size() const { return *size_; }
  [[nodiscard]] const TableLayout& layout() const { return layout_; }
  [[nodiscard]] const std::vector<TableColumn>& columns() const { return columns_; }
  /// All values so far of column `c`, rows one after the other; empty unless they are kept in memory.
  [[nodiscard]] const std::vector<double>& values(std::size_t c) const { return values_[c]; }

 private:
  void open(const Context& context, hdf5::Group& group);
  [[nodiscard]] std::string path_of(const TableColumn& column) const;
  [[nodiscard]] std::size_t key() const;  ///< number of its column
  /// Rows of the file that every column has whole.
  [[nodiscard]] std::uint64_t whole_rows(const hdf5::Group& group) const;
  /// Number of the first `rows` rows that a restart may keep.
  [[nodiscard]] std::uint64_t rising_rows(const hdf5::Group& group, std::uint64_t rows, double last) const;
  void cut(std::uint64_t rows);
  void tell_losses(Context& context, const std::string& altered) const;

  TableLayout layout_;
  std::vector<TableColumn> columns_;
  hdf5::File* file_;                               ///< of the context
  std::vector<hdf5::Series> series_;               ///< one a column
  std::optional<hdf5::ChecksumSeries> checksums_;  ///< of the rows
  std::vector<std::uint64_t> seeds_;               ///< of the columns in them
  std::vector<std::vector<double>> values_;        ///< one a column
  std::vector<bool> is_new_;                       ///< the file had no such column
  std::shared_ptr<std::uint64_t> size_;            ///< shared with the context, which may outlive the table
};

}  // namespace quintet
