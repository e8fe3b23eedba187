#include "apps/quintet/plan/text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace quintet {

std::string bytes_text(double bytes) {
  constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < units.size()) bytes /= 1000, ++unit;
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string seconds_text(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds < 1e-3) return fmt::format("{:.3g} us", 1e6 * seconds);
  if (seconds < 1) return fmt::format("{:.3g} ms", 1e3 * seconds);
  if (seconds < 100) return fmt::format("{:.3g} s", seconds);
  if (seconds < 6000) return fmt::format("{:.3g} min", seconds / 60);
  return fmt::format("{:.3g} h", seconds / 3600);
}

std::string columns_text(const std::vector<std::vector<std::string>>& lines,
                         const std::vector<std::string>& remarks) {
  std::vector<std::size_t> widths(lines.front().size(), 0);
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    std::string words;
    for (std::size_t i = 0; i < lines[k].size(); ++i)
      words += fmt::format("{:<{}}  ", lines[k][i], widths[i]);
    words += remarks[k];
    text += words.substr(0, words.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace quintet
