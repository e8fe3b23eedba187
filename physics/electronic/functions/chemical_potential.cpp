#include "physics/electronic/functions/chemical_potential.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "physics/electronic/functions/occupation.hpp"

namespace quintet::electronic {

namespace {

using std::numbers::pi;

double jackson(std::size_t k, std::size_t n) {
  const double q = pi / (static_cast<double>(n) + 1), j = k;
  return ((n - j + 1) * std::cos(j * q) + std::sin(j * q) / std::tan(q)) / (static_cast<double>(n) + 1);
}

/// Chebyshev coefficients of the step 1 for x < t.
std::vector<double> step_coefficients(double t, std::size_t n) {
  const double angle = std::acos(std::clamp(t, -1.0, 1.0));
  std::vector<double> c{1 - angle / pi};
  for (std::size_t k = 1; k < n; ++k) c.push_back(-2 * std::sin(k * angle) / (k * pi));
  return c;
}

/// Chebyshev coefficients of a smooth function by Gauss' quadrature.
template <class Function>
std::vector<double> smooth_coefficients(const Function& f, std::size_t n) {
  const std::size_t n_points = 2 * n;
  std::vector<double> c(n, 0.0);
  for (std::size_t i = 0; i < n_points; ++i) {
    const double angle = pi * (i + 0.5) / n_points;
    const double value = f(std::cos(angle)) / static_cast<double>(n_points);
    for (std::size_t k = 0; k < n; ++k) c[k] += (k == 0 ? 1 : 2) * value * std::cos(k * angle);
  }
  return c;
}

}  // namespace

double PairCount::operator()(double mu) const {
  const Occupation f{mu, temperature, 0};
  double sum = 0;
  if (!moments.empty()) {
    const auto c =
        temperature == 0
            ? step_coefficients((mu - centre) / half_width, moments.size())
            : smooth_coefficients([&](double t) { return f(centre + half_width * t); }, moments.size());
    for (std::size_t k = 0; k < moments.size(); ++k)
      sum += c[k] * moments[k] * (damped ? jackson(k, moments.size()) : 1.0);
  }
  if (levels != nullptr)
    for (std::size_t i = 0; i < levels->x.size(); ++i) sum += levels->weight[i] * f(levels->x[i]);
  return sum;
}

}  // namespace quintet::electronic
