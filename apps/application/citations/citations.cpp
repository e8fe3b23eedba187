#include "apps/application/citations/citations.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "apps/application/citations/publications.hpp"
#include "apps/application/citations/references.hpp"
#include "io/config/tree.hpp"

namespace quintet {

namespace {

/// The value of a path; null where it is absent, null or an empty list. Elements of lists by number, from 0.
const Tree* value_of(const Tree& configuration, std::string_view path) {
  const Tree* at = &configuration;
  while (at != nullptr && !path.empty()) {
    const auto end = std::min(path.find('.'), path.size());
    const std::string word(path.substr(0, end));
    if (at->is_list()) {
      const auto i = std::stoul(word);
      at = i < at->items().size() ? &at->items()[i] : nullptr;
    } else {
      at = at->is_map() ? at->find(word) : nullptr;
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  const bool is_given = at != nullptr && !at->is_null() && (!at->is_list() || !at->items().empty());
  return is_given ? at : nullptr;
}

/// Whether "key=value", "key!=value", "key" or "!key" holds.
bool holds(const Tree& configuration, std::string_view condition) {
  const auto equals = condition.find('=');
  if (equals == std::string_view::npos) {
    const bool is_negated = condition.starts_with('!');
    return (value_of(configuration, condition.substr(is_negated ? 1 : 0)) != nullptr) != is_negated;
  }
  const bool is_negated = condition[equals - 1] == '!';
  const Tree* const value = value_of(configuration, condition.substr(0, is_negated ? equals - 1 : equals));
  const bool is_equal =
      value != nullptr && value->is_scalar() && value->as_text() == condition.substr(equals + 1);
  return is_equal != is_negated;
}

bool all_hold(const Tree& configuration, std::string_view conditions) {
  constexpr std::string_view divider = " & ";
  while (!conditions.empty()) {
    const auto end = std::min(conditions.find(divider), conditions.size());
    if (!holds(configuration, conditions.substr(0, end))) return false;
    conditions.remove_prefix(std::min(end + divider.size(), conditions.size()));
  }
  return true;
}

bool is_of(std::string_view command, std::string_view row) {
  return row.empty() || command == row || (command.starts_with(row) && command[row.size()] == ' ');
}

std::vector<std::string_view> used(const std::string& command, const Tree& configuration) {
  std::vector<std::string_view> keys;
  for (const auto& row : references()) {
    const bool is_new = std::find(keys.begin(), keys.end(), row.key) == keys.end();
    if (is_new && is_of(command, row.command) && all_hold(configuration, row.where)) keys.push_back(row.key);
  }
  return keys;
}

}  // namespace

std::string bibliography(const std::string& command, const Tree& configuration, const std::string& version) {
  std::string text = fmt::format(
      "% The program and the publications whose methods this run of {} used. Please cite what your results "
      "rest on.\n"
      "@software{{quintet,\n"
      "  author  = {{{{Quintet developers}}}},\n"
      "  title   = {{Quintet: five scientific machine-learning simulation codes on one set of kernels}},\n"
      "  version = {{{}}},\n"
      "  year    = {{2026}},\n"
      "  license = {{BSD-3-Clause}}\n}}\n",
      command, version);
  for (const auto key : used(command, configuration))
    for (const auto& row : publications())
      if (row.key == key) text += fmt::format("\n{}\n", bibtex(row));
  return text;
}

}  // namespace quintet
