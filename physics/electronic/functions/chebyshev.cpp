#include "physics/electronic/functions/chebyshev.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <optional>

#include "io/log/error.hpp"

namespace quintet::electronic {

namespace {

using Values = std::vector<double>;
using Functions = std::span<const std::function<double(double)>>;

using Measure = SpectralMeasure;  // points and weights of the discrete inner product

/// Half of the measure for the density's points in the bands.
void mix_in(const SpectralMeasure& density, std::span<const Band> bands, double centre, double half_width,
            Measure& m) {
  Measure inside;
  double total = 0;
  for (std::size_t i = 0; i < density.x.size(); ++i)
    for (const Band& band : bands)
      if (density.x[i] >= band.lower && density.x[i] <= band.upper && density.weight[i] > 0) {
        inside.x.push_back((density.x[i] - centre) / half_width);
        inside.weight.push_back(density.weight[i]);
        total += density.weight[i];
      }
  if (total == 0) return;
  for (double& weight : m.weight) weight *= 0.5;
  for (std::size_t i = 0; i < inside.x.size(); ++i) {
    m.x.push_back(inside.x[i]);
    m.weight.push_back(0.5 * inside.weight[i] / total);
  }
}

/// Chebyshev points of each band, all of one weight a band, in the variable scaled to [-1, 1].
Measure measure_of(std::span<const Band> bands, double centre, double half_width, int n_points) {
  Measure m;
  for (const Band& band : bands) {
    const double middle = (0.5 * (band.lower + band.upper) - centre) / half_width;
    const double radius = 0.5 * (band.upper - band.lower) / half_width;
    for (int i = 0; i < n_points; ++i) {
      // ends included: the largest errors are there
      m.x.push_back(middle - radius * std::cos(std::numbers::pi * i / (n_points - 1)));
      m.weight.push_back(1.0 / (n_points * static_cast<double>(bands.size())));
    }
  }
  return m;
}

/// p_0 = 1, b_{k+1} p_{k+1} = (x - a_k) p_k - b_k p_{k-1}: orthonormal in the measure, found step by step.
class Stieltjes {
 public:
  explicit Stieltjes(const Measure& m) : m_(m), previous_(m.x.size(), 0.0), current_(m.x.size(), 1.0) {}

  [[nodiscard]] const Values& current() const { return current_; }
  [[nodiscard]] double project(const Values& f) const {
    double sum = 0;
    for (std::size_t i = 0; i < f.size(); ++i) sum += m_.weight[i] * f[i] * current_[i];
    return sum;
  }
  void step() {
    double alpha = 0;
    for (std::size_t i = 0; i < current_.size(); ++i)
      alpha += m_.weight[i] * m_.x[i] * current_[i] * current_[i];
    const double before = beta.empty() ? 0 : beta.back();
    double square = 0;
    for (std::size_t i = 0; i < current_.size(); ++i) {
      previous_[i] = (m_.x[i] - alpha) * current_[i] - before * previous_[i];
      square += m_.weight[i] * previous_[i] * previous_[i];
    }
    const double norm = std::sqrt(square);
    for (double& value : previous_) value /= norm;
    std::swap(previous_, current_);
    this->alpha.push_back(alpha);
    beta.push_back(norm);
  }

  Values alpha, beta;

 private:
  const Measure& m_;
  Values previous_, current_;
};

/// sum_k c_k p_k(x).
double evaluate(const Stieltjes& basis, const Values& c, double x) {
  double previous = 0, current = 1, sum = c[0];
  for (std::size_t k = 0; k + 1 < c.size(); ++k) {
    const double next =
        ((x - basis.alpha[k]) * current - (k == 0 ? 0 : basis.beta[k - 1]) * previous) / basis.beta[k];
    previous = current;
    current = next;
    sum += c[k + 1] * current;
  }
  return sum;
}

/// The polynomial sum_k c_k p_k as a Chebyshev series, by its values at the Chebyshev points.
Values to_chebyshev(const Stieltjes& basis, const Values& c) {
  const std::size_t n = c.size();
  Values series(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double angle = std::numbers::pi * (i + 0.5) / n;
    const double value = evaluate(basis, c, std::cos(angle));
    for (std::size_t k = 0; k < n; ++k) series[k] += value * std::cos(k * angle) * (k == 0 ? 1.0 : 2.0) / n;
  }
  return series;
}

/// A fit with at most `max_degree`, or nothing.
std::optional<ChebyshevSeries> try_fit(std::span<const Band> bands, Functions functions, double error,
                                       int max_degree, const SpectralMeasure& density) {
  ChebyshevSeries result;
  result.centre = 0.5 * (bands.front().lower + bands.back().upper);
  result.half_width = 0.5 * (bands.back().upper - bands.front().lower);
  Measure m = measure_of(bands, result.centre, result.half_width, 4 * max_degree + 33);
  mix_in(density, bands, result.centre, result.half_width, m);
  std::vector<Values> rest(functions.size()), coefficients(functions.size());
  for (std::size_t f = 0; f < functions.size(); ++f)
    for (const double x : m.x) rest[f].push_back(functions[f](result.centre + result.half_width * x));
  Stieltjes basis(m);
  for (int k = 0; k <= max_degree; ++k) {
    result.error = 0;
    for (std::size_t f = 0; f < rest.size(); ++f) {
      coefficients[f].push_back(basis.project(rest[f]));
      for (std::size_t i = 0; i < m.x.size(); ++i) rest[f][i] -= coefficients[f].back() * basis.current()[i];
    }
    for (const double r : rest.front())
      if (!(std::abs(r) <= result.error))  // not a number: infinitely wrong
        result.error = std::isfinite(r) ? std::abs(r) : std::numeric_limits<double>::infinity();
    if (result.error <= error && k > 0) {
      for (const Values& c : coefficients) result.coefficients.push_back(to_chebyshev(basis, c));
      return result;
    }
    basis.step();
  }
  return std::nullopt;
}

}  // namespace

double ChebyshevSeries::operator()(double x, int which) const {
  const Values& c = coefficients[which];
  const double t = (x - centre) / half_width;
  double b1 = 0, b2 = 0;
  for (std::size_t k = c.size(); k-- > 1;) {
    const double b0 = c[k] + 2 * t * b1 - b2;
    b2 = b1;
    b1 = b0;
  }
  return c[0] + t * b1 - b2;
}

ChebyshevSeries fit(std::span<const Band> bands, Functions functions, double error, int max_degree,
                    const SpectralMeasure& density) {
  for (int degree = 64;; degree *= 2) {
    if (auto series = try_fit(bands, functions, error, std::min(degree, max_degree), density)) return *series;
    if (degree >= max_degree) break;
  }
  std::string list;
  for (const Band& band : bands) list += fmt::format(" [{:.6g}, {:.6g}]", band.lower, band.upper);
  throw NumericalError(fmt::format(
      "no polynomial of degree {} reaches an error of {:.1e} on the bands{}: the gap between them is too "
      "small; take the eigen kernel or a larger error",
      max_degree, error, list));
}

}  // namespace quintet::electronic
