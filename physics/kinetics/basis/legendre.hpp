#pragma once

#include <cstdint>

/// Orthonormal Legendre polynomials on [-1, 1] and their exact integrals.
///
///     phi_k(xi) = sqrt((2k + 1)/2) P_k(xi),   int_-1^1 phi_k phi_l dxi = delta_kl
///
/// Every integral below is a rational number times the square root of a rational one; both are found exactly
/// in integers at compile time and only then turned into a double. tests/unit/kinetics compares all of them
/// with Gauss quadrature of high order.
namespace quintet::kinetics {

inline constexpr int max_degree = 3;  ///< of a basis function in one direction

/// Square root at compile time (Newton from above, to the last bit or its neighbour).
[[nodiscard]] constexpr double constant_sqrt(double x) {
  if (x <= 0) return 0;
  double root = x > 1 ? x : 1;
  for (int i = 0; i < 200; ++i) {
    const double next = 0.5 * (root + x / root);
    if (next >= root) break;
    root = next;
  }
  return root;
}

namespace detail {

/// A polynomial of degree below 12 with rational coefficients: c[i]/denominator of x^i, in exact integers.
struct Polynomial {
  static constexpr int size = 12;
  std::int64_t c[size]{};
  std::int64_t denominator = 1;

  friend constexpr Polynomial operator*(const Polynomial& a, const Polynomial& b) {
    Polynomial product{};
    product.denominator = a.denominator * b.denominator;
    for (int i = 0; i < size; ++i)
      for (int j = 0; i + j < size; ++j) product.c[i + j] += a.c[i] * b.c[j];
    return product;
  }
  [[nodiscard]] constexpr Polynomial derivative() const {
    Polynomial result{};
    result.denominator = denominator;
    for (int i = 1; i < size; ++i) result.c[i - 1] = c[i] * i;
    return result;
  }
  /// Integral over [-1, 1]: sum over even i of 2/(i + 1) c[i], rounded once.
  [[nodiscard]] constexpr double integral() const {
    constexpr std::int64_t common = 3465;  // of 1, 3, 5, 7, 9, 11
    std::int64_t sum = 0;
    for (int i = 0; i < size; i += 2) sum += c[i] * (2 * common / (i + 1));
    return static_cast<double>(sum) / (denominator * common);
  }
  /// At x = +-1.
  [[nodiscard]] constexpr double end(int side) const {
    std::int64_t sum = 0;
    for (int i = 0; i < size; ++i) sum += side < 0 && i % 2 == 1 ? -c[i] : c[i];
    return static_cast<double>(sum) / denominator;
  }
};

/// P_k, by (k + 1) P_{k+1} = (2k + 1) x P_k - k P_{k-1}.
[[nodiscard]] constexpr Polynomial legendre_polynomial(int k) {
  Polynomial previous{}, current{};
  current.c[0] = 1;
  for (int n = 0; n < k; ++n) {
    Polynomial next{};
    next.denominator = (n + 1) * current.denominator * previous.denominator;
    for (int i = 0; i < Polynomial::size; ++i)
      next.c[i] = (i > 0 ? (2 * n + 1) * current.c[i - 1] * previous.denominator : 0) -
                  n * previous.c[i] * current.denominator;
    previous = current;
    current = next;
  }
  return current;
}

/// sqrt((2k + 1)/2 (2l + 1)/2 ...) of up to three degrees; -1 for none.
[[nodiscard]] constexpr double normalisation(int k, int l = -1, int m = -1) {
  double square = k + 0.5;  // exact: halves of small odd numbers
  if (l >= 0) square *= l + 0.5;
  if (m >= 0) square *= m + 0.5;
  return constant_sqrt(square);
}

}  // namespace detail

/// phi_k(+1) for side = +1, phi_k(-1) for side = -1.
[[nodiscard]] constexpr double legendre_end(int k, int side) {
  return detail::normalisation(k) * (side < 0 && k % 2 == 1 ? -1.0 : 1.0);
}
/// phi_k'(+-1).
[[nodiscard]] constexpr double legendre_end_slope(int k, int side) {
  const detail::Polynomial slope = detail::legendre_polynomial(k).derivative();
  return detail::normalisation(k) * slope.end(side);
}
/// int phi_k' phi_l dxi.
[[nodiscard]] constexpr double integral_derivative(int k, int l) {
  using detail::legendre_polynomial;
  const detail::Polynomial product = legendre_polynomial(k).derivative() * legendre_polynomial(l);
  return product.integral() * detail::normalisation(k, l);
}
/// int phi_k'' phi_l dxi.
[[nodiscard]] constexpr double integral_second_derivative(int k, int l) {
  using detail::legendre_polynomial;
  const detail::Polynomial product =
      legendre_polynomial(k).derivative().derivative() * legendre_polynomial(l);
  return product.integral() * detail::normalisation(k, l);
}
/// int xi phi_k phi_l dxi.
[[nodiscard]] constexpr double integral_shift(int k, int l) {
  using detail::legendre_polynomial;
  detail::Polynomial x;
  x.c[1] = 1;
  const detail::Polynomial product = x * legendre_polynomial(k) * legendre_polynomial(l);
  return product.integral() * detail::normalisation(k, l);
}
/// int phi_k phi_l phi_m dxi.
[[nodiscard]] constexpr double integral_triple(int k, int l, int m) {
  using detail::legendre_polynomial;
  const detail::Polynomial product = legendre_polynomial(k) * legendre_polynomial(l) * legendre_polynomial(m);
  return product.integral() * detail::normalisation(k, l, m);
}

/// phi_k(xi) and phi_k'(xi) anywhere.
[[nodiscard]] double legendre(int k, double xi);
[[nodiscard]] double legendre_slope(int k, double xi);

}  // namespace quintet::kinetics
