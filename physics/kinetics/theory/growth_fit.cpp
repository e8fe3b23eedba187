#include "physics/kinetics/theory/growth_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "io/log/error.hpp"

namespace quintet::kinetics {
namespace {

struct Samples {
  std::vector<double> t, y;  ///< y = ln(energy), or a number of the maximum
  [[nodiscard]] std::size_t size() const { return t.size(); }
  [[nodiscard]] Samples part(std::size_t first, std::size_t count) const {
    const std::ptrdiff_t i = first, j = first + count;
    return {{t.begin() + i, t.begin() + j}, {y.begin() + i, y.begin() + j}};
  }
};

struct Line {
  double slope = 0, error = 0;
};

/// Least squares: slope and its standard error.
Line fit_line(const Samples& s) {
  const double n = s.size();
  double t_mean = 0, y_mean = 0, tt = 0, ty = 0, residual = 0;
  for (std::size_t i = 0; i < s.size(); ++i) t_mean += s.t[i] / n, y_mean += s.y[i] / n;
  for (std::size_t i = 0; i < s.size(); ++i) {
    tt += (s.t[i] - t_mean) * (s.t[i] - t_mean);
    ty += (s.t[i] - t_mean) * (s.y[i] - y_mean);
  }
  const double slope = ty / tt;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const double r = s.y[i] - y_mean - slope * (s.t[i] - t_mean);
    residual += r * r;
  }
  return {slope, s.size() > 2 ? std::sqrt(residual / (n - 2) / tt) : 0};
}

/// Greatest change of the slope where only the first, the middle or the last half of the samples is taken.
double slope_variation(const Samples& s, double slope) {
  const std::size_t half = std::max<std::size_t>(2, s.size() / 2), rest = s.size() - half;
  double greatest = 0;
  for (const std::size_t first : {std::size_t{0}, rest / 2, rest})
    greatest = std::max(greatest, std::abs(fit_line(s.part(first, half)).slope - slope));
  return greatest;
}

/// Statistical and systematic error of a slope: neither hides the other.
double uncertainty_of(const Samples& s, const Line& line) {
  return std::max(line.error, slope_variation(s, line.slope));
}

/// Usable samples inside the window, as logarithms.
Samples logarithms(std::span<const double> t, std::span<const double> energy,
                   const std::optional<Window>& window) {
  QUINTET_CHECK(t.size() == energy.size(), "a time series has {} times but {} values", t.size(),
                energy.size());
  Samples samples;
  for (std::size_t i = 0; i < t.size(); ++i) {
    QUINTET_CHECK(i == 0 || t[i] > t[i - 1], "times must increase, but number {} is {} after {}", i, t[i],
                  i == 0 ? 0 : t[i - 1]);
    if (window && (t[i] < window->begin || t[i] > window->end)) continue;
    if (!(energy[i] > 0) || !std::isfinite(energy[i])) continue;
    samples.t.push_back(t[i]);
    samples.y.push_back(std::log(energy[i]));
  }
  return samples;
}

/// Sums that give the least-squares slope over any range of equidistant samples at once.
class SlopeTable {
 public:
  explicit SlopeTable(const std::vector<double>& y) : sum_(y.size() + 1), moment_(y.size() + 1) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum_[i + 1] = sum_[i] + y[i];
      moment_[i + 1] = moment_[i] + i * y[i];
    }
  }
  /// Slope per sample over samples first ... last.
  [[nodiscard]] double slope(std::size_t first, std::size_t last) const {
    const double n = last - first + 1;
    const double middle = 0.5 * (first + last);
    const double sum = sum_[last + 1] - sum_[first], moment = moment_[last + 1] - moment_[first];
    return (moment - middle * sum) * 12 / (n * (n * n - 1));
  }

 private:
  std::vector<double> sum_, moment_;
};

constexpr std::size_t n_knots = 161, quarter_least = 3;

