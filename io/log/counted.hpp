#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace quintet {

/// Write a number with its noun in the right form: "1 atom", "3 atoms"; `many` where that is not noun + s.
template <class Number>
[[nodiscard]] std::string counted(const Number& number, std::string_view noun, std::string_view many = {}) {
  if (number == Number{1}) return fmt::format("{} {}", number, noun);
  return many.empty() ? fmt::format("{} {}s", number, noun) : fmt::format("{} {}", number, many);
}

}  // namespace quintet
