#pragma once

#include <complex>
#include <cstddef>
#include <limits>
#include <vector>

/// A given number of waves in one equidistant series, by the matrix pencil: see wave_modes.hpp, which chooses
/// the number and the window.
namespace quintet::kinetics {

/// Samples s(begin + k dt), k = 0, 1, ...
struct EquidistantSeries {
  double begin = 0, dt = 0;
  std::vector<std::complex<double>> s;
  [[nodiscard]] int size() const { return s.size(); }
  [[nodiscard]] double length() const { return dt * (size() - 1); }
  /// Samples between two parts of the length, 0 to 1.
  [[nodiscard]] EquidistantSeries part(double from, double to) const;
};

/// sqrt(sum_k |s_k|^2).
[[nodiscard]] double norm_of(const std::vector<std::complex<double>>& s);

/// Waves sum_j c_j exp(-i omega_j (t - begin)) that a series is taken for.
struct PencilFit {
  std::vector<std::complex<double>> omega, amplitude;
  double rest = std::numeric_limits<double>::infinity();  ///< of the signal, root mean squares
  std::vector<double> share;                              ///< of the signal's square, of each wave alone
};

/// Fit one to `most` waves, as many as a third of the samples: [i] has i + 1. A fit that fails has no waves
/// and an infinite rest.
[[nodiscard]] std::vector<PencilFit> pencil_fits(const EquidistantSeries& series, int most);

/// Fit a number of waves; without waves and with an infinite rest where that fails.
[[nodiscard]] PencilFit pencil_fit(const EquidistantSeries& series, int count);

/// Compute the standard error of omega_j from the rest: its variance over the part of d s/d omega_j that no
/// other parameter can make. Infinite where the samples are too few.
[[nodiscard]] double standard_error(const PencilFit& fit, const EquidistantSeries& series, std::size_t j);

}  // namespace quintet::kinetics
