#include "tests/support/dg_dispersion.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "physics/kinetics/basis/legendre.hpp"

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;
constexpr std::size_t n_max = max_degree + 1;
using Vector = std::array<Complex, n_max>;
using Matrix = std::array<Vector, n_max>;

/// dx/2 du_k/dt = sum_l m_kl u_l: volume term phi_k' phi_l, less the flux of u at the upper and lower face.
Matrix advection_matrix(int order, double theta, bool central) {
  const double own = central ? 0.5 : 1.0, other = 1 - own;  // weights of the upwind and the downwind side
  const Complex shift = std::polar(1.0, theta);
  Matrix m{};
  for (int k = 0; k <= order; ++k)
    for (int l = 0; l <= order; ++l) {
      const double k_up = legendre_end(k, 1), k_low = legendre_end(k, -1);
      const Complex upper = own * legendre_end(l, 1) + other * legendre_end(l, -1) * shift;
      const Complex lower = own * legendre_end(l, 1) / shift + other * legendre_end(l, -1);
      m[k][l] = integral_derivative(k, l) - k_up * upper + k_low * lower;
    }
  return m;
}

/// Solves a x = b by Gaussian elimination with pivoting; exact singularity is nudged away.
Vector solve(Matrix a, Vector b, std::size_t n) {
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    if (std::abs(a[c][c]) < 1e-300) a[c][c] = 1e-300;
    for (std::size_t r = c + 1; r < n; ++r) {
      const Complex factor = a[r][c] / a[c][c];
      for (std::size_t j = c; j < n; ++j) a[r][j] -= factor * a[c][j];
      b[r] -= factor * b[c];
    }
  }
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t j = r + 1; j < n; ++j) b[r] -= a[r][j] * b[j];
    b[r] /= a[r][r];
  }
  return b;
}

}  // namespace

DgDispersion dg_dispersion(int order, double cells, bool central) {
  const double theta = 2 * std::numbers::pi / cells;
  const auto n = static_cast<std::size_t>(order) + 1;
  const Matrix m = advection_matrix(order, theta, central);
  Complex lambda{0, -0.5 * theta};  // of dx/2 d/dt
  Vector x{1};
  for (int iteration = 0; iteration < 30; ++iteration) {
    Matrix shifted = m;
    for (std::size_t i = 0; i < n; ++i) shifted[i][i] -= Complex(0, -0.5 * theta);
    x = solve(shifted, x, n);
    double norm = 0;
    for (std::size_t i = 0; i < n; ++i) norm += std::norm(x[i]);
    for (std::size_t i = 0; i < n; ++i) x[i] /= std::sqrt(norm);
    lambda = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) lambda += std::conj(x[i]) * m[i][j] * x[j];
  }
  return {-lambda.imag() / (0.5 * theta) - 1, lambda.real() / (0.5 * theta)};
}

}  // namespace quintet::kinetics