/// ln(energy) at equidistant times: the mean of the samples near each, or else linear between samples.
std::vector<double> resampled(const Samples& s) {
  std::vector<double> knots(n_knots);
  const double begin = s.t.front(), h = (s.t.back() - begin) / (n_knots - 1);
  std::size_t next = 0;
  for (std::size_t i = 0; i < n_knots; ++i) {
    const double t = begin + i * h;
    double sum = 0;
    std::size_t n = 0;
    for (; next < s.size() && s.t[next] <= t + 0.5 * h; ++next, ++n) sum += s.y[next];
    if (n > 2) {
      knots[i] = sum / n;
      continue;
    }
    const auto j = std::clamp<std::ptrdiff_t>(std::lower_bound(s.t.begin(), s.t.end(), t) - s.t.begin(), 1,
                                              std::ssize(s) - 1);
    knots[i] = std::lerp(s.y[j - 1], s.y[j], (t - s.t[j - 1]) / (s.t[j] - s.t[j - 1]));
  }
  return knots;
}

bool slope_is_constant(const SlopeTable& table, std::size_t first, std::size_t last, double tolerance) {
  const double whole = table.slope(first, last);
  for (std::size_t q = 0; q < 4; ++q) {
    const std::size_t a = first + q * (last - first) / 4, b = first + (q + 1) * (last - first) / 4;
    if (std::abs(table.slope(a, b) - whole) > tolerance * std::abs(whole)) return false;
  }
  return true;
}

/// Find the greatest rise among all pairs, an earlier and a later value.
double greatest_rise(const std::vector<double>& y) {
  double low = y.front(), rise = 0;
  for (const double value : y) {
    low = std::min(low, value);
    rise = std::max(rise, value - low);
  }
  return rise;
}

std::optional<Window> window_in(const Samples& samples) {
  if (samples.size() < 8) return std::nullopt;
  const auto knots = resampled(samples);
  const SlopeTable table(knots);
  const double least_rise = std::max(2.0, 0.3 * greatest_rise(knots));
  const double begin = samples.t.front(), h = (samples.t.back() - begin) / (n_knots - 1);
  std::optional<Window> best;
  for (const double tolerance : {0.003, 0.01, 0.03, 0.1, 0.3}) {
    double best_rise = least_rise;
    for (std::size_t i = 0; i < n_knots; ++i)
      for (std::size_t j = i + 4 * quarter_least; j < n_knots; ++j) {
        const double rise = table.slope(i, j) * (j - i);
        if (rise < best_rise || !slope_is_constant(table, i, j, tolerance)) continue;
        best_rise = rise;
        best = {begin + i * h, begin + j * h};
      }
    if (best) return best;
  }
  return best;
}

/// Top of the parabola through three samples around i.
std::array<double, 2> refined_maximum(const Samples& s, std::size_t i) {
  const double a = s.t[i - 1] - s.t[i], b = s.t[i + 1] - s.t[i];
  const double ya = s.y[i - 1] - s.y[i], yb = s.y[i + 1] - s.y[i];
  const double curvature = (ya / a - yb / b) / (a - b), slope = ya / a - curvature * a;
  if (curvature >= 0) return {s.t[i], s.y[i]};
  const double shift = std::clamp(-0.5 * slope / curvature, a, b);
  return {s.t[i] + shift, s.y[i] + slope * shift + curvature * shift * shift};
}

/// Maxima between which ln(energy) falls by ln 2 or more on either side (at the ends: on the inner side, from
/// a sample that is not the first or last).
Samples find_maxima(const Samples& s) {
  const double fall = std::numbers::ln2;
  Samples maxima;
  std::size_t top = 0;
  double low = std::numeric_limits<double>::infinity();
  bool rising = true;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (rising) {
      if (s.y[i] > s.y[top]) top = i;
      if (s.y[i] > s.y[top] - fall) continue;
      if (top > 0) {
        const auto peak = refined_maximum(s, top);
        maxima.t.push_back(peak[0]);
        maxima.y.push_back(peak[1]);
      }
      rising = false;
      low = s.y[i];
    } else {
      low = std::min(low, s.y[i]);
      if (s.y[i] < low + fall) continue;
      rising = true;
      top = i;
    }
  }
  return maxima;
}

