#pragma once

#include <string>
#include <vector>

namespace quintet {

/// One axis of a picture: its range, where its ticks are and how they read.
struct Axis {
  struct Tick {
    double place;       ///< 0 at the low end, 1 at the high end
    std::string label;  ///< "" for a minor tick
  };
  double low = 0, high = 1;  ///< of log10(value) if logarithmic
  bool logarithmic = false;
  bool empty = true;  ///< nothing to show: no finite value
  std::vector<Tick> ticks;
  std::string note;  ///< what the labels leave out: "×10⁻³", "×10⁻⁶ − 1234.5"

  /// Where a value is, 0 to 1; NaN if the axis cannot show it.
  [[nodiscard]] double place(double value) const;
};

/// Least and greatest of what an axis can show.
class Range {
 public:
  explicit Range(bool logarithmic = false) : logarithmic_(logarithmic) {}
  void include(double value);
  [[nodiscard]] bool empty() const { return low_ > high_; }
  [[nodiscard]] double low() const { return low_; }  ///< of log10(value) if logarithmic
  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] bool logarithmic() const { return logarithmic_; }

 private:
  bool logarithmic_;
  double low_ = 1, high_ = 0;
};

/// An axis over a range widened by `margin` of its length, with about `n_ticks` ticks at 1, 2 or 5 times a
/// power of ten (decades if logarithmic). A range of no length is widened, an empty one becomes 0 to 1.
[[nodiscard]] Axis make_axis(const Range& range, double margin, int n_ticks);

}  // namespace quintet
