#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Names in formulas.
namespace quintet::detail {

/// A name as it stands in a formula.
struct UsedName {
  std::string text;
  std::size_t position = 0;  ///< of its first letter, from 0
  bool called = false;       ///< followed by '('
};

/// All names of a formula in order, with repetitions; the e of 1e-3 does not count.
[[nodiscard]] std::vector<UsedName> used_names(std::string_view formula);
/// A letter or '_', then letters, digits or '_'.
[[nodiscard]] bool is_name(std::string_view text);

/// Names of the functions and constants that every formula knows.
[[nodiscard]] const std::vector<std::string>& formula_functions();
[[nodiscard]] const std::vector<std::string>& formula_constants();

}  // namespace quintet::detail
