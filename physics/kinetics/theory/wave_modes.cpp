#include "physics/kinetics/theory/wave_modes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "io/log/error.hpp"

extern "C" {
void zgesdd_(const char* jobz, const int* m, const int* n, std::complex<double>* a, const int* lda, double* s,
             std::complex<double>* u, const int* ldu, std::complex<double>* vt, const int* ldvt,
             std::complex<double>* work, const int* lwork, double* rwork, int* iwork, int* info);
void zgels_(const char* trans, const int* m, const int* n, const int* nrhs, std::complex<double>* a,
            const int* lda, std::complex<double>* b, const int* ldb, std::complex<double>* work,
            const int* lwork, int* info);
void zgeev_(const char* jobvl, const char* jobvr, const int* n, std::complex<double>* a, const int* lda,
            std::complex<double>* w, std::complex<double>* vl, const int* ldvl, std::complex<double>* vr,
            const int* ldvr, std::complex<double>* work, const int* lwork, double* rwork, int* info);
}

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;
using Vector = std::vector<Complex>;
constexpr Complex imaginary{0, 1};
constexpr int most_samples = 160, least_samples = 12, most_modes = 6;

/// Equidistant samples.
struct Series {
  double begin = 0, dt = 0;
  Vector s;
  [[nodiscard]] int size() const { return s.size(); }
  [[nodiscard]] double length() const { return dt * (size() - 1); }
  [[nodiscard]] Series part(double from, double to) const {
    const int first = std::lround(from * (size() - 1)), last = std::lround(to * (size() - 1));
    return {begin + first * dt, dt, Vector(s.begin() + first, s.begin() + last + 1)};
  }
};

/// Solve min |A x - b| for columns of b; A [m, n] by columns. Empty if A is singular.
Vector least_squares(Vector a, int m, int n, Vector b, int n_right) {
  int info = 0, size = 64 * (m + n);
  Vector work(size);
  zgels_("N", &m, &n, &n_right, a.data(), &m, b.data(), &m, work.data(), &size, &info);
  if (info != 0) return {};
  Vector x;
  for (int r = 0; r < n_right; ++r)
    x.insert(x.end(), b.begin() + std::ptrdiff_t{r} * m, b.begin() + std::ptrdiff_t{r} * m + n);
  return x;
}

/// The right singular vectors of the Hankel matrix: [l, l] by columns, the leading ones first.
struct SignalSpace {
  int l = 0;
  Vector vectors;

  explicit SignalSpace(const Series& series) : l(series.size() / 2 + 1) {
    const int m = series.size() - l + 1, k = std::min(m, l);
    Vector a(m * l), u(m * k), vt(k * l);
    for (int j = 0; j < l; ++j)
      for (int i = 0; i < m; ++i) a[j * m + i] = series.s[i + j];
    std::vector<double> values(k), real(5 * k * k + 7 * k + 2 * std::max(m, l) * k + 2 * k * k);
    std::vector<int> integers(8 * k);
    int info = 0, size = k * k + 3 * k + 64 * (m + l);
    Vector work(size);
    zgesdd_("S", &m, &l, a.data(), &m, values.data(), u.data(), &m, vt.data(), &k, work.data(), &size,
            real.data(), integers.data(), &info);
    if (info != 0) return;
    vectors.resize(k * l);
    for (int j = 0; j < k; ++j)  // conj(v): the columns of A^T = V* S U^T span exp(-i omega t) itself
      for (int i = 0; i < l; ++i) vectors[j * l + i] = vt[i * k + j];
  }
  /// Frequencies of the m leading waves; empty where there are none.
  [[nodiscard]] Vector omegas(int m, double dt) const {
    const int rows = l - 1;
    if (m < 1 || m > rows || std::ssize(vectors) < m * l) return {};
    Vector first, last;
    for (int j = 0; j < m; ++j) {
      const auto column = vectors.begin() + std::ptrdiff_t{j} * l;
      first.insert(first.end(), column, column + rows);
      last.insert(last.end(), column + 1, column + l);
    }
    Vector z = least_squares(first, rows, m, last, m);
    if (z.empty()) return {};
    Vector values(m), work(8 * m);
    std::vector<double> real(2 * m);
    const int one = 1, size = 8 * m;
    int info = 0;
    zgeev_("N", "N", &m, z.data(), &m, values.data(), nullptr, &one, nullptr, &one, work.data(), &size,
           real.data(), &info);
    if (info != 0) return {};
    Vector result;
    for (const Complex value : values)
      if (std::abs(value) > 0 && std::isfinite(std::abs(value)))
        result.push_back(imaginary * std::log(value) / dt);
    return result;
  }
};

struct Fit {
  Vector omega, amplitude;
  double rest = std::numeric_limits<double>::infinity();  ///< of the signal, root mean squares
  std::vector<double> share;
};

double norm_of(const Vector& s) {
  double sum = 0;
  for (const Complex one : s) sum += std::norm(one);
  return std::sqrt(sum);
}

/// exp(-i omega t) at the samples: a column for each wave.
Vector waves_of(const Vector& omega, const Series& series) {
  Vector a;
  for (const Complex w : omega)
    for (int k = 0; k < series.size(); ++k) a.push_back(std::exp(-imaginary * w * (k * series.dt)));
  return a;
}

