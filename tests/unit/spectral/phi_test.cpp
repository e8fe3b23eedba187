#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "physics/spectral/exponential_step.hpp"

namespace quintet::spectral {
namespace {

using Complex = std::complex<double>;

/// phi_n as the mean of its formula over a circle about z (Kassam and Trefethen 2005), which cancels nothing.
Complex by_contour(int n, Complex z) {
  constexpr int points = 64;
  const double radius = 2.5;
  Complex sum = 0;
  for (int i = 0; i < points; ++i) {
    const Complex r = z + std::polar(radius, 2 * std::numbers::pi * (i + 0.5) / points);
    const Complex phi_1 = (std::exp(r) - 1.0) / r, phi_2 = (phi_1 - 1.0) / r, phi_3 = (phi_2 - 0.5) / r;
    sum += n == 1 ? phi_1 : n == 2 ? phi_2 : phi_3;
  }
  return sum / static_cast<double>(points);
}

TEST(Phi, agrees_with_the_contour_on_both_sides_of_its_switch) {
  for (const double size : {0.0, 1e-8, 1e-3, 0.5, 0.9999, 1.0001, 1.5, 10.0, 40.0})
    for (const double angle : {std::numbers::pi, 2.0, 0.5 * std::numbers::pi, 1.0, 0.0}) {
      const Complex z = std::polar(size, angle);
      const Phi phi = phi_functions(z);
      const double scale = std::max(1.0, std::exp(z.real()));
      EXPECT_LT(std::abs(phi.phi_1 - by_contour(1, z)), 2e-14 * scale) << z;
      EXPECT_LT(std::abs(phi.phi_2 - by_contour(2, z)), 2e-14 * scale) << z;
      EXPECT_LT(std::abs(phi.phi_3 - by_contour(3, z)), 2e-14 * scale) << z;
    }
}

TEST(Phi, factors_without_decay_are_those_of_runge_and_kutta) {
  StepFactors factors(1);
  factors.set({0.0}, 0.3);
  EXPECT_EQ(factors.decay(0).real(), 1);
  EXPECT_NEAR(factors.weight(0).real(), 0.15, 1e-16);
  EXPECT_NEAR(factors.first(0).real(), 0.3 / 6, 1e-16);
  EXPECT_NEAR(factors.middle(0).real(), 0.3 / 3, 1e-16);
  EXPECT_NEAR(factors.last(0).real(), 0.3 / 6, 1e-16);
}

}  // namespace
}  // namespace quintet::spectral
