#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_set>

#include <fmt/format.h>

#include "apps/application/report/picture.hpp"
#include "apps/application/report/plot_area.hpp"

namespace quintet {
namespace {

constexpr int n_colours = 8;
constexpr double canvas_width = 640;
constexpr double legend_row = 20, letter_width = 7.4;
constexpr std::size_t many_points = 2000;

struct Point {
  double x, y;  ///< pixels; NaN where there is nothing
  [[nodiscard]] bool shown() const { return std::isfinite(x) && std::isfinite(y); }
};

std::vector<Point> to_pixels(const Curve& curve, const PlotArea& area, const Axis& x, const Axis& y) {
  std::vector<Point> points;
  const auto n = std::min(curve.x.size(), curve.y.size());
  points.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    points.push_back({area.x(x.place(curve.x[i])), area.y(y.place(curve.y[i]))});
  return points;
}

bool same_column(const Point& a, const Point& b) {
  return a.shown() && b.shown() && std::lround(a.x) == std::lround(b.x);
}

/// Keep the first, lowest, highest and last of each run of points in one column of pixels: looks the same.
std::vector<Point> thin_line(const std::vector<Point>& points) {
  if (points.size() <= many_points) return points;
  std::vector<Point> kept;
  const auto higher = [](const Point& a, const Point& b) { return a.y < b.y; };
  for (auto first = points.begin(); first != points.end();) {
    const auto last =
        std::find_if(first, points.end(), [&](const Point& p) { return !same_column(*first, p); });
    if (last - first <= 4) {
      const auto end = last == first ? first + 1 : last;  // an unshown point is a column of its own
      kept.insert(kept.end(), first, end);
      first = end;
      continue;
    }
    auto [low, high] = std::minmax_element(first, last, higher);
    if (high < low) std::swap(low, high);
    kept.insert(kept.end(), {*first, *low, *high, *(last - 1)});
    first = last;
  }
  // A curve that runs to and fro in x has many short runs: keep one point in every so many.
  const std::size_t stride = 1 + kept.size() / (10 * many_points);
  std::vector<Point> result;
  for (std::size_t i = 0; i < kept.size(); i += stride) result.push_back(kept[i]);
  return result;
}

/// Keep one of several markers that nearly coincide.
std::vector<Point> thin_markers(const std::vector<Point>& points) {
  const double size = points.size() > many_points ? 2.5 : 0.1;
  std::unordered_set<std::int64_t> taken;
  std::vector<Point> kept;
  for (const auto& point : points)
    if (point.shown() &&
        taken.insert(std::llround(point.x / size) * 100000 + std::llround(point.y / size)).second)
      kept.push_back(point);
  return kept;
}

std::string line_path(const std::vector<Point>& points) {
  std::string path;
  bool pen_down = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].shown())
      path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", points[i].x, points[i].y);
    // A point alone between gaps is a dot.
    const bool alone = points[i].shown() && !pen_down && (i + 1 == points.size() || !points[i + 1].shown());
    if (alone) path += "h0";
    pen_down = points[i].shown();
  }
  return path;
}

std::string marker_path(const std::vector<Point>& points) {
  std::string path;
  for (const auto& point : points) path += fmt::format("M{:.1f} {:.1f}h0", point.x, point.y);
  return path;
}

std::string path_element(const Curve& curve, std::size_t colour, const std::string& path) {
  return fmt::format("<path class=\"{}{} c{}\" d=\"{}\"/>", curve.points ? "markers" : "curve",
                     curve.dashed && !curve.points ? " dashed" : "", colour % n_colours, path);
}

std::string draw_curve(const Curve& curve, std::size_t colour, const PlotArea& area, const Axis& x,
                       const Axis& y) {
  const auto points = to_pixels(curve, area, x, y);
  const std::string path = curve.points ? marker_path(thin_markers(points)) : line_path(thin_line(points));
  return path.empty() ? "" : path_element(curve, colour, path);
}

std::string level_element(const Level& level, const std::string& path) {
  return fmt::format("<path class=\"level{}\" d=\"{}\"/>", level.dashed ? " dashed" : "", path);
}

