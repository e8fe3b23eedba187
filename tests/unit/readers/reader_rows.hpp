#pragma once

#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/ranges.h>

/// Every reader of the suite as a row of one table: a good file, and what is read of it.
namespace quintet::readers {

/// What a reader hands over.
struct Answer {
  std::string values;   ///< every number and name that counts, with 17 digits
  std::string reading;  ///< what it says of them (Reading::text)
};

struct Row {
  std::string name;    ///< of the format
  std::string family;  ///< "atoms", "matrix": readers of one family read each other's files
  std::string file;    ///< a name by which the format is known
  std::function<void(const std::string& path)> make;
  std::function<Answer(const std::string& path)> read;
  bool is_text = false;
  /// Members, "object@attribute", and groups, "group/", without or with which a file says something else that
  /// is as good.
  std::vector<std::string> optional = {};
  bool counts_nothing = false;  ///< a file that ends behind a record is whole, as far as it says
};

std::vector<Row> atoms_rows();
std::vector<Row> matrix_rows();
std::vector<Row> field_rows();

/// Append numbers to a text, with all digits.
template <class Range>
void put(std::string& text, const Range& numbers) {
  for (const auto number : numbers) text += fmt::format("{:.17g} ", static_cast<double>(number));
  text += '\n';
}

}  // namespace quintet::readers