bool runs_straight(const Samples& run, double tolerance) {
  const double slope = fit_line(run).slope;
  const double spacing = (run.t.back() - run.t.front()) / (run.size() - 1);
  for (std::size_t i = 1; i < run.size(); ++i) {
    const double dt = run.t[i] - run.t[i - 1], local = (run.y[i] - run.y[i - 1]) / dt;
    if (std::abs(local - slope) > tolerance * std::max(std::abs(slope), 0.1 / spacing)) return false;
    if (std::abs(dt - spacing) > tolerance * spacing) return false;
  }
  return true;
}

/// The longest straight run of `least` or more maxima, of equal ones the first.
std::optional<Samples> straight_run(const Samples& maxima, std::size_t least, double tolerance) {
  for (std::size_t n = maxima.size(); n >= least; --n)
    for (std::size_t first = 0; first + n <= maxima.size(); ++first)
      if (Samples run = maxima.part(first, n); runs_straight(run, tolerance)) return run;
  return std::nullopt;
}

std::optional<Samples> best_run(const Samples& maxima) {
  for (const double tolerance : {0.01, 0.03})
    if (auto run = straight_run(maxima, 6, tolerance)) return run;
  for (const double tolerance : {0.1, 0.3})
    if (auto run = straight_run(maxima, 3, tolerance)) return run;
  return std::nullopt;
}

OscillationFit no_oscillation(std::size_t n_maxima, std::string reason) {
  OscillationFit fit;
  fit.n_maxima = n_maxima;
  fit.reason = std::move(reason);
  return fit;
}

}  // namespace

std::optional<Window> growth_window(std::span<const double> t, std::span<const double> energy) {
  return window_in(logarithms(t, energy, std::nullopt));
}

GrowthFit fit_growth(std::span<const double> t, std::span<const double> energy,
                     std::optional<Window> window) {
  GrowthFit fit;
  if (!window) window = growth_window(t, energy);
  if (!window) {
    fit.reason = "no stretch of exponential growth by e^2 in energy or more";
    return fit;
  }
  const Samples samples = logarithms(t, energy, window);
  fit.window = *window;
  fit.n_samples = samples.size();
  if (samples.size() < 4) {
    fit.reason = fmt::format("{} usable samples in t = {:g} ... {:g}, at least 4 are needed", samples.size(),
                             window->begin, window->end);
    return fit;
  }
  const Line line = fit_line(samples);
  fit.rate = 0.5 * line.slope;
  fit.uncertainty = 0.5 * uncertainty_of(samples, line);
  return fit;
}

OscillationFit fit_damped_oscillation(std::span<const double> t, std::span<const double> energy,
                                      std::optional<Window> window) {
  const Samples all = find_maxima(logarithms(t, energy, window));
  if (all.size() < 3)
    return no_oscillation(all.size(),
                          fmt::format("{} maxima of the energy, at least 3 are needed", all.size()));
  const auto run = window ? all : best_run(all);
  if (!run)
    return no_oscillation(all.size(), fmt::format("no 3 of the {} maxima follow an exponential", all.size()));
  const Samples& maxima = *run;
  const double n = maxima.size();
  const Line line = fit_line(maxima);
  Samples numbered;
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    numbered.t.push_back(i);
    numbered.y.push_back(maxima.t[i]);
  }
  const double spacing = (maxima.t.back() - maxima.t.front()) / (n - 1);
  OscillationFit fit;
  fit.omega = std::numbers::pi / spacing;
  fit.omega_uncertainty = fit.omega / spacing * uncertainty_of(numbered, fit_line(numbered));
  fit.gamma = 0.5 * line.slope;
  fit.gamma_uncertainty = 0.5 * uncertainty_of(maxima, line);
  fit.window = {maxima.t.front(), maxima.t.back()};
  fit.n_maxima = maxima.size();
  return fit;
}

}  // namespace quintet::kinetics
