#include "io/files/number_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "io/files/input_file.hpp"
#include "io/files/npy_header.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks), last = text.find_last_not_of(blanks);
  return first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
}

/// A number with a point, to its last character; Fortran's D is an exponent, too.
std::optional<double> number_in(std::string text) {
  if (text.starts_with('+')) text.erase(0, 1);
  for (char& c : text)
    if (c == 'D' || c == 'd') c = 'e';
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text[0] == '+' || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// The cells of a line; a quoted one may hold the separator, and "" for a quotation mark.
std::vector<std::string> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells;
  std::string cell;
  bool quoted = false, was_quoted = false;
  const auto end_cell = [&] {
    if (separator != ' ' || was_quoted || !trimmed(cell).empty()) cells.push_back(trimmed(cell));
    cell.clear();
    was_quoted = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cell += line[++i];
    } else if (c == '"') {
      quoted = !quoted, was_quoted = true;
    } else if (!quoted &&
               (c == separator || (separator == ' ' && blanks.find(c) != std::string_view::npos))) {
      end_cell();
    } else {
      cell += c;
    }
  }
  end_cell();
  return cells;
}

char separator_of(std::string_view line) {
  for (const char candidate : {'\t', ';', ','}) {
    bool quoted = false;
    for (const char c : line) {
      quoted = quoted != (c == '"');
      if (!quoted && c == candidate) return candidate;
    }
  }
  return ' ';
}

/// Text without a byte order mark, and with LF at the ends of lines.
std::string plain_text(const std::string& path) {
  auto text = read_input_file(path);
  QUINTET_CHECK(!text.starts_with("\xff\xfe") && !text.starts_with("\xfe\xff"),
                "{}: is text in UTF-16: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)", path);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r')
      result += text[i];
    else if (i + 1 == text.size() || text[i + 1] != '\n')
      result += '\n';
  }
  return result;
}

class Reader {
 public:
  explicit Reader(const std::string& path) { table_.path = path; }

  NumberTable read() {
    const auto text = plain_text(table_.path);
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      ++line_;
      take(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
    QUINTET_CHECK(!table_.values.empty(), "{}: holds no row of numbers", table_.path);
    return std::move(table_);
  }

 private:
  NumberTable table_;
  std::string comment_;  ///< the last one before the first row
  char separator_ = 0;
  int line_ = 0;
  bool ends_empty_ = false;  ///< a separator at the end of each line

  void take(std::string_view line) {
    const auto text = trimmed(line);
    if (text.empty()) return;
    if (text[0] == '#' || text[0] == '%') {
      if (separator_ == 0) comment_ = text.substr(std::min(text.find_first_not_of("#% \t"), text.size()));
      return;
    }
    if (separator_ == 0) separator_ = separator_of(line);
    auto cells = cells_of(line, separator_);
    if (table_.n_columns == 0) return take_first(std::move(cells));
    if (ends_empty_ && !cells.empty() && cells.back().empty()) cells.pop_back();
    take_row(cells);
  }

  void take_first(std::vector<std::string> cells) {
    if (cells.size() > 1 && cells.back().empty()) ends_empty_ = true, cells.pop_back();
    table_.n_columns = cells.size();
    const auto is_name = [](const std::string& cell) {
      return !number_in(cell) && (cell.empty() || !looks_like_number(cell));
    };
    if (std::all_of(cells.begin(), cells.end(), is_name)) {
      table_.names = std::move(cells);
      return;
    }
    if (const auto words = cells_of(comment_, separator_of(comment_));
        words.size() == cells.size() && std::all_of(words.begin(), words.end(), is_name))
      table_.names = words, table_.names_in_comment = true;
    take_row(cells);
  }

  /// Digits with a comma, a point, a sign between them, and nothing else.
  [[nodiscard]] static bool looks_like_number(const std::string& cell) {
    return cell.find_first_of("0123456789") != std::string::npos &&
           cell.find_first_not_of("0123456789+-.,'eEdD \xc2\xa0") == std::string::npos;
  }

  /// Error message for a cell.
  [[nodiscard]] std::string why(const std::string& cell, bool is_number) const {
    if (is_number) return fmt::format("'{}' is not finite", cell);
    if (separator_ != ',' && cell.find(',') != std::string::npos && looks_like_number(cell))
      return fmt::format(
          "'{}' has a decimal comma; write decimal points (sed 's/,/./g' FILE, where commas separate no "
          "cells)",
          cell);
    return fmt::format("'{}' is no number", cell.substr(0, 40));
  }

  void take_row(const std::vector<std::string>& cells) {
    QUINTET_CHECK(cells.size() == table_.n_columns, "{}:{}: has {} cells, but the lines before {}{}",
                  table_.path, line_, cells.size(), table_.n_columns,
                  separator_ == ',' && cells.size() == 2 * table_.n_columns
                      ? ": are these decimal commas? Write decimal points"
                      : "");
    table_.refusals.resize(table_.n_columns);
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const auto value = number_in(cells[k]);
      const bool is_good = value && std::isfinite(*value);
      if (!is_good && table_.refusals[k].empty())
        table_.refusals[k] = fmt::format("{}:{}: {}", table_.path, line_, why(cells[k], value.has_value()));
      table_.values.push_back(is_good ? *value : std::numeric_limits<double>::quiet_NaN());
    }
    table_.lines.push_back(line_);
  }
};

NumberTable read_npy(const std::string& path) {
  const auto bytes = read_input_file(path);
  const auto header = read_npy_header(bytes, bytes.size(), path);
  QUINTET_CHECK(header.shape.size() == 2 && header.n_elements() > 0,
                "{}: has shape {}; expected rows and columns", path, header.shape_text());
  NumberTable table;
  table.path = path;
  table.n_columns = header.shape[1];
  auto values = npy_numbers<double>(std::string_view(bytes).substr(header.begin), header);
  table.values = header.fortran_order ? rows_of_fortran_order(values, header.shape, 0, header.shape[0])
                                      : std::move(values);
  for (std::size_t i = 0; i < table.values.size(); ++i)
    QUINTET_CHECK(std::isfinite(table.values[i]), "{}: row {} holds {}", path, i / table.n_columns,
                  table.values[i]);
  return table;
}

}  // namespace

std::optional<std::size_t> NumberTable::column(const std::string& name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

void NumberTable::require_numbers(std::size_t column) const {
  QUINTET_CHECK(column >= refusals.size() || refusals[column].empty(), "{}", refusals[column]);
}

std::string NumberTable::place(std::size_t row) const {
  return row < lines.size() ? fmt::format("{}:{}", path, lines[row]) : fmt::format("{}: row {}", path, row);
}

NumberTable read_number_table(const std::string& path) {
  std::string front(6, '\0');
  auto stream = open_input_file(path);
  stream.read(front.data(), 6);
  if (stream.gcount() == 6 && front == "\x93NUMPY") return read_npy(path);
  return Reader(path).read();
}

}  // namespace quintet
