#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quintet {

/// One curve of a plot.
struct Curve {
  std::string label;
  std::vector<double> x, y;
  bool points = false;      ///< markers instead of a line
  bool dashed = false;
};

/// A line or scatter plot, drawn as inline SVG.
struct Plot {
  std::string title, x_label, y_label;   ///< labels with units: "r (angstrom)"
  std::vector<Curve> curves;
  bool log_x = false, log_y = false;
  std::string caption;                   ///< what to look at, one or two sentences
};

/// A field on a regular grid as a colour map, drawn as an inline PNG-free SVG image (base64 BMP/PNG written by us).
struct Heatmap {
  std::string title, x_label, y_label, value_label;
  std::vector<double> values;            ///< [n_y, n_x], row 0 at the bottom
  int n_x = 0, n_y = 0;
  double x_min = 0, x_max = 1, y_min = 0, y_max = 1;
  std::string caption;
};

/// report.html: one self-contained page (no scripts from elsewhere, light and dark), sections in the order they were added.
class Report {
 public:
  void title(const std::string& title, const std::string& subtitle = "");
  void section(const std::string& heading);
  void paragraph(const std::string& text);
  void table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
             const std::string& caption = "");
  void plot(const Plot& plot);
  void heatmap(const Heatmap& heatmap);
  void preformatted(const std::string& text);   ///< the configuration
  [[nodiscard]] std::string html() const;

 private:
  std::string title_, subtitle_, body_;
};

/// A page that links to several runs' reports with their headline numbers and first picture (runs/quickstart/index.html).
struct ReportLink {
  std::string name, path, text;
};
[[nodiscard]] std::string index_page(const std::string& title, const std::vector<ReportLink>& links);

}  // namespace quintet
