#include <fmt/format.h>
#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/spectral/wave_statistics.hpp"
#include "tests/support/spectral_cases.hpp"

namespace quintet::spectral {
namespace {

using namespace testing;

constexpr double nu = 0.1;

/// Burgers' equation in two dimensions, u = -2 nu grad log phi, phi_t = nu lap phi (Hopf 1950, Cole 1951).
/// `t` is a number.
std::string phi(double t) {
  return fmt::format("(3 + {:.17g}*cos(x) + 0.5*{:.17g}*sin(x + y) + 0.4*{:.17g}*cos(2*y))",
                     std::exp(-nu * t), std::exp(-2 * nu * t), std::exp(-4 * nu * t));
}
std::vector<std::string> cole_hopf(double t) {
  return {fmt::format("-2*nu*(-{:.17g}*sin(x) + 0.5*{:.17g}*cos(x + y))/{}", std::exp(-nu * t),
                      std::exp(-2 * nu * t), phi(t)),
          fmt::format("-2*nu*(0.5*{:.17g}*cos(x + y) - 0.8*{:.17g}*sin(2*y))/{}", std::exp(-2 * nu * t),
                      std::exp(-4 * nu * t), phi(t))};
}

PeriodicFlow burgers(int n, Dealias dealias = Dealias::two_thirds) {
  return {
      Comm::self(),
      {2 * pi, 2 * pi, n, n, dealias},
      FlowReader(equations({{"u", "-u*dx(u) - v*dy(u) + nu*lap(u)"}, {"v", "-u*dx(v) - v*dy(v) + nu*lap(v)"}},
                           {}, {{"nu", nu}})),
      {},
      1};
}

double error_of_burgers(int n, int steps, Dealias dealias = Dealias::two_thirds) {
  constexpr double end = 2;
  PeriodicFlow flow = burgers(n, dealias);
  start(flow, cole_hopf(0));
  advance(flow, end, steps);
  return look(flow, "u - (" + cole_hopf(end)[0] + ")").most +
         look(flow, "v - (" + cole_hopf(end)[1] + ")").most;
}

TEST(Burgers, agrees_with_cole_and_hopf_with_spectral_accuracy) {
  const double coarse = error_of_burgers(16, 80), middle = error_of_burgers(32, 80),
               fine = error_of_burgers(64, 80);
  EXPECT_LT(coarse, 2e-2);
  EXPECT_LT(middle, coarse / 50);  // an algebraic order p would give 2^p twice
  EXPECT_LT(fine, middle / 1000);
  EXPECT_LT(fine, 1e-9);
}

TEST(Burgers, keeps_all_waves_with_three_halves) {
  EXPECT_LT(error_of_burgers(32, 80, Dealias::three_halves), error_of_burgers(32, 80) / 5);
}

TEST(Step, is_of_fourth_order) {
  PeriodicFlow fine = burgers(32);
  start(fine, cole_hopf(0));
  advance(fine, 2, 160);
  const auto error = [&](int steps) {
    PeriodicFlow flow = burgers(32);
    start(flow, cole_hopf(0));
    advance(flow, 2, steps);
    double most = 0;
    for (std::size_t i = 0; i < flow.grid().n_modes(); ++i)
      most = std::max(most, std::hypot(flow.state(0)[0].re(i) - fine.state(0)[0].re(i),
                                       flow.state(0)[0].im(i) - fine.state(0)[0].im(i)));
    return most;
  };
  const double long_steps = error(5), short_steps = error(10);
  EXPECT_GT(std::log2(long_steps / short_steps), 3.7) << long_steps << " " << short_steps;
  EXPECT_LT(std::log2(long_steps / short_steps), 4.6);
}

TEST(Step, follows_forces_that_depend_on_time_to_fourth_order) {
  // f = sin(t) cos(x) of f_t = nu lap f + (cos t + nu sin t) cos(x)
  const auto error = [](int steps) {
    PeriodicFlow flow(
        Comm::self(), {2 * pi, 2 * pi, 8, 8, Dealias::two_thirds},
        FlowReader(equations({{"f", "nu*lap(f) + (cos(t) + nu*sin(t))*cos(x)"}}, {}, {{"nu", nu}})), {}, 1);
    advance(flow, 3, steps);
    return look(flow, fmt::format("f - {:.17g}*cos(x)", std::sin(3.0))).most;
  };
  EXPECT_NEAR(std::log2(error(4) / error(8)), 4, 0.4);
}

TEST(Step, is_exact_for_what_is_linear_of_the_variable_itself) {
  // Rossby waves: w_t = -beta psi_x + nu lap w turns each wave by beta k_x/k^2.
  PeriodicFlow flow(Comm::self(), {2 * pi, 2 * pi, 16, 16, Dealias::two_thirds},
                    FlowReader(equations({{"w", "-beta*dx(psi) + nu*lap(w)"}}, {{"psi", "inverse_lap(w)"}},
                                         {{"nu", nu}, {"beta", 20}})),
                    {}, 1);
  start(flow, {"cos(2*x + y)"});
  ASSERT_TRUE(flow.has_linear_part(0));
  advance(flow, 3, 1);  // one step of 24 radians
  const double phase = 20 * 2 / 5.0 * 3;
  EXPECT_LT(look(flow, fmt::format("w - {:.17g}*cos(2*x + y + {:.17g})", std::exp(-nu * 5 * 3), phase)).most,
            1e-13);
}

TEST(Taylor_and_Green, decays_as_it_should_while_it_is_carried_along) {
  // A mean wind (1, 0.5), which the vorticity does not have: in u and v by hand.
  PeriodicFlow flow(
      Comm::self(), {2 * pi, 2 * pi, 24, 24, Dealias::two_thirds},
      FlowReader(equations({{"w", "-(u + 1)*dx(w) - (v + 0.5)*dy(w) + nu*lap(w)"}},
                           {{"psi", "-inverse_lap(w)"}, {"u", "dy(psi)"}, {"v", "-dx(psi)"}}, {{"nu", nu}})),
      {}, 1);
  start(flow, {"2*cos(x)*cos(y)"});
  advance(flow, 4, 200);
  EXPECT_LT(look(flow, fmt::format("w - 2*{:.17g}*cos(x - 4)*cos(y - 2)", std::exp(-nu * 2 * 4))).most, 5e-8);
}

TEST(Shallow_water, waves_have_the_frequency_of_poincare) {
  // omega^2 = f^2 + g depth k^2 for a wave (2, 1) of small amplitude.
  const double f = 1.5, g = 2, depth = 0.7, k2 = 5, omega = std::sqrt(f * f + g * depth * k2), size = 1e-7;
  PeriodicFlow flow(Comm::self(), {2 * pi, 2 * pi, 16, 16, Dealias::two_thirds},
                    FlowReader(equations({{"u", "-u*dx(u) - v*dy(u) + f*v - g*dx(h)"},
                                          {"v", "-u*dx(v) - v*dy(v) - f*u - g*dy(h)"},
                                          {"h", "-depth*(dx(u) + dy(v)) - dx(h*u) - dy(h*v)"}},
                                         {}, {{"f", f}, {"g", g}, {"depth", depth}})),
                    {}, 1);
  const auto wave = [&](double t) {  // h = size cos(k x - omega t); u, v of the linear equations
    const double c = g * size / (omega * omega - f * f);
    const std::string phase = fmt::format("(2*x + y - {:.17g})", omega * t);
    return std::vector<std::string>{
        fmt::format("{:.17g}*cos{} - {:.17g}*sin{}", c * omega * 2, phase, c * f * 1, phase),
        fmt::format("{:.17g}*cos{} + {:.17g}*sin{}", c * omega * 1, phase, c * f * 2, phase),
        fmt::format("{:.17g}*cos{}", size, phase)};
  };
  start(flow, wave(0));
  const double end = 2 * 2 * pi / omega + 0.3;
  advance(flow, end, 400);
  for (std::size_t v = 0; v < 3; ++v)
    EXPECT_LT(look(flow, flow.variables()[v].name + " - (" + wave(end)[v] + ")").most, 2e-5 * size);
}

}  // namespace
}  // namespace quintet::spectral
