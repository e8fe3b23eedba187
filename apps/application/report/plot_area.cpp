#include "apps/application/report/plot_area.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "apps/application/report/picture.hpp"

namespace quintet {
namespace {

constexpr double digit_width = 8, tick_gap = 9;
constexpr double label_edge = 26;  // where the label of the y axis ends

std::string line(const char* kind, double x1, double y1, double x2, double y2) {
  return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", kind, x1, y1, x2, y2);
}

std::string text(double x, double y, const char* anchor, const char* kind, const std::string& words) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", kind, x, y,
                     anchor, escape_markup(words));
}

std::string draw_x_axis(const PlotArea& area, const Axis& axis, bool grid) {
  std::string content;
  const double bottom = area.top + area.height;
  for (const auto& [place, label] : axis.ticks) {
    const double x = area.x(place);
    if (grid && !label.empty()) content += line("grid", x, area.top, x, bottom);
    content += line("tick", x, bottom, x, bottom + (label.empty() ? 3 : 5));
    if (!label.empty()) content += text(x, bottom + 19, "middle", "number", label);
  }
  return content + text(area.left + area.width, bottom + 38, "end", "number", axis.note);
}

std::string draw_y_axis(const PlotArea& area, const Axis& axis, bool grid) {
  std::string content;
  for (const auto& [place, label] : axis.ticks) {
    const double y = area.y(place);
    if (grid && !label.empty()) content += line("grid", area.left, y, area.left + area.width, y);
    content += line("tick", area.left - (label.empty() ? 3 : 5), y, area.left, y);
    if (!label.empty()) content += text(area.left - tick_gap, y + 4, "end", "number", label);
  }
  return content + text(area.left, area.top - 6, "start", "number", axis.note);
}

}  // namespace

double label_width(const Axis& axis) {
  std::ptrdiff_t most = 0;
  for (const auto& tick : axis.ticks)  // a letter of UTF-8 has one byte that goes on none
    most = std::max(most, std::count_if(tick.label.begin(), tick.label.end(), [](char letter) {
                      return (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U;
                    }));
  return digit_width * static_cast<double>(most);
}

void make_room(PlotArea& area, const Axis& y) {
  const double missing = label_edge + label_width(y) + tick_gap - area.left;
  if (missing <= 0) return;
  area.left += missing;
  area.width -= missing;
}

std::string with_signs(std::string label) {
  static constexpr std::pair<const char*, const char*> signs[] = {
      {"angstrom^3", "Å³"}, {"angstrom^2", "Å²"}, {"angstrom", "Å"}, {"degC", "°C"}};
  for (const auto& [word, sign] : signs)
    for (auto at = label.find(word); at != std::string::npos; at = label.find(word, at))
      label.replace(at, std::string(word).size(), sign);
  return label;
}

std::string draw_axes(const PlotArea& area, const Axis& x, const Axis& y, const std::string& x_label,
                      const std::string& y_label, bool grid) {
  const double middle = area.top + area.height / 2;
  return draw_x_axis(area, x, grid) + draw_y_axis(area, y, grid) +
         fmt::format("<rect class=\"frame\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                     area.left, area.top, area.width, area.height) +
         text(area.left + area.width / 2, area.top + area.height + 40, "middle", "label",
              with_signs(x_label)) +
         fmt::format(
             "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(16 {:.1f}) "
             "rotate(-90)\">{}</text>",
             middle, escape_markup(with_signs(y_label)));
}

std::string svg(double width, double height, const std::string& description, const std::string& content) {
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">{}</svg>", width,
                     height, escape_markup(description), content);
}

}  // namespace quintet
