#pragma once

#include <span>
#include <vector>

namespace quintet {

/// A spectrum over frequencies from 0 to the Nyquist frequency.
struct Spectrum {
  std::vector<double> frequency;   ///< (THz)
  std::vector<double> wavenumber;  ///< (1/cm)
  std::vector<double> density;     ///< (1/THz), its integral over frequency is 1
};

/// S(f) = 4 integral_0^T C(t) / C(0) w(t) cos(2 pi f t) dt, w(t) = (1 + cos(pi t / T)) / 2 (Hann), by the
/// trapezoidal rule.
///
/// correlation: C at times 0, h, .., T; h (ps). The grid is four times finer than 1 / (2 T), for smooth
/// curves; the window makes peaks 2 / T wide. All zero if C(0) = 0. Cost O(n^2).
[[nodiscard]] Spectrum vibrational_spectrum(std::span<const double> correlation, double h);

}  // namespace quintet
