#include "physics/kinetics/theory/wave_modes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "io/log/error.hpp"
#include "physics/kinetics/theory/matrix_pencil.hpp"

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;
using Vector = std::vector<Complex>;
constexpr Complex imaginary{0, 1};
constexpr int most_samples = 160, least_samples = 12, few_modes = 6, most_modes = 8;
constexpr double steady_change = 0.5;  // of ln(amplitude) or of the phase over the window

/// Whether some more waves leave a much smaller rest: half of it one more, 0.3 two more, and half as much
/// with each further one. Several, since a steady part beside two equally strong pairs is five waves at once.
bool more_explain(const std::vector<PencilFit>& fits, std::size_t i) {
  double much = 0.5, next = 0.3;
  for (std::size_t j = i + 1; j < fits.size(); ++j) {
    if (fits[j].rest <= much * fits[i].rest) return true;
    much = next;
    next *= 0.5;
  }
  return false;
}

/// The least number of waves after which more leave a rest that is not much smaller. More than a few only
/// where those explain little: the last ones of many follow noise.
std::size_t choose(const std::vector<PencilFit>& fits) {
  constexpr double nothing = 1e-9, little = 1e-3;
  std::size_t best = 0;
  for (std::size_t i = 0; i + 2 < fits.size(); ++i) {
    best = i;
    const double well = i + 1 < few_modes ? nothing : little;
    if (fits[i].rest < well || !more_explain(fits, i)) break;
  }
  return best;
}

/// Distance to the nearest of the frequencies, real and imaginary part.
Complex nearest(const PencilFit& fit, Complex omega) {
  Complex best{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (const Complex one : fit.omega)
    if (const Complex d = one - omega; std::abs(d) < std::abs(best))
      best = {std::abs(d.real()), std::abs(d.imag())};
  return best;
}

/// The steady part at a time.
Complex steady_at(const WaveFit& fit, double t) {
  return fit.steady.amplitude * std::exp(-imaginary * fit.steady.omega * (t - fit.window.begin));
}

/// Make shares those of what swings: a strong steady part hides no wave.
void share_without_steady(const EquidistantSeries& series, WaveFit& fit) {
  Vector rest = series.s;
  for (int k = 0; k < series.size(); ++k) rest[k] -= steady_at(fit, series.begin + k * series.dt);
  const double part = std::pow(norm_of(rest) / norm_of(series.s), 2);
  for (auto& mode : fit.modes) mode.share /= part;
}

// The uncertainty is the spread of what other orders and shorter windows find: a fit's own residual knows
// nothing of a wrong model. What is steady is set apart first: its omega is 0, so that no part of omega
// bounds its doubt.
WaveFit fit_series(const EquidistantSeries& series) {
  WaveFit result;
  result.window = {series.begin, series.begin + series.length()};
  result.n_samples = series.size();
  if (series.size() < least_samples) {
    result.reason = fmt::format("{} samples, at least {} are needed", series.size(), least_samples);
    return result;
  }
  if (!(norm_of(series.s) > 0)) {
    result.reason = "the signal is 0";
    return result;
  }
  const auto fits = pencil_fits(series, most_modes + 2);
  const std::size_t chosen = choose(fits);
  const PencilFit& fit = fits[chosen];
  result.noise = fit.rest;
  std::vector<PencilFit> others;
  if (chosen + 1 < fits.size()) others.push_back(fits[chosen + 1]);
  for (const auto& part : {series.part(0, 0.75), series.part(0.25, 1)}) {
    if (part.size() < least_samples) continue;
    others.push_back(pencil_fit(part, fit.omega.size()));
  }
  for (std::size_t j = 0; j < fit.omega.size(); ++j) {
    WaveMode mode;
    mode.omega = fit.omega[j];
    mode.amplitude = fit.amplitude[j];
    mode.share = fit.share[j];
    mode.omega_uncertainty = mode.gamma_uncertainty = standard_error(fit, series, j);
    for (const PencilFit& other : others) {
      const Complex change = nearest(other, mode.omega);
      mode.omega_uncertainty = std::max(mode.omega_uncertainty, change.real());
      mode.gamma_uncertainty = std::max(mode.gamma_uncertainty, change.imag());
    }
    const double doubt = std::max(mode.omega_uncertainty, mode.gamma_uncertainty);
    if (std::max(std::abs(mode.omega), doubt) * series.length() < steady_change) {
      if (mode.share > result.steady.share) result.steady = mode;
    } else if (doubt < std::abs(mode.omega) / 3) {
      result.modes.push_back(mode);
    }
  }
  share_without_steady(series, result);
  std::sort(result.modes.begin(), result.modes.end(),
            [](const WaveMode& a, const WaveMode& b) { return a.share > b.share; });
  if (result.modes.empty()) result.reason = "no wave stands out of the noise";
  return result;
}

/// Cubic through the four samples around a time.
Complex interpolated(std::span<const double> t, std::span<const Complex> s, double time) {
  const std::ptrdiff_t n = t.size();
  const auto above = std::upper_bound(t.begin(), t.end(), time) - t.begin();
  const auto first = std::clamp<std::ptrdiff_t>(above - 2, 0, std::max<std::ptrdiff_t>(n - 4, 0));
  Complex sum = 0;
  for (std::ptrdiff_t i = first; i < std::min(first + 4, n); ++i) {
    double weight = 1;
    for (std::ptrdiff_t j = first; j < std::min(first + 4, n); ++j)
      if (j != i) weight *= (time - t[j]) / (t[i] - t[j]);
    sum += weight * s[i];
  }
  return sum;
}

/// Samples of a stretch, at most most_samples.
EquidistantSeries equidistant(std::span<const double> t, std::span<const Complex> s, const Window& window) {
  const auto first = std::lower_bound(t.begin(), t.end(), window.begin) - t.begin(),
             last = std::upper_bound(t.begin(), t.end(), window.end) - t.begin();
  EquidistantSeries series;
  if (last - first < least_samples) {
    series.s.resize(static_cast<int>(std::max<std::ptrdiff_t>(last - first, 0)));
    return series;
  }
  const int n = std::min<int>(static_cast<int>(last - first), most_samples);
  series.begin = t[first];
  series.dt = (t[last - 1] - t[first]) / (n - 1);
  for (int i = 0; i < n; ++i) series.s.push_back(interpolated(t, s, series.begin + i * series.dt));
  return series;
}

void check_series(std::span<const double> t, std::span<const Complex> signal) {
  QUINTET_CHECK(t.size() == signal.size(), "a time series has {} times but {} values", t.size(),
                signal.size());
  for (std::size_t i = 0; i < t.size(); ++i) {
    QUINTET_CHECK(i == 0 || t[i] > t[i - 1], "times must increase, but number {} is {} after {}", i, t[i],
                  i == 0 ? 0 : t[i - 1]);
    QUINTET_CHECK(std::isfinite(std::abs(signal[i])), "the signal is not finite at time {}", t[i]);
  }
}

/// What the modes leave of all samples of the window, also of those between: much more where a wave turns by
/// half a period or more between two that were used.
double rest_of_all(std::span<const double> t, std::span<const Complex> s, const WaveFit& fit) {
  double rest = 0, whole = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i] < fit.window.begin || t[i] > fit.window.end) continue;
    const Complex swinging = s[i] - steady_at(fit, t[i]);
    Complex sum = swinging;
    for (const auto& mode : fit.modes)
      sum -= mode.amplitude * std::exp(-imaginary * mode.omega * (t[i] - fit.window.begin));
    rest += std::norm(sum);
    whole += std::norm(swinging);
  }
  return std::sqrt(rest / whole);
}

