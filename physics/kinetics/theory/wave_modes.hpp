#pragma once

#include <complex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "physics/kinetics/theory/growth_fit.hpp"

/// Several damped or growing waves at once, from the signed amplitude of a field over time.
namespace quintet::kinetics {

/// One of the waves c exp(-i omega (t - begin)) of a signal.
struct WaveMode {
  std::complex<double> omega;      ///< frequency (of either sign) and growth rate of the amplitude
  std::complex<double> amplitude;  ///< c, at the window's begin
  double omega_uncertainty = 0, gamma_uncertainty = 0;
  /// Of the square over the window of the signal without its steady part, if the wave were there alone.
  double share = 0;
};

struct WaveFit {
  std::vector<WaveMode> modes;  ///< the strongest first
  /// What stays as it is (see fit_waves()), of amplitude 0 where nothing does. Its share is of the square of
  /// the whole signal.
  WaveMode steady;
  Window window;     ///< that was used
  double noise = 0;  ///< root mean square of what the modes leave, of the signal's
  int n_samples = 0;
  std::string reason;  ///< why the fit failed; else empty
  explicit operator bool() const { return reason.empty(); }
};

/// The waves that a signal s(t) = sum_j c_j exp(-i omega_j t) + noise consists of, by the matrix pencil.
///
/// For n equidistant samples s_k with z_j = exp(-i omega_j dt) the Hankel matrix s_(k+l), of L = n/2 columns,
/// has the rank m of the number of waves. Its m leading right singular vectors V, without their last and
/// without their first row, obey V_first Z = V_last; the z_j are the eigenvalues of Z (Hua & Sarkar, IEEE
/// Trans. ASSP 38, 814, 1990; the total-least-squares form of ESPRIT, Roy & Kailath 1989). Amplitudes follow
/// by least squares. m is the least number after which more waves leave no much smaller rest.
///
/// t: increasing times, need not be equidistant (cubic interpolation makes them so; at most 160 are used).
/// Without a window all stretches between thirteen equidistant times are tried, and of those whose strongest
/// wave is known about best (within three times the least uncertainty) the longest is taken. So neither a
/// start from other waves, nor growth that has ended, nor recurrence enters. `growing`: only stretches over
/// which the strongest wave grows by a factor of e or more, if there are any.
///
/// The uncertainty is the greatest change of omega_j where the first or last quarter of the window is left
/// away or one wave more is sought, or the standard error that the rest makes, if that is greater. Waves
/// whose uncertainty is above a third of |omega| are noise and left out. What changes by less than half a
/// radian and half an e-fold over the window, its uncertainty included, is kept apart as the steady part: of
/// a density wave across a magnetic field a part gyrates in its place for good (the root omega = 0 beside
/// those of Bernstein). No fit (see reason): fewer than 12 samples, or no such wave. Throws InputError if the
/// lengths differ or times do not increase.
[[nodiscard]] WaveFit fit_waves(std::span<const double> t, std::span<const std::complex<double>> signal,
                                std::optional<Window> window = std::nullopt, bool growing = false);

}  // namespace quintet::kinetics
