#include <cmath>
#include <functional>
#include <numbers>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/complex_roots.hpp"
#include "physics/kinetics/theory/plasma_dispersion.hpp"
#include "physics/kinetics/theory/theory.hpp"

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;

struct Problem {
  double kappa, nu, plasma_frequency;  ///< kappa = k vth
  CollisionInvariants invariants;
  int dimensions;
};

/// lambda + nu (n + shift) + kappa^2 (n+1)/(the same for n + 1), started at n_last: by what a_n' = lambda a_n
/// turns a_{n-1} into a_n, F_n a_n = -i kappa sqrt(n) a_{n-1}.
Complex chain(Complex lambda, const Problem& problem, int n_first, double shift, int n_last) {
  const double square = problem.kappa * problem.kappa;
  const auto diagonal = [&](double n) { return lambda + problem.nu * (n + shift); };
  const Complex end = diagonal(n_last);
  Complex f = 0.5 * (end + std::sqrt(end * end + 4 * square * (n_last + 1)));  // as if F_{n+1} were F_n
  for (int n = n_last - 1; n >= n_first; --n) f = diagonal(n) + square * (n + 1) / f;
  return f;
}

/// Zero at the eigenvalues lambda = -i omega: lambda F_1 + kappa^2 + omega_p^2, from the rows n = 0 and 1.
Complex close_chain(Complex lambda, const Problem& problem, Complex f_1) {
  const double square = problem.kappa * problem.kappa,
               field = problem.plasma_frequency * problem.plasma_frequency;
  return lambda * f_1 + square + field;
}

/// F_1 where density, momentum and energy are kept: from F_3 and G_0 of the transverse chain b_n, and the
/// rate at which collisions even out temperatures.
Complex conserving_chain(Complex lambda, const Problem& problem, double rate, Complex f_3, Complex g_0) {
  const double square = problem.kappa * problem.kappa, d = problem.dimensions;
  Complex f_2 = lambda + rate * (1 - 1 / d) + 3 * square / f_3;
  if (problem.dimensions > 1) f_2 -= rate * rate * (d - 1) / (d * d) / (g_0 - rate * (d - 1) / d);
  return lambda + 2 * square / f_2;
}

Complex dispersion(Complex lambda, const Problem& problem, int n_last) {
  if (problem.invariants == CollisionInvariants::density)
    return close_chain(lambda, problem, chain(lambda, problem, 1, 0, n_last));
  const Complex f_3 = chain(lambda, problem, 3, 0, n_last);
  const Complex g_0 = problem.dimensions > 1 ? chain(lambda, problem, 0, 2, n_last) : 0;
  return close_chain(lambda, problem, conserving_chain(lambda, problem, 2 * problem.nu, f_3, g_0));
}

/// The collisionless chain at s = lambda + nu: 1/F_0 = int M/(s + i kappa v) dv = -zeta Z/s with zeta =
/// i s/(sqrt(2) kappa), and F_{n+1} = (n + 1) kappa^2/(F_n - s).
Complex bgk_dispersion(Complex lambda, const Problem& problem) {
  const double square = problem.kappa * problem.kappa;
  const Complex s = lambda + problem.nu, zeta = Complex(0, 1) * s / (std::numbers::sqrt2 * problem.kappa);
  const Complex f_0 = Complex(0, 1) * std::numbers::sqrt2 * problem.kappa / plasma_dispersion_function(zeta);
  const Complex f_1 = square / (-0.5 * plasma_dispersion_slope(zeta) * f_0);  // F_0 - s = (1 + zeta Z) F_0
  const Complex f_2 = 2 * square / (f_1 - s), f_3 = 3 * square / (f_2 - s);
  return close_chain(lambda, problem, conserving_chain(lambda, problem, problem.nu, f_3, f_0));
}

[[noreturn]] void fail(const Problem& problem) {
  throw NumericalError(
      fmt::format("the Hermite series of collisional Landau damping with nu = {} at k vth = {} does "
                  "not converge",
                  problem.nu, problem.kappa));
}

/// As many members of the chain as leave its sum unchanged.
Complex converged_dispersion(Complex lambda, const Problem& problem) {
  Complex last = dispersion(lambda, problem, 128);
  for (int n_last = 256; n_last <= 1 << 24; n_last *= 2) {
    const Complex now = dispersion(lambda, problem, n_last);
    if (std::abs(now - last) <= 1e-14 * (std::norm(lambda) + problem.kappa * problem.kappa)) return now;
    last = now;
  }
  fail(problem);
}

/// The root that begins as Landau's at nu = 0, in steps of nu.
Complex follow_from_landau(double k, double nu, double thermal_speed, Problem problem,
                           const std::function<Complex(Complex lambda, const Problem&)>& f) {
  QUINTET_CHECK(nu >= 0 && std::isfinite(nu), "collision frequency nu is {}; expected 0 or more", nu);
  QUINTET_CHECK(problem.dimensions >= 1 && problem.dimensions <= 3,
                "velocity space of {} dimensions; expected 1 to 3", problem.dimensions);
  Complex omega = landau_mode(k, problem.plasma_frequency, thermal_speed), before = omega;
  problem.kappa = std::abs(k) * thermal_speed;
  constexpr double most_steps = 1e6;  // a minute; such collisions leave no wave
  const double steps = std::ceil(nu / (0.05 * problem.kappa));
  problem.nu = nu;
  if (!(steps <= most_steps)) fail(problem);
  const int n_steps = steps;
  for (int i = 1; i <= n_steps; ++i) {
    problem.nu = nu * i / n_steps;
    const Complex guess = i == 1 ? omega : 2.0 * omega - before;
    before = omega;
    omega = refine_root(
        [&](Complex w) {
          return f({w.imag(), -w.real()}, problem);
        },
        guess, 0.05 * problem.kappa);
  }
  return omega;
}

}  // namespace

Complex collisional_landau_mode(double k, double nu, CollisionInvariants invariants, int velocity_dimensions,
                                double plasma_frequency, double thermal_speed) {
  return follow_from_landau(k, nu, thermal_speed, {0, 0, plasma_frequency, invariants, velocity_dimensions},
                            converged_dispersion);
}

Complex bgk_landau_mode(double k, double nu, int velocity_dimensions, double plasma_frequency,
                        double thermal_speed) {
  return follow_from_landau(
      k, nu, thermal_speed,
      {0, 0, plasma_frequency, CollisionInvariants::density_momentum_energy, velocity_dimensions},
      bgk_dispersion);
}

}  // namespace quintet::kinetics
