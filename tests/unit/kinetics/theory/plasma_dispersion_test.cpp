#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "physics/kinetics/theory/plasma_dispersion.hpp"

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;
const double sqrt_pi = std::sqrt(std::numbers::pi);

/// Points of all sizes with Im zeta > -3, some beside the nodes of the rules.
std::vector<Complex> sample_points() {
  std::mt19937_64 random(7);
  std::vector<Complex> points;
  for (const double size : {0.1, 1.0, 3.0, 6.0, 9.0, 30.0, 1e3})
    for (int i = 0; i < 40; ++i) {
      std::uniform_real_distribution<double> x(-size, size), y(-std::min(size, 3.0), size);
      points.emplace_back(x(random), y(random));
    }
  const double h = std::sqrt(std::numbers::pi / 14);
  for (int i = 0; i < 20; ++i)
    for (const double y : {0.0, 1e-12, 0.1}) points.emplace_back(0.25 * i * h, y);
  return points;
}

/// pi^(-1/2) int exp(-s^2)/(s - zeta)^power ds by the trapezoidal rule, whose error is exp(-2 pi Im zeta/h) +
/// exp(-(pi/h)^2).
Complex integral(Complex zeta, int power) {
  const double h = std::min(zeta.imag() / 8, 0.25);
  Complex sum = 0;
  for (int i = -static_cast<int>(7 / h); i * h <= 7; ++i)
    sum += std::exp(-i * h * i * h) / std::pow(i * h - zeta, power);
  return sum * h / sqrt_pi;
}

TEST(PlasmaDispersion, is_the_integral_above_the_real_axis) {
  for (const Complex zeta : sample_points()) {
    if (zeta.imag() < 0.2) continue;
    const Complex z = integral(zeta, 1), slope = integral(zeta, 2);

    EXPECT_LT(std::abs(plasma_dispersion_function(zeta) - z), 1e-13 * std::abs(z)) << zeta;
    EXPECT_LT(std::abs(plasma_dispersion_slope(zeta) - slope), 1e-13 * std::abs(slope)) << zeta;
  }
}

/// Values of 40 digits with mpmath: i sqrt(pi) exp(-z^2) erfc(-i z).
TEST(PlasmaDispersion, has_known_values) {
  const struct {
    Complex zeta, z;
  } cases[] = {
      {{0, 0}, {0, 1.7724538509055160273}},
      {{1, 0}, {-1.0761590138255368383, 0.65204933217329218306}},
      {{1, -1}, {-3.5924339104403789713, -2.0153471661090174468}},
      {{2.5, -0.5}, {-0.41721324038758237574, -0.11061733045939053507}},
      {{-0.75, 2}, {0.13113687494867866688, 0.41387328044500051041}},
      {{6.25, 0.001}, {-0.16213218367701466266, 2.6652350772676193062e-5}},
  };
  for (const auto& c : cases)
    EXPECT_LT(std::abs(plasma_dispersion_function(c.zeta) - c.z), 1e-14 * std::abs(c.z)) << c.zeta;
}

TEST(PlasmaDispersion, solves_its_differential_equation) {
  for (const Complex zeta : sample_points()) {
    const Complex z = plasma_dispersion_function(zeta), slope = plasma_dispersion_slope(zeta);
    const double size = 2 * (1 + std::abs(zeta * z));

    EXPECT_LT(std::abs(slope + 2.0 * (1.0 + zeta * z)), 1e-14 * (1 + std::abs(zeta)) * size) << zeta;
  }
}

/// The slope is that of the function: central differences, on both sides of the real axis and across it.
TEST(PlasmaDispersion, has_the_slope_it_says) {
  for (const Complex zeta :
       {Complex(0.3, 0.7), Complex(2.1, 1e-4), Complex(1.4, -0.9), Complex(-3.3, -0.2)}) {
    const Complex step{1e-3, 1e-3};
    const auto at = [&](double n) { return plasma_dispersion_function(zeta + n * step); };
    const Complex difference = (8.0 * (at(1) - at(-1)) - at(2) + at(-2)) / (12.0 * step);

    EXPECT_LT(std::abs(plasma_dispersion_slope(zeta) - difference), 1e-9) << zeta;
  }
}

TEST(PlasmaDispersion, is_symmetric_and_continued_below_the_real_axis) {
  for (const Complex zeta : sample_points()) {
    const Complex z = plasma_dispersion_function(zeta);
    const Complex mirrored = -std::conj(plasma_dispersion_function(-std::conj(zeta)));
    EXPECT_LE(std::abs(z - mirrored), 1e-15 * std::abs(z)) << zeta;
    if (std::abs(zeta.imag()) > 3) continue;
    const Complex gaussian = 2.0 * Complex(0, sqrt_pi) * std::exp(-zeta * zeta);
    const Complex continued = gaussian + std::conj(plasma_dispersion_function(std::conj(zeta)));
    const double tolerance = 1e-14 * (1 + std::norm(zeta)) * (std::abs(gaussian) + std::abs(z));
    EXPECT_LE(std::abs((zeta.imag() < 0 ? z - continued : Complex(0))), tolerance) << zeta;
  }
}

TEST(PlasmaDispersion, falls_off_as_its_asymptotic_series) {
  for (const Complex zeta :
       {Complex(60, 5), Complex(-100, 80), Complex(3e4, 0), Complex(1e12, 1), Complex(0, 1e160)}) {
    const Complex s = 1.0 / zeta / zeta;
    const Complex z = -(1.0 + s * (0.5 + s * (0.75 + s * (1.875 + s * 6.5625)))) / zeta;
    const Complex slope = s * (1.0 + s * (1.5 + s * (3.75 + s * (13.125 + s * 59.0625))));

    EXPECT_LT(std::abs(plasma_dispersion_function(zeta) - z), 1e-14 * std::abs(z)) << zeta;
    EXPECT_LE(std::abs(plasma_dispersion_slope(zeta) - slope), 1e-13 * std::abs(slope)) << zeta;
  }
}

}  // namespace
}  // namespace quintet::kinetics
