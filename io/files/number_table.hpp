#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "io/files/reading.hpp"

namespace quintet {

/// Rows of numbers, as numpy and spreadsheets write them.
struct NumberTable {
  std::string path;
  std::vector<std::string> names;  ///< [column]; empty: the file has none
  bool names_in_comment = false;   ///< they may be a remark of as many words
  std::size_t n_columns = 0;
  std::vector<double> values;         ///< [row][column]; NaN for a cell that is not a finite number
  std::vector<std::string> refusals;  ///< [column] its first cell that is not a number; "": all are numbers
  std::vector<int> lines;             ///< [row] number in the file; empty of .npy
  Reading reading;

  [[nodiscard]] std::size_t n_rows() const { return n_columns == 0 ? 0 : values.size() / n_columns; }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    return values[row * n_columns + column];
  }
  /// Index of a column; nothing for an unknown name.
  [[nodiscard]] std::optional<std::size_t> column(const std::string& name) const;
  /// Throws InputError (file, line, what) unless all cells of a column are finite numbers.
  void require_numbers(std::size_t column) const;
  /// "points.csv:7", for messages.
  [[nodiscard]] std::string place(std::size_t row) const;
};

/// Read a text file of numbers, or an array [rows, columns] in a .npy file.
///
/// Cells are separated by tabs, semicolons, commas or blanks (the first of these that the first line after
/// comments has); they may be quoted. Lines end in LF, CRLF or CR. Blank lines and those that begin with # or
/// % are passed over. Names are in the first line, if none of its cells is a number, or in the comment before
/// the first line, if it has as many words as there are columns.
///
/// Columns of texts may stand beside those that are needed: see require_numbers(), which names decimal
/// commas. Throws InputError (file, line, what): rows of unequal length; text in UTF-16; no row; a number
/// that is not finite in a .npy file.
[[nodiscard]] NumberTable read_number_table(const std::string& path);

}  // namespace quintet
