#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"

/// Alternatives as tables: one row each, of any struct that has a member `value` (of an enum) and beside it
/// what the alternative is and does: `name` in YAML, `doc`, functions that make, read or write it.
///
/// Whoever adds an alternative adds a row; keys, documentation and messages follow. No row stands for what
/// has none.
/// @code
///   struct FormatRow { Format value; const char *name, *doc; Frame (*read)(const std::string& path); };
///   constexpr FormatRow formats[] = {{Format::xyz, "xyz", "XYZ", read_xyz}, ...};
///   schema.choice("format", options.format, choices_of(formats), "...");
///   return row_of(formats, options.format).read(path);
/// @endcode
namespace quintet {

/// The row of a value. Throws InternalError for an unknown value.
template <class Table, class Value>
[[nodiscard]] const auto& row_of(const Table& table, const Value& value) {
  for (const auto& row : table)
    if (row.value == value) return row;
  if constexpr (std::is_enum_v<Value>)
    throw InternalError(fmt::format("no row for value {} in a table of {}",
                                    static_cast<std::underlying_type_t<Value>>(value), typeid(Value).name()));
  else
    throw InternalError(fmt::format("no row for a value in a table of {}", typeid(Value).name()));
}

/// The row of a name that was found among names_of(). Throws InternalError for an unknown name.
template <class Table>
[[nodiscard]] const auto& row_named(const Table& table, std::string_view name) {
  for (const auto& row : table)
    if (row.name == name) return row;
  throw InternalError(fmt::format("no row is named '{}' in a table", name));
}

/// The names in the table's order.
template <class Table>
[[nodiscard]] std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

/// The row that a user names under `key`. Throws InputError for an unknown name.
template <class Table>
[[nodiscard]] const auto& row_given(const Table& table, const std::string& name, const std::string& key) {
  for (const auto& row : table)
    if (row.name == name) return row;
  const auto names = names_of(table);
  throw InputError(fmt::format("{}: unknown value '{}'; expected one of {}{}", key, name, name_list(names),
                               did_you_mean(name, names)));
}

/// Names and values for Schema::choice.
template <class Table>
[[nodiscard]] auto choices_of(const Table& table) {
  using Value = std::remove_cvref_t<decltype(std::begin(table)->value)>;
  std::vector<std::pair<std::string, Value>> choices;
  for (const auto& row : table) choices.emplace_back(row.name, row.value);
  return choices;
}

}  // namespace quintet
