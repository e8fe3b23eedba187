#include "physics/kinetics/basis/legendre.hpp"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "tests/support/field_space.hpp"

using namespace quintet::kinetics;

namespace {

// Orthonormal Legendre polynomials by another way: the standard library's, and Legendre's equation for
// slopes.
double phi(int k, double x) { return std::sqrt(k + 0.5) * std::legendre(static_cast<unsigned>(k), x); }
/// (x^2 - 1) P_k' = k (x P_k - P_(k-1))
double slope(int k, double x) {
  if (k == 0) return 0;
  const unsigned n = k;
  return std::sqrt(k + 0.5) * k * (x * std::legendre(n, x) - std::legendre(n - 1, x)) / (x * x - 1);
}
/// (1 - x^2) P_k'' = 2 x P_k' - k (k + 1) P_k
double curvature(int k, double x) { return (2 * x * slope(k, x) - k * (k + 1) * phi(k, x)) / (1 - x * x); }

double integral(const std::function<double(double)>& f) {
  static const auto rule = fields::gauss(20);
  double sum = 0;
  for (std::size_t i = 0; i < rule.node.size(); ++i) sum += rule.weight[i] * f(rule.node[i]);
  return sum;
}

constexpr double round_off = 2e-13;

}  // namespace

TEST(Legendre, gauss_rule_of_these_tests_is_exact) {
  for (int n : {1, 2, 5, 20}) {
    const auto rule = fields::gauss(n);
    for (int power = 0; power < 2 * n; ++power) {
      double sum = 0;
      for (std::size_t i = 0; i < rule.node.size(); ++i)
        sum += rule.weight[i] * std::pow(rule.node[i], power);
      EXPECT_NEAR(sum, power % 2 == 0 ? 2.0 / (power + 1) : 0.0, 1e-13);
    }
  }
}

TEST(Legendre, values_and_slopes_are_those_of_the_standard_library) {
  for (int k = 0; k <= 6; ++k)
    for (const double x : {-0.97, -0.4, 0.0, 0.31, 0.88}) {
      EXPECT_NEAR(legendre(k, x), phi(k, x), round_off);
      EXPECT_NEAR(legendre_slope(k, x), slope(k, x), 10 * round_off);
    }
}

TEST(Legendre, ends_are_the_limits_of_the_polynomials) {
  for (int k = 0; k <= max_degree; ++k)
    for (const int side : {-1, 1}) {
      EXPECT_NEAR(legendre_end(k, side), phi(k, side), round_off);
      EXPECT_NEAR(legendre_end_slope(k, side), legendre_slope(k, side), round_off);
    }
}

TEST(Legendre, integrals_of_two_are_those_of_quadrature) {
  for (int k = 0; k <= max_degree; ++k)
    for (int l = 0; l <= max_degree; ++l) {
      EXPECT_NEAR(integral_derivative(k, l), integral([&](double x) { return slope(k, x) * phi(l, x); }),
                  round_off);
      EXPECT_NEAR(integral_second_derivative(k, l),
                  integral([&](double x) { return curvature(k, x) * phi(l, x); }), 20 * round_off);
      EXPECT_NEAR(integral_shift(k, l), integral([&](double x) { return x * phi(k, x) * phi(l, x); }),
                  round_off);
    }
}

TEST(Legendre, integrals_of_three_are_those_of_quadrature) {
  for (int k = 0; k <= max_degree; ++k)
    for (int l = 0; l <= max_degree; ++l)
      for (int m = 0; m <= max_degree; ++m)
        EXPECT_NEAR(integral_triple(k, l, m),
                    integral([&](double x) { return phi(k, x) * phi(l, x) * phi(m, x); }), round_off);
}

TEST(Legendre, integrals_that_vanish_are_exactly_zero) {
  for (int k = 0; k <= max_degree; ++k)
    for (int l = 0; l <= max_degree; ++l) {
      if (l >= k || (k - l) % 2 == 0) {
        EXPECT_EQ(integral_derivative(k, l), 0.0);
      }
      if (std::abs(k - l) != 1) {
        EXPECT_EQ(integral_shift(k, l), 0.0);
      }
      for (int m = 0; m <= max_degree; ++m)
        if ((k + l + m) % 2 == 1 || m > k + l) {
          EXPECT_EQ(integral_triple(k, l, m), 0.0);
        }
    }
}

TEST(Legendre, is_known_at_compile_time) {
  static_assert(integral_derivative(1, 0) > 1.732050807568 && integral_derivative(1, 0) < 1.732050807570);
  for (const double x : {0.0, 1e-6, 0.5, 2.0, 3.5, 1e9})
    EXPECT_NEAR(constant_sqrt(x), std::sqrt(x), 3e-16 * std::sqrt(x));
}