WaveFit fit_window(std::span<const double> t, std::span<const Complex> s, const Window& window) {
  WaveFit fit = fit_series(equidistant(t, s, window));
  if (!fit) return fit;
  const double rest = rest_of_all(t, s, fit);
  constexpr double much = 0.5;
  if (!(rest < much)) {
    fit.reason = "the waves found do not follow the samples between those used: take a shorter window";
    fit.modes.clear();
  }
  fit.noise = rest;
  return fit;
}

/// By a factor of e at least over the window.
bool grows(const WaveFit& fit) {
  return fit && fit.modes.front().omega.imag() * (fit.window.end - fit.window.begin) > 1;
}

double doubt(const WaveFit& fit) {
  if (!fit || fit.modes.front().share < 0.3) return std::numeric_limits<double>::infinity();
  return std::max(fit.modes.front().omega_uncertainty, fit.modes.front().gamma_uncertainty);
}

}  // namespace

WaveFit fit_waves(std::span<const double> t, std::span<const Complex> signal, std::optional<Window> window,
                  bool growing) {
  check_series(t, signal);
  if (window) return fit_window(t, signal, *window);
  WaveFit none;
  none.reason = fmt::format("{} samples, at least {} are needed", t.size(), least_samples);
  if (std::ssize(t) < least_samples) return none;
  constexpr int n_parts = 12, least_parts = 2;
  constexpr double as_good = 3;
  std::vector<WaveFit> fits;
  double best = std::numeric_limits<double>::infinity();
  const double span = t.back() - t.front();
  for (int i = 0; i < n_parts; ++i)
    for (int j = i + least_parts; j <= n_parts; ++j) {
      WaveFit fit = fit_window(t, signal, {t.front() + span * i / n_parts, t.front() + span * j / n_parts});
      if (growing && !grows(fit)) continue;
      best = std::min(best, doubt(fit));
      fits.push_back(std::move(fit));
    }
  if (growing && fits.empty()) return fit_waves(t, signal, window, false);
  none.reason = "no wave stands out of the noise";
  const WaveFit* longest = nullptr;
  for (const WaveFit& fit : fits) {
    if (!fit) continue;
    const double allowed = as_good * best + 1e-6 * std::abs(fit.modes.front().omega);
    if (!(doubt(fit) <= allowed)) continue;
    const auto length = [](const WaveFit& one) { return one.window.end - one.window.begin; };
    if (longest == nullptr || length(fit) > length(*longest) * (1 + 1e-9)) longest = &fit;
  }
  return longest == nullptr ? none : *longest;
}

}  // namespace quintet::kinetics
