#include "tests/support/riemann.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet::kinetics {
namespace {

struct Case {
  GasState left, right;
};
const std::vector<Case> cases = {{{1, 0, 1}, {0.125, 0, 0.1}},      // Sod: rarefaction, shock
                                 {{1, -0.5, 0.4}, {1, 0.5, 0.4}},   // two rarefactions
                                 {{1, 2, 0.4}, {0.7, -1.5, 0.9}},   // two shocks
                                 {{1, 0.3, 0.01}, {1, 0.1, 100}}};  // strong shock to the left
const std::vector<double> indices = {3, 2, 5.0 / 3, 1.4};

TEST(Riemann, has_the_known_values_of_sods_tube) {
  const RiemannSolution sod({1, 0, 1}, {0.125, 0, 0.1}, 1.4);  // Toro, table 4.3

  EXPECT_NEAR(sod.star_pressure(), 0.30313, 5e-6);
  EXPECT_NEAR(sod.star_velocity(), 0.92745, 5e-6);
  EXPECT_NEAR(sod.star_density(-1), 0.42632, 5e-6);
  EXPECT_NEAR(sod.star_density(1), 0.26557, 5e-6);
}

/// Rankine-Hugoniot: S [U] = [F] for mass, momentum and energy.
void expect_jump(const GasState& a, const GasState& b, double speed, double gamma) {
  const auto energy = [&](const GasState& s) {
    return s.pressure / (gamma - 1) + 0.5 * s.density * s.velocity * s.velocity;
  };
  const auto momentum = [](const GasState& s) { return s.density * s.velocity; };
  const double scale = 1 + std::abs(speed) * (energy(a) + energy(b));
  EXPECT_NEAR(speed * (b.density - a.density), momentum(b) - momentum(a), 1e-13 * scale);
  EXPECT_NEAR(speed * (momentum(b) - momentum(a)),
              momentum(b) * b.velocity + b.pressure - momentum(a) * a.velocity - a.pressure, 1e-13 * scale);
  EXPECT_NEAR(speed * (energy(b) - energy(a)),
              b.velocity * (energy(b) + b.pressure) - a.velocity * (energy(a) + a.pressure), 1e-13 * scale);
}

TEST(Riemann, satisfies_the_jump_conditions) {
  int n_shocks = 0;
  for (const double gamma : indices)
    for (const auto& [left, right] : cases) {
      const RiemannSolution solution(left, right, gamma);
      const GasState star_left{solution.star_density(-1), solution.star_velocity(), solution.star_pressure()};
      const GasState star_right{solution.star_density(1), solution.star_velocity(), solution.star_pressure()};
      for (const int side : {-1, 1}) {
        if (!solution.shock(side)) continue;
        ++n_shocks;
        expect_jump(side < 0 ? left : right, side < 0 ? star_left : star_right, solution.head_speed(side),
                    gamma);
      }
      expect_jump(star_left, star_right, solution.star_velocity(), gamma);
    }
  EXPECT_EQ(n_shocks, 16);
}

/// In the fan: entropy p/rho^gamma and the Riemann invariant u +- 2c/(gamma - 1) are those of the gas ahead,
/// and the characteristic u -+ c is x/t.
TEST(Riemann, is_isentropic_in_rarefactions) {
  int n_fans = 0;
  for (const double gamma : indices)
    for (const auto& [left, right] : cases) {
      const RiemannSolution solution(left, right, gamma);
      for (const int side : {-1, 1}) {
        if (solution.shock(side)) continue;
        ++n_fans;
        const GasState& ahead = side < 0 ? left : right;
        for (const double part : {0.0, 0.3, 0.7, 1.0}) {
          const double speed = std::lerp(solution.head_speed(side), solution.tail_speed(side), part);
          const GasState s = solution.at(speed);
          const auto sound = [&](const GasState& g) { return std::sqrt(gamma * g.pressure / g.density); };
          EXPECT_NEAR(s.velocity + side * sound(s), speed, 1e-12);
          EXPECT_NEAR(s.velocity - side * 2 * sound(s) / (gamma - 1),
                      ahead.velocity - side * 2 * sound(ahead) / (gamma - 1), 1e-12);
          EXPECT_NEAR(s.pressure / std::pow(s.density, gamma),
                      ahead.pressure / std::pow(ahead.density, gamma), 1e-12);
        }
      }
    }
  EXPECT_EQ(n_fans, 16);
}

TEST(Riemann, mirrors) {
  for (const double gamma : indices)
    for (const auto& [left, right] : cases) {
      const RiemannSolution solution(left, right, gamma);
      const RiemannSolution mirrored({right.density, -right.velocity, right.pressure},
                                     {left.density, -left.velocity, left.pressure}, gamma);
      for (const double speed : {-30.03, -1.17, -0.31, 0.123, 0.77, 2.9}) {
        EXPECT_NEAR(solution.at(speed).density, mirrored.at(-speed).density, 1e-13);
        EXPECT_NEAR(solution.at(speed).velocity, -mirrored.at(-speed).velocity, 1e-12);
      }
    }
}

TEST(Riemann, opens_a_vacuum_between_gases_that_part_fast) {
  const RiemannSolution solution({1, -5, 0.4}, {1, 5, 0.4}, 1.4);

  EXPECT_EQ(solution.star_pressure(), 0);
  EXPECT_EQ(solution.at(0).density, 0);
  EXPECT_GT(solution.at(solution.tail_speed(-1) - 0.1).density, 0);
  EXPECT_NEAR(solution.at(solution.tail_speed(1) + 1e-9).density, 0, 1e-12);
  EXPECT_EQ(solution.at(-10).density, 1);
}

TEST(Riemann, index_follows_the_velocity_directions) {
  EXPECT_EQ(adiabatic_index(1), 3);
  EXPECT_EQ(adiabatic_index(2), 2);
  EXPECT_NEAR(adiabatic_index(3), 5.0 / 3, 1e-16);
  EXPECT_THROW(RiemannSolution({0, 0, 1}, {1, 0, 1}, 3), InputError);
  EXPECT_THROW(RiemannSolution({1, 0, 1}, {1, 0, 1}, 1), InputError);
}

}  // namespace
}  // namespace quintet::kinetics
