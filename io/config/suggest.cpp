#include "io/config/suggest.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/config/scalar.hpp"

namespace quintet {

namespace {

std::string folded(std::string_view name) {
  auto text = lower_case(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

}  // namespace

std::size_t edit_distance(std::string_view a_given, std::string_view b_given) {
  const auto a = folded(a_given), b = folded(b_given);
  // Rows of the table d(i, j) = distance of the first i letters of a from the first j of b.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string closest(std::string_view given, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 64;  // longer texts are not misspelt names; keeps hostile input cheap
  if (given.empty() || given.size() > longest) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, (given.size() + 1) / 3) + 1;
  for (const auto& name : names) {
    const auto distance = edit_distance(given, name);
    if (distance < best_distance && distance < std::max(given.size(), name.size())) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& names) {
  const auto name = closest(given, names);
  return name.empty() ? std::string() : fmt::format("; did you mean '{}'?", name);
}

std::string name_list(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace quintet
