#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "tests/support/spectral_cases.hpp"

namespace quintet::spectral {
namespace {

using namespace testing;

/// Orszag and Tang 1979, J. Fluid Mech. 90, 129: the vortex with a magnetic field, nu = eta = 0.02.
PeriodicFlow vortex(int n) {
  PeriodicFlow flow(Comm::self(), {2 * pi, 2 * pi, n, n, Dealias::two_thirds},
                    FlowReader(magnetic(0.02, 0.02)), {}, 1);
  start(flow, {"2*cos(x) + 2*cos(y)", "2*cos(y) + cos(2*x)"});
  return flow;
}

// What orszag_tang.py prints: the same truncated equations by another program, transform and step.
TEST(Orszag_and_Tang, have_the_numbers_of_numpy) {
  PeriodicFlow flow = vortex(64);
  advance(flow, 0.5, 100);
  EXPECT_NEAR(look(flow, "j").most / 17.8280145216, 1, 1e-7);
  EXPECT_NEAR(look(flow, "w").most / 6.76822545749, 1, 1e-7);
  advance(flow, 1, 100);
  EXPECT_NEAR(look(flow, "j").most / 44.7866584973, 1, 1e-6);
  EXPECT_NEAR(look(flow, "w").most / 14.0496578291, 1, 1e-6);
  EXPECT_NEAR(look(flow, "j^2").mean / 39.1658856724, 1, 1e-6);
  EXPECT_NEAR(look(flow, "w^2").mean / 13.554912969, 1, 1e-6);
}

TEST(Orszag_and_Tang, lose_energy_at_the_rate_of_both_dissipations) {
  PeriodicFlow flow = vortex(96);
  const std::string energy = "(u^2 + v^2 + b_x^2 + b_y^2)/2";
  advance(flow, 0.7, 140);
  const double before = look(flow, energy).mean, rate = -0.02 * look(flow, "w^2 + j^2").mean,
               time = flow.time();
  constexpr double h = 1e-3;
  advance(flow, time + h, 1);
  const double after = look(flow, energy).mean, rate_after = -0.02 * look(flow, "w^2 + j^2").mean;
  EXPECT_NEAR((after - before) / (0.5 * h * (rate + rate_after)), 1, 1e-5);
}

}  // namespace
}  // namespace quintet::spectral
