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

/// A fraction in lowest terms.
struct Rational {
  std::int64_t numerator = 0, denominator = 1;

  constexpr Rational() = default;
  constexpr Rational(std::int64_t n, std::int64_t d = 1) {  // NOLINT: integers are rationals
    std::int64_t a = n < 0 ? -n : n, b = d < 0 ? -d : d;
    while (b != 0) {
      const std::int64_t rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 0) a = 1;
    numerator = (d < 0 ? -n : n) / a;
    denominator = (d < 0 ? -d : d) / a;
  }
  friend constexpr Rational operator+(Rational a, Rational b) {
    return {a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator};
  }
  friend constexpr Rational operator*(Rational a, Rational b) {
    return {a.numerator * b.numerator, a.denominator * b.denominator};
  }
  friend constexpr bool operator==(Rational a, Rational b) {
    return a.numerator == b.numerator && a.denominator == b.denominator;
  }
  [[nodiscard]] constexpr double value() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};

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

/// A polynomial of degree below 12 with rational coefficients.
struct Polynomial {
  static constexpr int size = 12;
  Rational c[size]{};

  friend constexpr Polynomial operator*(const Polynomial& a, const Polynomial& b) {
    Polynomial product;
    for (int i = 0; i < size; ++i)
      for (int j = 0; i + j < size; ++j)
        if (a.c[i].numerator != 0 && b.c[j].numerator != 0)
          product.c[i + j] = product.c[i + j] + a.c[i] * b.c[j];
    return product;
  }
  [[nodiscard]] constexpr Polynomial derivative() const {
    Polynomial result;
    for (int i = 1; i < size; ++i) result.c[i - 1] = c[i] * Rational(i);
    return result;
  }
  /// Integral over [-1, 1].
  [[nodiscard]] constexpr Rational integral() const {
    Rational sum;
    for (int i = 0; i < size; i += 2) sum = sum + c[i] * Rational(2, i + 1);
    return sum;
  }
  [[nodiscard]] constexpr Rational at(Rational x) const {
    Rational sum;
    for (int i = size - 1; i >= 0; --i) sum = sum * x + c[i];
    return sum;
  }
};

/// P_k, by (k + 1) P_{k+1} = (2k + 1) x P_k - k P_{k-1}.
[[nodiscard]] constexpr Polynomial legendre_polynomial(int k) {
  Polynomial previous, current;
  current.c[0] = 1;
  for (int n = 0; n < k; ++n) {
    Polynomial next;
    for (int i = 0; i + 1 < Polynomial::size; ++i) next.c[i + 1] = current.c[i] * Rational(2 * n + 1, n + 1);
    for (int i = 0; i < Polynomial::size; ++i) next.c[i] = next.c[i] + previous.c[i] * Rational(-n, n + 1);
    previous = current;
    current = next;
  }
  return current;
}

/// sqrt((2k + 1)/2 (2l + 1)/2 ...) of up to three degrees; -1 for none.
[[nodiscard]] constexpr double normalisation(int k, int l = -1, int m = -1) {
  Rational square = Rational(2 * k + 1, 2);
  if (l >= 0) square = square * Rational(2 * l + 1, 2);
  if (m >= 0) square = square * Rational(2 * m + 1, 2);
  return constant_sqrt(square.value());
}

}  // namespace detail

/// phi_k(+1) for side = +1, phi_k(-1) for side = -1.
[[nodiscard]] constexpr double legendre_end(int k, int side) {
  return detail::normalisation(k) * (side < 0 && k % 2 == 1 ? -1.0 : 1.0);
}
/// phi_k'(+-1).
[[nodiscard]] constexpr double legendre_end_slope(int k, int side) {
  return detail::normalisation(k) *
         detail::legendre_polynomial(k).derivative().at(Rational(side < 0 ? -1 : 1)).value();
}
/// int phi_k' phi_l dxi.
[[nodiscard]] constexpr double integral_derivative(int k, int l) {
  using detail::legendre_polynomial;
  return (legendre_polynomial(k).derivative() * legendre_polynomial(l)).integral().value() *
         detail::normalisation(k, l);
}
/// int phi_k'' phi_l dxi.
[[nodiscard]] constexpr double integral_second_derivative(int k, int l) {
  using detail::legendre_polynomial;
  return (legendre_polynomial(k).derivative().derivative() * legendre_polynomial(l)).integral().value() *
         detail::normalisation(k, l);
}
/// int xi phi_k phi_l dxi.
[[nodiscard]] constexpr double integral_shift(int k, int l) {
  using detail::legendre_polynomial;
  detail::Polynomial x;
  x.c[1] = 1;
  return (x * legendre_polynomial(k) * legendre_polynomial(l)).integral().value() *
         detail::normalisation(k, l);
}
/// int phi_k phi_l phi_m dxi.
[[nodiscard]] constexpr double integral_triple(int k, int l, int m) {
  using detail::legendre_polynomial;
  return (legendre_polynomial(k) * legendre_polynomial(l) * legendre_polynomial(m)).integral().value() *
         detail::normalisation(k, l, m);
}

/// phi_k(xi) and phi_k'(xi) anywhere.
[[nodiscard]] double legendre(int k, double xi);
[[nodiscard]] double legendre_slope(int k, double xi);

}  // namespace quintet::kinetics
