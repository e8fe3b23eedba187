#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "physics/kinetics/theory/theory.hpp"

/// What theory says of plasmas that tests alone compare with.
namespace quintet::kinetics {

/// Compute the mode of two equal beams at +-drift, each with half of plasma_frequency^2 and with
/// thermal_speed (0: cold).
[[nodiscard]] inline std::complex<double> two_stream_mode(double k, double drift, double thermal_speed,
                                                          double plasma_frequency = 1) {
  const double each = plasma_frequency / std::numbers::sqrt2;
  return electrostatic_mode(k, std::array{DriftingMaxwellian{each, thermal_speed, drift},
                                          DriftingMaxwellian{each, thermal_speed, -drift}});
}

/// Compute the mean velocity (u_x, u_y) at time t of particles at rest at t = 0 in E = E0 cos(omega t) x, B =
/// B0 z:
///
///     u_x = (a/2) t (cos(s t) sinc(d t) + cos(d t) sinc(s t)),   u_y = -(a W/2) t^2 sinc(s t) sinc(d t),
///
/// a = (q/m) E0, W = (q/m) B0, s = (W + omega)/2, d = (W - omega)/2, sinc(x) = sin(x)/x: smooth through the
/// resonance omega = |W| and, with omega = 0, the drift E x B/B^2 with its gyration.
[[nodiscard]] inline std::array<double, 2> driven_cyclotron_velocity(double t, double e0, double omega,
                                                                     double b0, double charge_to_mass) {
  const double a = charge_to_mass * e0, gyration = charge_to_mass * b0;
  const double s = 0.5 * (gyration + omega) * t, d = 0.5 * (gyration - omega) * t;
  const auto sinc = [](double x) { return x == 0 ? 1 : std::sin(x) / x; };
  return {0.5 * a * t * (std::cos(s) * sinc(d) + std::cos(d) * sinc(s)),
          -0.5 * a * gyration * t * t * sinc(s) * sinc(d)};
}

}  // namespace quintet::kinetics
