#include <cmath>

#include <fmt/format.h>

#include "apps/application/report/colour_map.hpp"
#include "apps/application/report/picture.hpp"

namespace quintet {
namespace {

constexpr int gap = 3;  // pixels between panels

/// A frame's panels below each other, top rows first.
std::vector<std::uint8_t> stacked(const Film& film, const std::vector<std::vector<double>>& panels) {
  std::vector<std::uint8_t> indices;
  for (const auto& panel : panels) {
    if (!indices.empty()) indices.insert(indices.end(), std::size_t{gap} * film.n_x, 0);
    for (int y = film.n_y - 1; y >= 0; --y)
      for (int x = 0; x < film.n_x; ++x) {
        const double value = panel[std::int64_t{y} * film.n_x + x];
        indices.push_back(
            colour_index(film.high > film.low ? (value - film.low) / (film.high - film.low) : 0.5));
      }
  }
  return indices;
}

}  // namespace

std::string draw(const Film& film) {
  if (film.frames.empty()) return "<p>no data</p>";
  std::vector<std::vector<std::uint8_t>> frames;
  for (const auto& panels : film.frames) frames.push_back(stacked(film, panels));
  const int n_panels = film.frames.front().size();
  const int height = n_panels * film.n_y + (n_panels - 1) * gap;
  return fmt::format(
      "<img class=\"film\" alt=\"{}\" width=\"{}\" height=\"{}\" src=\"data:image/png;base64,{}\">",
      escape_markup(film.title), film.n_x, height,
      encode_base64(encode_film(film.n_x, height, frames, colour_palette(), film.milliseconds)));
}

}  // namespace quintet
