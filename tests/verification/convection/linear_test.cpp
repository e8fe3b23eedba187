#include <array>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "tests/support/convection_cases.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

/// Growth rate of a small pair of rolls of wavenumber k on the conducting state: half that of the energy.
double growth_rate(double rayleigh, double prandtl, double k, int n, double settle, double end) {
  Problem problem;
  problem.rayleigh = rayleigh;
  problem.prandtl = prandtl;
  const Grid grid = make_grid(Comm::self(), problem, 2 * M_PI / k, 2 * n, n);
  Start start;
  start.roll = 1e-8;
  start.noise = 0;
  Boussinesq flow = make_flow(problem, grid, start);
  advance_to(flow, settle, 0.02);
  const double before = sample(Exec(), flow, 0).kinetic_energy;
  advance_to(flow, end, 0.02);
  return 0.5 * std::log(sample(Exec(), flow, 0).kinetic_energy / before) / (end - settle);
}

}  // namespace

/// Rates of the conducting state, k = pi, Pr = 1, by a Chebyshev eigenvalue solver (tolerance 1e-8).
TEST(LinearGrowth, has_the_rates_of_the_eigenvalue_problem) {
  struct Case {
    double rayleigh, rate;
    int n;
  };
  for (const auto& [rayleigh, rate, n] : std::array<Case, 6>{{{1500, -0.04226747, 32},
                                                              {2000, 0.04822721, 32},
                                                              {3000, 0.15755741, 32},
                                                              {1e4, 0.38533544, 32},
                                                              {1e5, 0.58655847, 48},
                                                              {1e6, 0.65791659, 64}}}) {
    EXPECT_NEAR(growth_rate(rayleigh, 1, M_PI, n, 8, 10), rate, 0.005 * std::abs(rate)) << "Ra " << rayleigh;
  }
}

/// Rayleigh 1916; k = pi has the critical number 1707.9223, k = 3.11631 the least, 1707.761776.
TEST(LinearGrowth, begins_at_the_critical_rayleigh_number) {
  for (const auto& [k, critical] : {std::pair{M_PI, 1707.9223}, std::pair{3.11631, 1707.761776}}) {
    const double below = growth_rate(1650, 1, k, 48, 8, 10), above = growth_rate(1770, 1, k, 48, 8, 10);
    EXPECT_LT(below, 0);
    EXPECT_GT(above, 0);
    EXPECT_NEAR(1650 + 120 * below / (below - above), critical, 0.005 * critical);
  }
}

/// Free-slip plates: Ra = (pi^2 + k^2)^3/k^2, least 27 pi^4/4 = 657.511 at k = pi/sqrt(2) (Rayleigh 1916),
/// and the growth rate solves (s + P q)(s + R q) = k^2/q with q = pi^2 + k^2.
TEST(LinearGrowth, between_free_slip_plates_is_rayleighs) {
  const double k = M_PI / std::sqrt(2.0), q = M_PI * M_PI + k * k;
  Problem problem;
  problem.bottom = problem.top = Wall::free_slip;
  for (const double prandtl : {0.5, 3.0})
    for (const double rayleigh : {300.0, 1500.0, 5000.0}) {
      problem.rayleigh = rayleigh;
      problem.prandtl = prandtl;
      const double p = problem.thermal_diffusivity() * q, r = problem.viscosity() * q;
      const double rate = -0.5 * (p + r) + std::sqrt(0.25 * (p - r) * (p - r) + k * k / q);
      const Grid grid = make_grid(Comm::self(), problem, 2 * M_PI / k, 64, 48);
      Start start;
      start.roll = 1e-8;
      start.noise = 0;
      Boussinesq flow = make_flow(problem, grid, start);
      advance_to(flow, 8, 0.02);
      const double before = sample(Exec(), flow, 0).kinetic_energy;
      advance_to(flow, 10, 0.02);
      const double measured = 0.25 * std::log(sample(Exec(), flow, 0).kinetic_energy / before);
      EXPECT_NEAR(measured, rate, 0.005 * std::abs(rate)) << "Ra " << rayleigh << ", Pr " << prandtl;
    }
}
