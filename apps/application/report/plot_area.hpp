#pragma once

#include <string>

#include "apps/application/report/axis.hpp"

namespace quintet {

/// Where the axes of a picture are on the canvas (pixels of the SVG's view box).
struct PlotArea {
  double left = 76, top = 14, width = 544, height = 300;
  [[nodiscard]] double x(double place) const { return left + width * place; }
  [[nodiscard]] double y(double place) const { return top + height * (1 - place); }
};

/// Width of the widest label of an axis (pixels).
[[nodiscard]] double label_width(const Axis& axis);

/// Moves the left edge of `area` until the numbers of `y` leave room for the label beside them.
void make_room(PlotArea& area, const Axis& y);

/// A label with signs for its units: "volume (angstrom^3)" becomes "volume (Å³)".
[[nodiscard]] std::string with_signs(std::string label);

/// Grid, ticks, labels and notes of both axes.
[[nodiscard]] std::string draw_axes(const PlotArea& area, const Axis& x, const Axis& y,
                                    const std::string& x_label, const std::string& y_label, bool grid);

/// `content` as a picture of this size.
[[nodiscard]] std::string svg(double width, double height, const std::string& description,
                              const std::string& content);

}  // namespace quintet
