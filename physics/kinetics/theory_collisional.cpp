#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "physics/kinetics/complex_roots.hpp"
#include "physics/kinetics/theory.hpp"

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
Complex dispersion(Complex lambda, const Problem& problem, int n_last) {
  const double square = problem.kappa * problem.kappa, nu = problem.nu, d = problem.dimensions;
  const double field = problem.plasma_frequency * problem.plasma_frequency;
  if (problem.invariants == CollisionInvariants::density)
    return lambda * chain(lambda, problem, 1, 0, n_last) + square + field;
  Complex f_2 = lambda + 2 * nu * (1 - 1 / d) + 3 * square / chain(lambda, problem, 3, 0, n_last);
  if (problem.dimensions > 1)  // a_2 drives and feels the transverse temperature b_0
    f_2 -= 4 * nu * nu * (d - 1) / (d * d) / (chain(lambda, problem, 0, 2, n_last) - 2 * nu * (d - 1) / d);
  return lambda * (lambda + 2 * square / f_2) + square + field;
}

/// As many members of the chain as leave its sum unchanged.
Complex converged_dispersion(Complex lambda, const Problem& problem) {
  Complex last = dispersion(lambda, problem, 128);
  for (int n_last = 256; n_last <= 1 << 24; n_last *= 2) {
    const Complex now = dispersion(lambda, problem, n_last);
    if (std::abs(now - last) <= 1e-14 * (std::norm(lambda) + problem.kappa * problem.kappa)) return now;
    last = now;
  }
  throw NumericalError(
      fmt::format("the Hermite series of collisional Landau damping with nu = {} at k vth = {} does "
                  "not converge; take nu = 0 instead",
                  problem.nu, problem.kappa));
}

}  // namespace

Complex collisional_landau_mode(double k, double nu, CollisionInvariants invariants, int velocity_dimensions,
                                double plasma_frequency, double thermal_speed) {
  QUINTET_CHECK(nu >= 0 && std::isfinite(nu), "collision frequency nu is {}; expected 0 or more", nu);
  QUINTET_CHECK(velocity_dimensions >= 1 && velocity_dimensions <= 3,
                "velocity space of {} dimensions; expected 1 to 3", velocity_dimensions);
  Complex omega = landau_mode(k, plasma_frequency, thermal_speed);
  Problem problem{std::abs(k) * thermal_speed, nu, plasma_frequency, invariants, velocity_dimensions};
  const int n_steps = static_cast<int>(std::ceil(nu / (0.05 * problem.kappa)));
  Complex before = omega;
  for (int i = 1; i <= n_steps; ++i) {
    problem.nu = nu * i / n_steps;
    const Complex guess = i == 1 ? omega : 2.0 * omega - before;
    before = omega;
    const auto f = [&](Complex w) { return converged_dispersion({w.imag(), -w.real()}, problem); };
    omega = refine_root(f, guess, 0.05 * problem.kappa);
  }
  return omega;
}

}  // namespace quintet::kinetics
