#pragma once

#include <optional>
#include <span>
#include <string>

/// Growth rates and frequencies from a run's time series.
namespace quintet::kinetics {

/// A stretch of time [begin, end].
struct Window {
  double begin = 0, end = 0;
};

/// Exponential growth (or decay) of an amplitude a ~ exp(rate t), from a series of its square.
struct GrowthFit {
  double rate = 0;
  double uncertainty =
      0;          ///< the greater of standard error and change in the window's first, middle, last half
  Window window;  ///< that was used
  int n_samples = 0;
  std::string reason;  ///< why the fit failed; else empty
  explicit operator bool() const { return reason.empty(); }
};

/// Half the slope of ln(energy) over time, by least squares over a window.
///
/// t: increasing times, need not be equidistant. energy: of the same length, a quadratic quantity such as int
/// E_x^2 dx; samples that are not positive and finite are left out. Without a window the one of
/// growth_window() is taken. No fit (see reason): fewer than 4 samples, or no such window. Throws InputError
/// if the lengths differ or times do not increase.
[[nodiscard]] GrowthFit fit_growth(std::span<const double> t, std::span<const double> energy,
                                   std::optional<Window> window = std::nullopt);

/// The stretch of exponential growth, from ln(energy) at 161 equidistant times (means of the samples around).
///
/// Candidates are all stretches between two of these times over which ln(energy) rises by at least 2 and at
/// least 0.3 of its greatest rise. A candidate is good if each of its four quarters has the slope of the
/// whole to 0.3 %; of the good ones that with the greatest rise is taken. If none is good, 1, 3, 10 and 30 %
/// are tried: a clean run gets a clean window, a noisy one the best there is. Nothing is returned without
/// growth, or if it is not exponential.
[[nodiscard]] std::optional<Window> growth_window(std::span<const double> t, std::span<const double> energy);

/// Frequency and rate of an amplitude a ~ exp(gamma t) cos(omega t + phase).
struct OscillationFit {
  double omega = 0, gamma = 0;                          ///< gamma < 0: damping
  double omega_uncertainty = 0, gamma_uncertainty = 0;  ///< as GrowthFit::uncertainty
  Window window;                                        ///< from the first to the last maximum used
  int n_maxima = 0;
  std::string reason;  ///< why the fit failed; else empty
  explicit operator bool() const { return reason.empty(); }
};

/// Rate and frequency from the maxima of a standing wave's energy ~ exp(2 gamma t) cos^2(omega t + phase):
/// gamma is half the slope of ln(energy) over the maxima, omega = pi over their mean distance.
///
/// A maximum counts if the energy falls to half of it or less before the next one, so noise makes no maxima.
/// Its place and height come from the parabola through three samples of ln(energy). Without a window the
/// longest run of at least 6 maxima is used in which distances and slopes between neighbours agree with the
/// run's means to 1 % (slopes below 0.1 over the mean distance: to 1 % of that). If none is found, 3 % are
/// tried, then 10 and 30 % with at least 3 maxima. So neither the start, nor trapping, nor recurrence enters.
/// No fit (see reason): fewer than 3 maxima. Arguments and errors as for fit_growth().
[[nodiscard]] OscillationFit fit_damped_oscillation(std::span<const double> t, std::span<const double> energy,
                                                    std::optional<Window> window = std::nullopt);

}  // namespace quintet::kinetics
