#include "surrogates/sequence/windows/span.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "io/log/error.hpp"

namespace quintet::sequence {

namespace {

constexpr double days_of_year = 365.2425, most = 1e6;  ///< steps, or days

struct WordRow {
  const char* name;
  double days;
};
constexpr WordRow words[] = {{"h", 1.0 / 24},
                             {"hour", 1.0 / 24},
                             {"d", 1},
                             {"day", 1},
                             {"week", 7},
                             {"month", days_of_year / 12},
                             {"year", days_of_year}};

/// A span's number and the days of its unit, 0 of steps; none if it is neither.
std::optional<std::pair<double, double>> parts_of(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc()) return std::nullopt;
  std::string unit(rest, end);
  unit.erase(0, unit.find_first_not_of(' '));
  if (unit.empty())
    return number == std::floor(number) ? std::optional(std::pair(number, 0.0)) : std::nullopt;
  for (const auto& row : words)
    if (unit == row.name || unit == std::string(row.name) + "s") return std::pair(number, row.days);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Span::error(const std::string& key) const {
  const auto parts = parts_of(text);
  if (!parts)
    return fmt::format(
        "{}: '{}' is not a length of time; expected a number of steps, or a duration such as 91 day, 13 "
        "weeks or "
        "3 months",
        key, text);
  const auto [number, days] = *parts;
  if (days == 0 && !(number >= 1 && number <= most))
    return fmt::format("{}: {} is out of range; expected at least 1 and at most {:.0f} steps", key, text,
                       most);
  if (days > 0 && !(number > 0 && number * days <= most))
    return fmt::format("{}: {} is out of range; expected more than nothing and at most {:.0f} days", key,
                       text, most);
  return std::nullopt;
}

int Span::in_steps(const TimeStep& step) const {
  if (const auto problem = error("a span")) throw InputError(*problem);
  const auto [number, days] = *parts_of(text);
  if (days == 0) return number;
  const double of_step = step.months > 0 ? step.months * days_of_year / 12 : step.days;
  return std::max<int>(1, std::lround(std::min(most, number * days / of_step)));
}

}  // namespace quintet::sequence