Fit amplitudes(const Vector& omega, const Series& series) {
  Fit fit;
  if (omega.empty()) return fit;
  const int n = series.size(), m = omega.size();
  const Vector a = waves_of(omega, series);
  fit.amplitude = least_squares(a, n, m, series.s, 1);
  if (fit.amplitude.empty()) return fit;
  fit.omega = omega;
  Vector rest = series.s;
  for (int j = 0; j < m; ++j) {
    double square = 0;
    for (int k = 0; k < n; ++k) {
      const Complex wave = fit.amplitude[j] * a[j * n + k];
      rest[k] -= wave;
      square += std::norm(wave);
    }
    fit.share.push_back(square / std::pow(norm_of(series.s), 2));
  }
  fit.rest = norm_of(rest) / norm_of(series.s);
  if (!std::isfinite(fit.rest)) return {};
  return fit;
}

/// Fits of 1, 2, ... waves.
std::vector<Fit> all_fits(const Series& series) {
  const SignalSpace space(series);
  std::vector<Fit> fits;
  for (int m = 1; m <= std::min(most_modes + 2, series.size() / 3); ++m)
    fits.push_back(amplitudes(space.omegas(m, series.dt), series));
  return fits;
}

/// The least number of waves after which one or two more leave a rest that is not much smaller.
std::size_t choose(const std::vector<Fit>& fits) {
  constexpr double nothing = 1e-9, one_more = 0.5, two_more = 0.3;
  std::size_t best = 0;
  for (std::size_t i = 0; i + 2 < fits.size(); ++i) {
    best = i;
    if (fits[i].rest < nothing) break;
    if (fits[i + 1].rest > one_more * fits[i].rest && fits[i + 2].rest > two_more * fits[i].rest) break;
  }
  return best;
}

/// Distance to the nearest of the frequencies, real and imaginary part.
Complex nearest(const Fit& fit, Complex omega) {
  Complex best{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (const Complex one : fit.omega)
    if (const Complex d = one - omega; std::abs(d) < std::abs(best))
      best = {std::abs(d.real()), std::abs(d.imag())};
  return best;
}

/// Standard error of omega_j from the rest: its variance over the part of d s/d omega_j that no other
/// parameter can make.
double standard_error(const Fit& fit, const Series& series, std::size_t j) {
  const int n = series.size(), m = fit.omega.size(), n_free = 2 * m - 1;
  if (n <= 2 * m) return std::numeric_limits<double>::infinity();
  const Vector a = waves_of(fit.omega, series);
  Vector others = a, slope(n);
  for (std::size_t i = 0; i < fit.omega.size(); ++i)
    for (int k = 0; k < n; ++k) {
      const Complex d = -imaginary * (k * series.dt) * fit.amplitude[i] * a[i * n + k];
      if (i == j)
        slope[k] = d;
      else
        others.push_back(d);
    }
  const Vector x = least_squares(others, n, n_free, slope, 1);
  if (x.empty()) return std::numeric_limits<double>::infinity();
  for (int i = 0; i < n_free; ++i)
    for (int k = 0; k < n; ++k) slope[k] -= x[i] * others[i * n + k];
  const double variance = std::pow(fit.rest * norm_of(series.s), 2) / (n - 2 * m);
  return std::sqrt(variance) / norm_of(slope);
}

// The uncertainty is the spread of what other orders and shorter windows find: a fit's own residual knows
// nothing of a wrong model.
WaveFit fit_series(const Series& series) {
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
  const auto fits = all_fits(series);
  const std::size_t chosen = choose(fits);
  const Fit& fit = fits[chosen];
  result.noise = fit.rest;
  std::vector<Fit> others;
  if (chosen + 1 < fits.size()) others.push_back(fits[chosen + 1]);
  for (const auto& part : {series.part(0, 0.75), series.part(0.25, 1)}) {
    if (part.size() < least_samples) continue;
    others.push_back(amplitudes(SignalSpace(part).omegas(fit.omega.size(), part.dt), part));
  }
  for (std::size_t j = 0; j < fit.omega.size(); ++j) {
    WaveMode mode;
    mode.omega = fit.omega[j];
    mode.amplitude = fit.amplitude[j];
    mode.share = fit.share[j];
    mode.omega_uncertainty = mode.gamma_uncertainty = standard_error(fit, series, j);
    for (const Fit& other : others) {
      const Complex change = nearest(other, mode.omega);
      mode.omega_uncertainty = std::max(mode.omega_uncertainty, change.real());
      mode.gamma_uncertainty = std::max(mode.gamma_uncertainty, change.imag());
    }
    const double doubt = std::max(mode.omega_uncertainty, mode.gamma_uncertainty);
    if (doubt < std::abs(mode.omega) / 3) result.modes.push_back(mode);
  }
  std::sort(result.modes.begin(), result.modes.end(),
            [](const WaveMode& a, const WaveMode& b) { return a.share > b.share; });
  if (result.modes.empty()) result.reason = "no wave stands out of the noise";
  return result;
}

/// Cubic through the four samples around a time.
Complex interpolated(std::span<const double> t, std::span<const Complex> s, double time) {
  const auto n = static_cast<std::ptrdiff_t>(t.size());
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
Series equidistant(std::span<const double> t, std::span<const Complex> s, const Window& window) {
  const auto first = std::lower_bound(t.begin(), t.end(), window.begin) - t.begin(),
             last = std::upper_bound(t.begin(), t.end(), window.end) - t.begin();
  Series series;
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
    Complex sum = s[i];
    for (const auto& mode : fit.modes)
      sum -= mode.amplitude * std::exp(-imaginary * mode.omega * (t[i] - fit.window.begin));
    rest += std::norm(sum);
    whole += std::norm(s[i]);
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
