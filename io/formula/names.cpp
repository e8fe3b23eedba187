#include "io/formula/names.hpp"

#include <algorithm>

namespace quintet::detail {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// End of the name or number part that begins at `i`.
std::size_t end_of_name(std::string_view text, std::size_t i) {
  while (i < text.size() && (is_letter(text[i]) || is_digit(text[i]))) ++i;
  return i;
}

/// End of the number that begins at `i`: digits, point, and an exponent if there are digits in it.
std::size_t end_of_number(std::string_view text, std::size_t i) {
  while (i < text.size() && (is_digit(text[i]) || text[i] == '.')) ++i;
  if (i == text.size() || (text[i] != 'e' && text[i] != 'E')) return i;
  std::size_t digits = i + 1;
  if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
  if (digits == text.size() || !is_digit(text[digits])) return i;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  return digits;
}

}  // namespace

std::vector<UsedName> used_names(std::string_view formula) {
  std::vector<UsedName> names;
  for (std::size_t i = 0; i < formula.size();) {
    if (is_digit(formula[i]) || formula[i] == '.') {
      i = end_of_number(formula, i);
    } else if (is_letter(formula[i])) {
      const std::size_t end = end_of_name(formula, i);
      const std::size_t next = formula.find_first_not_of(' ', end);
      names.push_back({std::string(formula.substr(i, end - i)), i,
                       next != std::string_view::npos && formula[next] == '('});
      i = end;
    } else {
      ++i;
    }
  }
  return names;
}

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && end_of_name(text, 0) == text.size();
}

const std::vector<std::string>& formula_functions() {
  static const std::vector<std::string> names{"abs",  "acos",  "asin",  "atan", "atan2", "cos", "cosh", "erf",
                                              "exp",  "floor", "gauss", "log",  "log10", "max", "min",  "pow",
                                              "sign", "sin",   "sinh",  "sqrt", "step",  "tan", "tanh"};
  return names;
}

const std::vector<std::string>& formula_constants() {
  static const std::vector<std::string> names{"pi", "e"};
  return names;
}

}  // namespace quintet::detail
