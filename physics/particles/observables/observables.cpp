#include "physics/particles/observables/observables.hpp"

#include <span>
#include <sstream>

#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"

namespace quintet {

namespace {

void write_table(hdf5::Group group, const Table& table) {
  group.set_attribute("description", table.description);
  const std::string& axis = table.columns.front().name;
  for (const Column& column : table.columns)
    group.write(column.name, std::span<const double>(column.values), {column.values.size()},
                {column.unit, {axis}, column.description});
}

}  // namespace

std::string join_lines(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += word + '\n';
  return text;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string line; std::getline(stream, line);) words.push_back(line);
  return words;
}

void Observer::write(hdf5::Group& group) const {
  for (const Table& table : tables()) write_table(group.group(table.name), table);
  for (const Scalar& scalar : scalars()) {
    const double pair[2] = {scalar.value, scalar.error};
    group.write(scalar.name, std::span<const double>(pair), {2},
                {scalar.unit, {"value_error"}, scalar.description + "; value and standard error"});
  }
}

}  // namespace quintet
