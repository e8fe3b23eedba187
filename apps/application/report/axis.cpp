#include "apps/application/report/axis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace quintet {
namespace {

constexpr double largest_shown = 1e300;  // so that a range never overflows
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The value as the axis counts it, or NaN.
double on_axis(double value, bool logarithmic) {
  if (!std::isfinite(value) || std::abs(value) > largest_shown) return nan;
  if (!logarithmic) return value;
  return value > 0 ? std::log10(value) : nan;
}

std::string minus_sign(std::string number) {
  const auto at = number.find('-');
  if (at != std::string::npos) number.replace(at, 1, "−");
  return number;
}

std::string superscript(int number) {
  static const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = number < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(number))) text += digits[digit - '0'];
  return text;
}

/// The step of 1, 2 or 5 times a power of ten that is nearest to `rough`.
double nice_step(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

int exponent_of(double value) {
  return value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
}

void add_linear_ticks(Axis& axis, int n_ticks) {
  const double length = axis.high - axis.low, step = nice_step(length / n_ticks);
  const double largest = std::max(std::abs(axis.low), std::abs(axis.high));
  // A small change of a large number: the labels show the change alone, the note says from where.
  const bool shifted = largest > 2e4 * length;
  const double base = shifted ? std::round(axis.low / (10 * step)) * 10 * step : 0;
  const double shown = shifted ? std::max(std::abs(axis.low - base), std::abs(axis.high - base)) : largest;
  const int power = exponent_of(shown);
  const int common = power >= 5 || power <= -4 ? power : 0;
  const double unit = std::pow(10, common);
  const int decimals = std::max(0, -exponent_of(step / unit));

  for (double k = std::ceil((axis.low - base) / step - 1e-9); base + k * step <= axis.high + 1e-9 * step; ++k)
    axis.ticks.push_back({(base + k * step - axis.low) / length,
                          minus_sign(fmt::format("{:.{}f}", k == 0 ? 0.0 : k * step / unit, decimals))});
  if (common != 0) axis.note = "×10" + superscript(common);
  if (shifted) {
    const int base_decimals = std::clamp(-exponent_of(10 * step), 0, 15);
    axis.note += fmt::format("{}{} {:.{}f}", axis.note.empty() ? "" : " ", base < 0 ? "−" : "+",
                             std::abs(base), base_decimals);
  }
}

std::string decade_label(int decade, bool plain) {
  return plain ? fmt::format("{:g}", std::pow(10, decade)) : "10" + superscript(decade);
}

void add_logarithmic_ticks(Axis& axis, int n_ticks) {
  const double length = axis.high - axis.low;
  const int first = std::floor(axis.low), last = std::ceil(axis.high);
  const int every = std::max(1, (last - first) / (n_ticks + 1));
  const bool plain = first >= -3 && last <= 4, label_between = length < 1.6;
  for (int decade = first; decade <= last; ++decade)
    for (int digit = 1; digit < 10; ++digit) {
      const double place = (decade + std::log10(digit) - axis.low) / length;
      if (place < -1e-9 || place > 1 + 1e-9 || (digit > 1 && every > 1)) continue;
      std::string label;
      if (digit == 1 && decade % every == 0) label = decade_label(decade, plain);
      if (label_between && (digit == 2 || digit == 5))
        label = plain ? fmt::format("{:g}", digit * std::pow(10, decade))
                      : fmt::format("{}·10{}", digit, superscript(decade));
      axis.ticks.push_back({place, label});
    }
  const auto n_labels = std::count_if(axis.ticks.begin(), axis.ticks.end(),
                                      [](const auto& tick) { return !tick.label.empty(); });
  if (n_labels >= 2) return;
  // A range between such numbers: those of a linear axis, where the logarithm puts them.
  Axis linear;
  linear.low = std::pow(10, axis.low), linear.high = std::pow(10, axis.high);
  add_linear_ticks(linear, n_ticks);
  axis.ticks.clear();
  for (const auto& tick : linear.ticks)
    axis.ticks.push_back({axis.place(linear.low + tick.place * (linear.high - linear.low)), tick.label});
  axis.note = linear.note;
}

}  // namespace

void Range::include(double value) {
  const double counted = on_axis(value, logarithmic_);
  if (std::isnan(counted)) return;
  if (empty()) low_ = high_ = counted;
  low_ = std::min(low_, counted);
  high_ = std::max(high_, counted);
}

double Axis::place(double value) const { return (on_axis(value, logarithmic) - low) / (high - low); }

Axis make_axis(const Range& range, double margin, int n_ticks) {
  Axis axis;
  axis.logarithmic = range.logarithmic();
  axis.empty = range.empty();
  if (!range.empty()) {
    axis.low = range.low();
    axis.high = range.high();
  }
  // What double cannot resolve is noise: drawn as the constant it is.
  const double middle = axis.low / 2 + axis.high / 2, least = std::abs(middle) * 1e-13;
  double widen = margin * (axis.high - axis.low);
  if (axis.high - axis.low <= least)
    widen = axis.logarithmic ? 0.5 : middle == 0 ? 1 : 0.1 * std::abs(middle);
  axis.low -= widen;
  axis.high += widen;
  if (axis.logarithmic)
    add_logarithmic_ticks(axis, n_ticks);
  else
    add_linear_ticks(axis, n_ticks);
  return axis;
}

}  // namespace quintet