/// Lines across the plot area.
std::string draw_levels(const std::vector<Level>& levels, const PlotArea& area, const Axis& axis) {
  std::string content;
  for (const auto& level : levels)
    if (const double y = area.y(axis.place(level.y)); std::isfinite(y))
      content +=
          level_element(level, fmt::format("M{:.1f} {:.1f}H{:.1f}", area.left, y, area.left + area.width));
  return content;
}

/// Rows of samples with their labels above the plot area.
class Legend {
 public:
  explicit Legend(const PlotArea& area) : left_(area.left), x_(area.left) {}

  /// `sample` draws 22 pixels at a place.
  template <class Sample>
  void add(const std::string& label, const Sample& sample) {
    if (label.empty()) return;
    const double width = 44 + letter_width * label.size();
    if (x_ > left_ && x_ + width > canvas_width) {
      x_ = left_;
      y_ += legend_row;
    }
    content_ += sample(x_, y_) + fmt::format("<text class=\"legend\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                                             x_ + 28, y_ + 4, escape_markup(label));
    x_ += width;
  }
  [[nodiscard]] const std::string& content() const { return content_; }
  [[nodiscard]] double height() const { return content_.empty() ? 0 : y_ + 8; }

 private:
  std::string content_;
  double left_, x_, y_ = 12;
};

/// Numbers of the curves' colours. A dashed one without a label belongs to the one before and has its colour.
std::vector<std::size_t> colours_of(const std::vector<Curve>& curves) {
  std::vector<std::size_t> colours;
  for (std::size_t i = 0, next = 0; i < curves.size(); ++i) {
    const bool belongs = i > 0 && curves[i].dashed && curves[i].label.empty();
    colours.push_back(belongs ? colours.back() : next++);
  }
  return colours;
}

/// Draws the legend of curves and levels above the plot area and moves that down by its height.
std::string draw_legend(const Plot& plot, const std::vector<std::size_t>& colours, PlotArea& area) {
  Legend legend(area);
  for (std::size_t i = 0; i < plot.curves.size(); ++i)
    legend.add(plot.curves[i].label, [&](double x, double y) {
      const std::string sample = plot.curves[i].points ? fmt::format("M{:.1f} {:.1f}h0", x + 11, y)
                                                       : fmt::format("M{:.1f} {:.1f}h22", x, y);
      return path_element(plot.curves[i], colours[i], sample);
    });
  for (const auto& level : plot.levels)
    if (std::isfinite(level.y))
      legend.add(level.label, [&](double x, double y) {
        return level_element(level, fmt::format("M{:.1f} {:.1f}h22", x, y));
      });
  area.top += legend.height();
  return legend.content();
}

}  // namespace

std::string draw(const Plot& plot) {
  Range x_range(plot.log_x), y_range(plot.log_y);
  for (const auto& curve : plot.curves)
    for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
      // Both or none: a point that one axis cannot show must not widen the other.
      const bool shown = std::isfinite(curve.x[i]) && std::isfinite(curve.y[i]) &&
                         !(plot.log_x && curve.x[i] <= 0) && !(plot.log_y && curve.y[i] <= 0);
      if (!shown) continue;
      x_range.include(curve.x[i]);
      y_range.include(curve.y[i]);
    }
  if (!y_range.empty())
    for (const auto& level : plot.levels) y_range.include(level.y);
  const Axis x = make_axis(x_range, 0.01, 7), y = make_axis(y_range, 0.05, 6);

  PlotArea area;
  make_room(area, y);
  const auto colours = colours_of(plot.curves);
  std::string content = draw_legend(plot, colours, area);
  if (!y.note.empty()) area.top += 12;
  content += draw_axes(area, x, y, plot.x_label, plot.y_label, true);
  for (std::size_t i = 0; i < plot.curves.size(); ++i)
    content += draw_curve(plot.curves[i], colours[i], area, x, y);
  content += draw_levels(plot.levels, area, y);
  if (x.empty)
    content +=
        fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">no data</text>",
                    area.x(0.5), area.y(0.5));
  return svg(canvas_width, area.top + area.height + 50, plot.title, content);
}

}  // namespace quintet
