#include "apps/application/report/colour_map.hpp"

#include <algorithm>
#include <cmath>

namespace quintet {
namespace {

/// Nine colours of matplotlib's viridis (S. van der Walt, N. Smith, CC0), equally spaced.
constexpr Colour viridis[] = {{68, 1, 84},    {71, 44, 122}, {59, 81, 139},  {44, 113, 142}, {33, 144, 141},
                              {39, 173, 129}, {92, 200, 99}, {170, 220, 50}, {253, 231, 37}};

/// Blue, white, red: as light on one side as on the other.
constexpr Colour blue_white_red[] = {{16, 42, 110},   {35, 85, 165},   {80, 140, 205},
                                     {165, 205, 235}, {246, 246, 244}, {245, 195, 165},
                                     {222, 125, 92},  {178, 55, 48},   {110, 14, 30}};

}  // namespace

std::vector<Colour> colour_palette(bool about_zero) {
  const auto& colours = about_zero ? blue_white_red : viridis;
  std::vector<Colour> palette = {{0, 0, 0}};
  for (int i = 0; i < 255; ++i) {
    const double place = i / 254.0 * 8;
    const auto from = std::min<std::size_t>(place, 7);
    Colour colour{};
    for (std::size_t k = 0; k < 3; ++k)
      colour[k] = static_cast<std::uint8_t>(
          std::lround(colours[from][k] + (place - from) * (colours[from + 1][k] - colours[from][k])));
    palette.push_back(colour);
  }
  return palette;
}

std::uint8_t colour_index(double place) {
  return std::isnan(place) ? 0
                           : static_cast<std::uint8_t>(1 + std::lround(254 * std::clamp(place, 0.0, 1.0)));
}

}  // namespace quintet
