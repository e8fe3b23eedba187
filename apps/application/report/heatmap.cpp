#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "apps/application/report/colour_map.hpp"
#include "apps/application/report/picture.hpp"
#include "apps/application/report/plot_area.hpp"
#include "apps/application/report/png.hpp"

namespace quintet {
namespace {

constexpr int most_pixels = 512;  // along one side; finer fields are averaged
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Mean of the finite values of a block of cells.
double block_mean(const Heatmap& map, int x0, int x1, int y0, int y1) {
  double sum = 0;
  int n = 0;
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x) {
      const double value = map.values[std::int64_t{y} * map.n_x + x];
      if (!std::isfinite(value)) continue;
      sum += value;
      ++n;
    }
  return n > 0 ? sum / n : nan;
}

/// The field as a PNG of at most `most_pixels` a side, top row first.
std::string field_png(const Heatmap& map, const Range& range) {
  const int block_x = (map.n_x + most_pixels - 1) / most_pixels,
            block_y = (map.n_y + most_pixels - 1) / most_pixels;
  const int width = (map.n_x + block_x - 1) / block_x, height = (map.n_y + block_y - 1) / block_y;
  const double length = range.high() - range.low();
  std::vector<std::uint8_t> indices;
  indices.reserve(std::int64_t{width} * height);
  for (int row = height - 1; row >= 0; --row)
    for (int column = 0; column < width; ++column) {
      const double value = block_mean(map, column * block_x, std::min((column + 1) * block_x, map.n_x),
                                      row * block_y, std::min((row + 1) * block_y, map.n_y));
      indices.push_back(colour_index(length > 0 ? (value - range.low()) / length : value - value + 0.5));
    }
  return encode_png(width, height, indices, colour_palette(map.about_zero));
}

std::string image(const PlotArea& area, const std::string& png) {
  return fmt::format(
      "<image class=\"field\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "preserveAspectRatio=\"none\" href=\"data:image/png;base64,{}\"/>",
      area.left, area.top, area.width, area.height, encode_base64(png));
}

/// The background that shows in cells without a value.
std::string blanks(const PlotArea& area, const Heatmap& map) {
  if (!map.grey_blanks) return "";
  return fmt::format(R"(<rect class="blank" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)",
                     area.left, area.top, area.width, area.height);
}

std::string colour_bar(const PlotArea& field, const Axis& axis, const Heatmap& map) {
  const PlotArea bar{field.left + field.width + 18, field.top, 16, field.height};
  std::vector<std::uint8_t> indices;
  for (int i = 255; i > 0; --i) indices.push_back(i);
  std::string content = image(bar, encode_png(1, 255, indices, colour_palette(map.about_zero)));
  for (const auto& [place, text] : axis.ticks)
    content += fmt::format("<text class=\"number\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", bar.left + 22,
                           bar.y(place) + 4, text);
  content += fmt::format("<text class=\"number\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", bar.left, bar.top - 8,
                         axis.note);
  return content + fmt::format(
                       "<text class=\"label\" text-anchor=\"middle\" transform=\"translate({:.1f} {:.1f}) "
                       "rotate(-90)\">{}</text>",
                       bar.left + std::min(92.0, 44 + label_width(axis)), bar.top + bar.height / 2,
                       escape_markup(with_signs(map.value_label)));
}

Range range_of(double low, double high) {
  Range range;
  range.include(low);
  range.include(high);
  return range;
}

/// Height of the plot area in the proportions of the field, within reason.
double frame_height(const Heatmap& map, double width) {
  const double ratio = (map.y_max - map.y_min) / (map.x_max - map.x_min);
  const bool alike = std::isfinite(ratio) && ratio > 0.2 && ratio < 1.2;
  return alike ? width * ratio : 300;
}

}  // namespace

std::string draw(const Heatmap& map) {
  Range values;
  for (const double value : map.values) values.include(value);
  if (map.about_zero && !values.empty()) {
    const double most = std::max(std::abs(values.low()), std::abs(values.high()));
    values.include(-most), values.include(most);
  }
  const Axis x = make_axis(range_of(map.x_min, map.x_max), 0, 6),
             y = make_axis(range_of(map.y_min, map.y_max), 0, 6);
  const Axis bar = make_axis(values, 0, 6);
  PlotArea area;
  area.width = 430;
  area.top = 22;
  make_room(area, y);
  area.height = frame_height(map, area.width);
  const double height = area.top + area.height + 50;

  const bool whole =
      map.n_x > 0 && map.n_y > 0 && map.values.size() == static_cast<std::size_t>(map.n_x) * map.n_y;
  if (!whole || values.empty())
    return svg(
        640, height, map.title,
        draw_axes(area, x, y, map.x_label, map.y_label, false) +
            fmt::format(
                "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">no data</text>",
                area.x(0.5), area.y(0.5)));
  return svg(640, height, map.title,
             blanks(area, map) + image(area, field_png(map, values)) +
                 draw_axes(area, x, y, map.x_label, map.y_label, false) + colour_bar(area, bar, map));
}

}  // namespace quintet
