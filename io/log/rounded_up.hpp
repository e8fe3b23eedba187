#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace quintet {

/// Write a number above 0 with so many significant digits, never less than it is: the least that works, as a
/// message names it.
[[nodiscard]] inline std::string rounded_up(double value, int digits = 4) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - (digits - 1));
  constexpr double slack = 1e-9;  // the text is read back in binary
  return fmt::format("{:.{}g}", std::ceil(value / unit + slack) * unit, digits);
}

}  // namespace quintet
