#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Types that a plain scalar can be read as. Shared by the files of this folder.
namespace quintet {

/// A decimal number at the start of a text.
struct NumberPrefix {
  double value = 0;
  std::size_t length = 0;  ///< characters it takes, sign included
  bool in_range = true;    ///< false if it over- or underflows a double
};

/// The decimal number a text starts with; nothing for inf, nan, hexadecimal numbers and words.
[[nodiscard]] std::optional<NumberPrefix> number_prefix(std::string_view text);
/// The whole text as a finite number.
[[nodiscard]] std::optional<double> to_number(std::string_view text);
/// The whole text as an integer: 1000, and 1e6 or 2.0 because they are whole and exact.
[[nodiscard]] std::optional<std::int64_t> to_integer(std::string_view text);
/// 0,5 -> "0.5": a text that begins with a number with one comma, where this does not group thousands; else
/// nothing.
[[nodiscard]] std::optional<std::string> without_decimal_comma(std::string_view text);
/// true/false/yes/no/on/off in any case.
[[nodiscard]] std::optional<bool> to_boolean(std::string_view text);
/// Whether YAML reads the plain text as null: empty, ~, null.
[[nodiscard]] bool is_null_text(std::string_view text);
/// Whether YAML reads the plain text as NaN or an infinity: .nan, .inf, -.inf.
[[nodiscard]] bool is_nonfinite_text(std::string_view text);
/// Shortest decimal text that reads back as the same double.
[[nodiscard]] std::string number_text(double value);
/// ASCII letters in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);
/// Without white space at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace quintet
