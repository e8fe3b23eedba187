#pragma once

#include <string>
#include <vector>

namespace quintet {

/// One curve of a plot. A NaN breaks the line; points that an axis cannot show (log of x <= 0) are left out.
struct Curve {
  std::string label;  ///< "" keeps it out of the legend
  std::vector<double> x, y;
  bool points = false;  ///< markers instead of a line
  bool dashed = false;
};

/// A horizontal line to read curves against: "target 300 K", "mean 300.2 ± 0.9 K".
struct Level {
  double y = 0;
  std::string label;  ///< in the legend
  bool dashed = false;
};

/// A line or scatter plot, drawn as inline SVG. Long curves are thinned to what the eye can tell apart.
struct Plot {
  std::string title, x_label, y_label;  ///< labels with units: "r (angstrom)"
  std::vector<Curve> curves;
  bool log_x = false, log_y = false;
  std::string caption;  ///< what to look at, one or two sentences
  std::vector<Level> levels{};
};

/// A field on a regular grid as a colour map, drawn as an inline PNG with axes and a colour bar. NaN is left
/// blank.
struct Heatmap {
  std::string title, x_label, y_label, value_label;
  std::vector<double> values;  ///< [n_y, n_x], row 0 at the bottom
  int n_x = 0, n_y = 0;
  double x_min = 0, x_max = 1, y_min = 0, y_max = 1;
  std::string caption;
  bool about_zero = false;   ///< blue below 0, red above, alike on both sides
  bool grey_blanks = false;  ///< cells without a value are grey: land
};

/// Fields on equal pixels over time, as a film (an animated PNG) without controls: panels below each other,
/// all in the same colours.
struct Film {
  std::string title;
  int n_x = 0, n_y = 0;                                  ///< pixels of a panel
  double low = 0, high = 1;                              ///< values of the first and the last colour
  std::vector<std::vector<std::vector<double>>> frames;  ///< [frame][panel][n_y, n_x], row 0 at the bottom
  int milliseconds = 150;                                ///< that a frame stands
  std::string caption;
};

/// A chain of boxes, each of which reads what the one before it gives, and arcs that add what an earlier box
/// gave: the drawing of a network.
struct Chain {
  struct Box {
    std::string text;       ///< a new line at '\n'
    bool is_faint = false;  ///< there, but does nothing
  };
  /// Arc of the drawing: the output of box `from` is added to that of box `to`.
  struct Arc {
    int from = 0, to = 1;
    bool dashed = false;
  };
  std::string title;
  std::vector<Box> boxes;
  std::vector<Arc> arcs;
  std::string caption;
};

/// A tile at the top of a page: one number as a person would write it.
struct Headline {
  std::string name, value;  ///< "temperature", "300.2 ± 0.9 K"
  std::string doubt{};      ///< why not to believe it, a sentence: the tile is red
};

/// One line of what was run: "system", "864 Cu atoms in a cell of 21.9 x 21.9 x 21.9 Å".
struct Fact {
  std::string name, text;
};

/// One bar of a horizontal bar chart.
struct Bar {
  std::string label;
  int depth = 0;      ///< indentation: part of the bar above it that has a smaller depth
  double part = 0;    ///< length, 0 to 1
  std::string text;   ///< at its right end
  bool rest = false;  ///< what no other bar shows
};

/// report.html: one self-contained page (no scripts, no files, light and dark), parts in the order they were
/// added. Tables of more than 60 rows open where the reader clicks.
class Report {
 public:
  void title(const std::string& title, const std::string& subtitle = "");
  void status(const std::string& status, bool good, const std::string& message = "");
  void facts(const std::vector<Fact>& facts);
  void headlines(const std::vector<Headline>& headlines);
  void section(const std::string& heading);
  void paragraph(const std::string& text);
  void warning(const std::string& text);
  void table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
             const std::string& caption = "");
  void plot(const Plot& plot);
  void heatmap(const Heatmap& heatmap);
  void film(const Film& film);
  void chain(const Chain& chain);
  void bars(const std::vector<Bar>& bars, const std::string& caption = "");
  void preformatted(const std::string& text);  ///< the configuration
  /// The parts of another report.
  void append(const Report& other) { body_ += other.body_; }
  [[nodiscard]] std::string html() const;

 private:
  std::string title_, subtitle_, body_;
};

/// A link of an index page.
struct ReportLink {
  std::string name, path, text{};  ///< path relative to the index page
  std::vector<Fact> facts{};
  std::vector<Headline> headlines{};
  std::string picture{};  ///< SVG of first_picture(), or ""
};

/// A page that links to several runs' reports with their headline numbers and first picture
/// (runs/quickstart/index.html).
[[nodiscard]] std::string index_page(const std::string& title, const std::vector<ReportLink>& links);

/// The first picture of a page made by Report::html(), or "" if it has none.
[[nodiscard]] std::string first_picture(const std::string& html);

}  // namespace quintet
