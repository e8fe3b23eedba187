#include "physics/particles/observables/spectrum.hpp"

#include <cmath>
#include <numbers>

namespace quintet {

Spectrum vibrational_spectrum(std::span<const double> correlation, double h) {
  constexpr double thz_to_per_cm = 33.3564095198152;  // 1e12 Hz / c
  constexpr std::size_t refinement = 4;
  const std::size_t last = correlation.size() - 1, n = refinement * last;
  const double scale = correlation[0] != 0 ? 4 * h / correlation[0] : 0.0;
  std::vector<double> weighted(correlation.begin(), correlation.end());
  for (std::size_t i = 0; i <= last; ++i)
    weighted[i] *= scale * 0.5 * (1 + std::cos(std::numbers::pi * i / last));
  weighted[0] *= 0.5;  // the trapezoidal rule; at the other end the window is 0

  Spectrum spectrum;
  for (std::size_t j = 0; j <= n; ++j) {
    // cos(i angle) by rotation: a phase of i times a rounded angle, error i eps.
    const double angle = std::numbers::pi * j / n;
    const double c = std::cos(angle), s = std::sin(angle);
    double re = 1, im = 0, sum = 0;
    for (const double value : weighted) {
      sum += value * re;
      const double next = re * c - im * s;
      im = re * s + im * c;
      re = next;
    }
    const double frequency = j / (2 * static_cast<double>(n) * h);
    spectrum.frequency.push_back(frequency);
    spectrum.wavenumber.push_back(frequency * thz_to_per_cm);
    spectrum.density.push_back(sum);
  }
  return spectrum;
}

}  // namespace quintet
