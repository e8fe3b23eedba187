#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "tests/support/spectral_cases.hpp"

namespace quintet::spectral {
namespace {

using namespace testing;

PeriodicFlow make(const FlowEquations& equations, Dealias dealias, int n = 32) {
  return {Comm::self(), {2 * pi, 2 * pi, n, n, dealias}, FlowReader(equations), {}, 1};
}

/// Relative drift of means of a flow without dissipation, of so many steps to time 2.
std::vector<double> drifts(PeriodicFlow& flow, const std::vector<std::string>& invariants, int steps) {
  std::vector<double> before, changes;
  for (const auto& text : invariants) before.push_back(look(flow, text).mean);
  advance(flow, flow.time() + 2, steps);
  for (std::size_t i = 0; i < invariants.size(); ++i)
    changes.push_back(std::abs(look(flow, invariants[i]).mean / before[i] - 1));
  return changes;
}

const std::vector<std::string> of_euler{"(u^2 + v^2)/2", "w^2/2"};
const std::vector<std::string> of_magnetic{"(u^2 + v^2 + b_x^2 + b_y^2)/2", "u*b_x + v*b_y", "a^2"};
const std::vector<std::string> start_of_euler{"cos(x) + sin(2*x + y) - 1.5*cos(x - 3*y) + cos(4*y)"};
const std::vector<std::string> start_of_magnetic{"-2*cos(x) - 2*cos(y) + 0.3*cos(2*x + y)",
                                                 "cos(2*x)/2 + cos(y)"};

/// The truncated equations conserve them exactly, so that what is left is the step's error, of fourth order
/// or better (a factor 256).
void expect_conserved(const FlowEquations& equations, const std::vector<std::string>& begin,
                      const std::vector<std::string>& invariants) {
  PeriodicFlow flow = make(equations, Dealias::two_thirds), again = make(equations, Dealias::two_thirds);
  start(flow, begin);
  start(again, begin);
  const auto coarse = drifts(flow, invariants, 100), fine = drifts(again, invariants, 400);
  for (std::size_t i = 0; i < invariants.size(); ++i) {
    EXPECT_LT(fine[i], 1e-6) << invariants[i];
    EXPECT_LT(fine[i], std::max(coarse[i] / 60, 1e-12)) << invariants[i] << " " << coarse[i];
  }
}

TEST(Invariants, of_euler_are_energy_and_enstrophy) {
  expect_conserved(vorticity(0), start_of_euler, of_euler);
}

TEST(Invariants, of_ideal_mhd_are_energy_cross_helicity_and_potential) {
  expect_conserved(magnetic(0, 0), start_of_magnetic, of_magnetic);
}

TEST(Invariants, are_lost_where_products_are_aliased) {
  // The same waves; only the points of products are too few.
  PeriodicFlow clean = make(vorticity(0), Dealias::three_halves), aliased = make(vorticity(0), Dealias::none);
  start(clean, start_of_euler);
  start(aliased, start_of_euler);
  const auto kept = drifts(clean, of_euler, 400), lost = drifts(aliased, of_euler, 400);
  EXPECT_LT(kept[1], 1e-5);
  EXPECT_GT(lost[1], 100 * kept[1]) << kept[1];
}

TEST(Invariants, of_shallow_water_are_volume_energy_and_potential_enstrophy_of_a_resolved_flow) {
  const auto equations_of_it = equations({{"u", "q*h*v - dx(g*h + (u^2 + v^2)/2)"},
                                          {"v", "-q*h*u - dy(g*h + (u^2 + v^2)/2)"},
                                          {"h", "-dx(h*u) - dy(h*v)"}},
                                         {{"q", "(f + dx(v) - dy(u))/h"}}, {{"f", 2}, {"g", 1}});
  PeriodicFlow flow = make(equations_of_it, Dealias::two_thirds, 64);
  start(flow, {"0.2*sin(y)", "0.1*sin(x)", "1 + 0.1*cos(x)*cos(y)"});
  const auto change = drifts(flow, {"h", "h*(u^2 + v^2)/2 + g*h^2/2", "h*q^2"}, 400);
  EXPECT_LT(change[0], 1e-14);
  EXPECT_LT(change[1], 1e-9);
  EXPECT_LT(change[2], 1e-9);
}

TEST(Invariants, fall_at_the_rate_of_dissipation) {
  // d/dt <w^2>/2 = -nu <|grad w|^2>, d/dt energy = -nu <w^2>.
  PeriodicFlow flow = make(vorticity(0.01), Dealias::two_thirds, 64);
  start(flow, start_of_euler);
  advance(flow, 0.5, 100);
  const double rate = -0.01 * look(flow, "w^2").mean, before = look(flow, of_euler[0]).mean,
               time = flow.time();
  advance(flow, time + 1e-3, 1);
  EXPECT_NEAR((look(flow, of_euler[0]).mean - before) / 1e-3 / rate, 1, 1e-3);
}

}  // namespace
}  // namespace quintet::spectral
