#include "io/config/scalar.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

namespace quintet {

namespace {
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t length_of_digits(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}
}  // namespace

std::optional<NumberPrefix> number_prefix(std::string_view text) {
  const std::size_t sign = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
  const auto digits = text.substr(sign);
  const bool starts = !digits.empty() &&
                      (is_digit(digits[0]) || (digits.size() > 1 && digits[0] == '.' && is_digit(digits[1])));
  if (!starts) return std::nullopt;

  NumberPrefix number;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number.value);
  number.length = sign + (end - digits.data());
  number.in_range = error == std::errc{};
  if (text[0] == '-') number.value = -number.value;
  return number;
}

std::optional<double> to_number(std::string_view text) {
  const auto number = number_prefix(text);
  if (!number || number->length != text.size() || !number->in_range) return std::nullopt;
  return number->value;
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  const auto digits = text.starts_with('+') ? text.substr(1) : text;
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
  if (error == std::errc{} && end == digits.data() + digits.size() && is_digit(digits.back())) return whole;
  const auto number = to_number(text);
  constexpr double exact = 9007199254740992.0;  // 2^53: every whole number up to here is a double
  if (!number || std::abs(*number) > exact || std::trunc(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<bool> to_boolean(std::string_view text) {
  const auto word = lower_case(text);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return std::nullopt;
}

std::optional<std::string> without_decimal_comma(std::string_view text) {
  const auto sign = text.starts_with('-') || text.starts_with('+') ? 1U : 0U;
  const auto whole = sign + length_of_digits(text.substr(sign));
  if (whole == sign || text.substr(whole, 1) != ",") return std::nullopt;
  const auto fraction = length_of_digits(text.substr(whole + 1));
  const auto rest = text.substr(whole + 1 + fraction);
  // 1,000 is a thousand to some and one to others: not for us to say.
  if (fraction == 0 || fraction == 3 || rest.starts_with(',') || rest.starts_with('.')) return std::nullopt;
  return fmt::format("{}.{}", text.substr(0, whole), text.substr(whole + 1));
}

bool is_null_text(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

bool is_nonfinite_text(std::string_view text) {
  const auto word = lower_case(text);
  return word == ".nan" || word == ".inf" || word == "+.inf" || word == "-.inf";
}

std::string number_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  return fmt::format("{}", value);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(c < 0x80 ? std::tolower(c) : c); });
  return lower;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace quintet
