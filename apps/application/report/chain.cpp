#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "apps/application/report/picture.hpp"
#include "apps/application/report/plot_area.hpp"

namespace quintet {
namespace {

constexpr double box_width = 74, box_height = 46, gap = 40, margin = 14, line_height = 17;
constexpr double rise = 30;   ///< of an arc, for each box that it passes
constexpr double radius = 7;  ///< of a sum
constexpr double arrow = 5;

double left_of(int box) { return margin + box * (box_width + gap); }
/// Where arcs leave and arrive: behind a box.
double joint(int box) { return left_of(box) + box_width + gap / 2; }

std::string arrow_head(double x, double y, double dx, double dy) {
  return fmt::format("<path class=\"curve c7\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}\"/>",
                     x - arrow * (dx + dy * 0.7), y - arrow * (dy - dx * 0.7), x, y,
                     x - arrow * (dx - dy * 0.7), y - arrow * (dy + dx * 0.7));
}

std::string draw_box(const Chain::Box& box, double left, double middle) {
  std::string content = fmt::format(
      "<rect class=\"box{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"6\"/>",
      box.is_faint ? " faint" : "", left, middle - box_height / 2, box_width, box_height);
  const auto lines = 1 + std::count(box.text.begin(), box.text.end(), '\n');
  double y = middle + 5 - line_height * (lines - 1) / 2;
  for (std::size_t begin = 0; begin <= box.text.size(); y += line_height) {
    const auto end = std::min(box.text.find('\n', begin), box.text.size());
    content += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                           box.is_faint ? "number" : "label", left + box_width / 2, y,
                           escape_markup(box.text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return content;
}

std::string draw_arc(const Chain::Arc& arc, double middle) {
  const double x1 = joint(arc.from), x2 = joint(arc.to), end = middle - radius,
               top = middle - box_height / 2 - rise * std::abs(arc.to - arc.from);
  return fmt::format(
             "<path class=\"curve c0{}\" d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>",
             arc.dashed ? " dashed" : "", x1, middle, x1, top, x2, top, x2, end) +
         arrow_head(x2, end, 0, 1);
}

}  // namespace

std::string draw(const Chain& chain) {
  const int n = chain.boxes.size();
  int longest = 0;
  std::vector<bool> adds(n, false);
  for (const auto& arc : chain.arcs) {
    longest = std::max(longest, std::abs(arc.to - arc.from));
    adds.at(arc.to) = true;
  }
  // A cubic arc rises to three quarters of its control points.
  const double above = std::max(box_height / 2, 0.75 * (box_height / 2 + rise * longest)),
               middle = margin + above, height = middle + box_height / 2 + margin;
  std::string content;
  for (const auto& arc : chain.arcs) content += draw_arc(arc, middle);
  for (int i = 0; i < n; ++i) {
    content += draw_box(chain.boxes[i], left_of(i), middle);
    if (i + 1 == n) break;
    const double from = left_of(i) + box_width, to = left_of(i + 1);
    const bool sum = adds[i];
    const auto line = [&](double a, double b) {
      content +=
          fmt::format("<path class=\"curve c7\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", a, middle, b, middle);
    };
    line(from, sum ? joint(i) - radius : to);
    if (sum) {
      line(joint(i) + radius, to);
      content +=
          fmt::format("<circle class=\"box\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.0f}\"/>", joint(i), middle,
                      radius) +
          fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">+</text>",
                      joint(i), middle + 5);
    }
    content += arrow_head(to, middle, 1, 0);
  }
  return svg(2 * margin + n * box_width + (n - 1) * gap, height, chain.title, content);
}

}  // namespace quintet
