#include "physics/kinetics/theory/matrix_pencil.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

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

  explicit SignalSpace(const EquidistantSeries& series) : l(series.size() / 2 + 1) {
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

/// exp(-i omega t) at the samples: a column for each wave.
Vector waves_of(const Vector& omega, const EquidistantSeries& series) {
  Vector a;
  for (const Complex w : omega)
    for (int k = 0; k < series.size(); ++k) a.push_back(std::exp(-imaginary * w * (k * series.dt)));
  return a;
}

PencilFit amplitudes(const Vector& omega, const EquidistantSeries& series) {
  PencilFit fit;
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

}  // namespace

EquidistantSeries EquidistantSeries::part(double from, double to) const {
  const int first = std::lround(from * (size() - 1)), last = std::lround(to * (size() - 1));
  return {begin + first * dt, dt, Vector(s.begin() + first, s.begin() + last + 1)};
}

double norm_of(const Vector& s) {
  double sum = 0;
  for (const Complex one : s) sum += std::norm(one);
  return std::sqrt(sum);
}

std::vector<PencilFit> pencil_fits(const EquidistantSeries& series, int most) {
  const SignalSpace space(series);
  std::vector<PencilFit> fits;
  for (int m = 1; m <= std::min(most, series.size() / 3); ++m)
    fits.push_back(amplitudes(space.omegas(m, series.dt), series));
  return fits;
}

PencilFit pencil_fit(const EquidistantSeries& series, int count) {
  return amplitudes(SignalSpace(series).omegas(count, series.dt), series);
}

double standard_error(const PencilFit& fit, const EquidistantSeries& series, std::size_t j) {
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

}  // namespace quintet::kinetics
