#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/convection/diffusion.hpp"
#include "tests/support/convection_cases.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

constexpr double pi = std::numbers::pi;

/// amplitude sin(2 pi waves (x/length + shift)) at the centres of cells.
std::vector<double> wave(const Grid& grid, double amplitude, int waves, double shift = 0) {
  std::vector<double> profile;
  for (const double x : grid.x.centres)
    profile.push_back(amplitude * std::sin(2 * pi * waves * (x / grid.x.length() + shift)));
  return profile;
}

Problem at_rayleigh(double rayleigh) {
  Problem problem;
  problem.rayleigh = rayleigh;
  return problem;
}

/// Greatest error of the conducting state over a floor of 1/2 + 0.6 sin(k x),
///
///     b = -z + 0.6 sin(k x) sinh(k (1/2 - z))/sinh(k),
///
/// where hardly anything moves (Ra = 1e-6), and the least and the greatest of the heat through the floor less
/// the exact 1 + 0.6 k coth(k) sin(k x).
double error_of_conduction(int n) {
  const Problem problem = at_rayleigh(1e-6);
  const Grid grid = make_grid(Comm::self(), problem, 2, 2 * n, n);
  Start start;
  start.noise = 0;
  Boussinesq flow = make_flow(problem, grid, start);
  flow.set_walls({wave(grid, 0.6, 1)});
  const double time = 1 / problem.thermal_diffusivity();
  for (int i = 0; i < 40; ++i) flow.advance(Exec(), 0.25 * time);
  const double k = 2 * pi / grid.x.length();
  double most = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < grid.x.n(); ++i) {
      const double z = grid.z.centres[j];
      const double exact =
          -z + 0.6 * std::sin(k * grid.x.centres[i]) * std::sinh(k * (0.5 - z)) / std::sinh(k);
      most = std::max(most, std::abs(flow.state(0).b.row(j)[i] - exact));
    }
  const Sample now = sample(Exec(), flow, 0);
  EXPECT_NEAR(now.nusselt_warm, 1, 1e-9);
  EXPECT_NEAR(now.profile_heat, 0.5 * 0.36 * k / std::tanh(k), 4.0 / (n * n));
  return most;
}

}  // namespace

TEST(Floor, conducts_what_the_exact_solution_says_to_second_order) {
  const double coarse = error_of_conduction(16), middle = error_of_conduction(32),
               fine = error_of_conduction(64);
  EXPECT_LT(fine, 3e-4);
  EXPECT_NEAR(std::log2(coarse / middle), 2, 0.15);
  EXPECT_NEAR(std::log2(middle / fine), 2, 0.1);
}

TEST(Floor, without_a_profile_is_bitwise_one_with_a_profile_of_zeros) {
  const Problem problem = at_rayleigh(1e5);
  const Grid grid = make_grid(Comm::self(), problem, 2, 24, 16);
  Start start;
  start.roll = 0.1;
  Boussinesq plain = make_flow(problem, grid, start), zero = make_flow(problem, grid, start);
  zero.set_walls({std::vector<double>(24, 0.0)});
  for (int i = 0; i < 20; ++i) plain.advance(Exec(), 0.05), zero.advance(Exec(), 0.05);
  for (Field BoussinesqState::*field :
       {&BoussinesqState::u, &BoussinesqState::w, &BoussinesqState::b, &BoussinesqState::p})
    for (int j = 0; j < 16; ++j)
      for (int i = 0; i < 24; ++i)
        ASSERT_EQ((plain.state(0).*field).row(j)[i], (zero.state(0).*field).row(j)[i]);
}

/// The square of b changes by what walls bring and diffusion takes, in every state.
TEST(Floor, brings_the_square_of_buoyancy_that_dissipation_takes_and_time_sees) {
  for (const Sides sides : {Sides::periodic, Sides::no_slip}) {
    Problem problem = at_rayleigh(1e4);
    problem.sides = sides;
    const Grid grid = make_grid(Comm::self(), problem, 1.7, 20, 12, 1.5, sides == Sides::periodic ? 0 : 1.1);
    Boussinesq flow(problem, grid, make_modes_solver(problem, grid), 1);
    scramble(grid, problem, flow.state(0).b, Unknown::b, 1.3);
    flow.start(Exec());
    flow.set_walls({wave(grid, 0.4, 3, 0.07)});
    const Field& b = flow.state(0).b;
    const Tendency change(grid);
    add_diffusion(Exec(), problem, grid, Unknown::b, problem.thermal_diffusivity(), b, change.b);
    add_wall_heat(Exec(), problem, grid, flow.walls(), 1, change.b);
    double power = 0;
    for (int j = 0; j < 12; ++j)
      for (int i = 0; i < 20; ++i)
        power += grid.z.widths[j] * grid.x.widths[i] / grid.x.length() * b.row(j)[i] * change.b.row(j)[i];
    const Sample now = sample(Exec(), flow, 0);
    const double walls =
        problem.thermal_diffusivity() * (0.5 * (now.nusselt_warm + now.nusselt_cold) + now.profile_heat);
    EXPECT_GT(std::abs(now.profile_heat), 0.1);
    EXPECT_NEAR(power, walls - now.thermal_dissipation, 1e-11 * now.thermal_dissipation);
  }
}

/// At rest in time all Nusselt numbers are one: at the floor, the top, of what is carried, and of both
/// dissipations.
TEST(Floor, has_one_nusselt_number_by_all_exact_relations) {
  const Problem problem = at_rayleigh(5e3);
  const Grid grid = make_grid(Comm::self(), problem, 1, 16, 16);
  Start start;
  start.noise = 0;
  Boussinesq flow = make_flow(problem, grid, start);
  auto profile = wave(grid, 0.3, 1);
  for (double& value : profile) value += 0.05;  // a warmer floor: its mean counts too
  flow.set_walls({profile});
  advance_to(flow, 600, 0.1);
  const Sample now = sample(Exec(), flow, 0);
  const double p = problem.thermal_diffusivity(), nusselt = now.nusselt_volume;
  EXPECT_GT(nusselt, 1.2);
  EXPECT_NEAR(now.nusselt_warm, nusselt, 1e-7);
  EXPECT_NEAR(now.nusselt_cold, nusselt, 1e-7);
  EXPECT_NEAR(convected_nusselt(flow, 0), nusselt, 1e-13);
  EXPECT_NEAR(1.05 + now.dissipation / p, nusselt, 1e-7);
  EXPECT_NEAR(now.thermal_dissipation / p - now.profile_heat, nusselt, 1e-7);
}

TEST(Floor, mirrored_and_shifted_makes_the_flow_mirrored_and_shifted) {
  const Problem problem = at_rayleigh(2e4);
  const int n = 24;
  const Grid grid = make_grid(Comm::self(), problem, 2, n, 16);
  Start start;
  start.noise = 0;
  const auto run = [&](const std::vector<double>& profile) {
    Boussinesq flow = make_flow(problem, grid, start);
    flow.set_walls({profile});
    advance_to(flow, 20, 0.1);
    return flow;
  };
  auto profile = wave(grid, 0.3, 1);
  for (int i = 0; i < n; ++i) profile[i] += 0.1 * std::cos(4 * pi * i / n + 0.4);
  std::vector<double> other(n);
  for (int i = 0; i < n; ++i) other[(n - 1 - i + 5) % n] = profile[i];
  const Boussinesq one = run(profile), mirrored = run(other);
  EXPECT_GT(sample(Exec(), one, 0).kinetic_energy, 1e-3);
  for (int j = 0; j < 16; ++j)
    for (int i = 0; i < n; ++i) {
      const int k = (n - 1 - i + 5) % n;
      ASSERT_NEAR(one.state(0).b.row(j)[i], mirrored.state(0).b.row(j)[k], 1e-11);
      ASSERT_NEAR(one.state(0).w.row(j)[i], mirrored.state(0).w.row(j)[k], 1e-11);
      ASSERT_NEAR(one.state(0).u.row(j)[i], -mirrored.state(0).u.row(j)[(k + 1) % n], 1e-11);
    }
}

/// The flow of a warm wall's profile, turned by half a turn, is that of minus the profile on the cold wall:
/// x and z become -x and -z, u, w and b change sign.
TEST(Walls, of_a_flow_turned_by_half_a_turn_change_places) {
  for (const Heated heated : {Heated::plates, Heated::sides}) {
    Problem problem = at_rayleigh(2e4);
    problem.sides = Sides::no_slip, problem.heated = heated;
    const int nx = 20, nz = 16, n = heated == Heated::plates ? nx : nz;
    const Grid grid = make_grid(Comm::self(), problem, 1, nx, nz);
    Start start;
    start.noise = 0;
    Boussinesq one = make_flow(problem, grid, start), other = make_flow(problem, grid, start);
    std::vector<double> profile(n), turned(n);
    for (int i = 0; i < n; ++i) profile[i] = 0.3 * std::sin(0.9 * i + 0.2);
    for (int i = 0; i < n; ++i) turned[n - 1 - i] = -profile[i];
    one.set_walls({profile, {}}), other.set_walls({{}, turned});
    advance_to(one, 10, 0.1), advance_to(other, 10, 0.1);
    EXPECT_GT(sample(Exec(), one, 0).kinetic_energy, 1e-4);
    for (int j = 0; j < nz; ++j)
      for (int i = 0; i < nx; ++i) {
        ASSERT_NEAR(one.state(0).b.row(j)[i], -other.state(0).b.row(nz - 1 - j)[nx - 1 - i], 1e-11);
        ASSERT_NEAR(one.state(0).u.row(j)[i], -other.state(0).u.row(nz - 1 - j)[nx - i], 1e-11);
      }
    const Sample a = sample(Exec(), one, 0), b = sample(Exec(), other, 0);
    EXPECT_NEAR(a.nusselt_warm, b.nusselt_cold, 1e-10);
    EXPECT_NEAR(a.nusselt_volume, b.nusselt_volume, 1e-10);
    EXPECT_NEAR(a.profile_heat, b.profile_heat, 1e-10);
    EXPECT_NEAR(a.thermal_dissipation, b.thermal_dissipation, 1e-10);
  }
}

/// At rest in time, with profiles of both walls whose means are not 0.
TEST(Walls, have_one_nusselt_number_by_all_exact_relations) {
  for (const Heated heated : {Heated::plates, Heated::sides}) {
    Problem problem = at_rayleigh(5e3);
    problem.sides = Sides::no_slip, problem.heated = heated;
    const double length = 1.3;
    const Grid grid = make_grid(Comm::self(), problem, length, 16, 14, 1.2);
    Start start;
    start.noise = 0;
    Boussinesq flow = make_flow(problem, grid, start);
    std::vector<double> warm, cold;
    for (int i = 0; i < (heated == Heated::plates ? 16 : 14); ++i)
      warm.push_back(0.05 + 0.3 * std::sin(0.4 * i)), cold.push_back(0.1 - 0.2 * std::sin(0.7 * i));
    flow.set_walls({warm, cold});
    advance_to(flow, 600, 0.1);
    const Sample now = sample(Exec(), flow, 0);
    const double p = problem.thermal_diffusivity(), nusselt = now.nusselt_volume;
    const double distance = heated == Heated::plates ? 1 : length;
    EXPECT_GT(nusselt, 1.1);
    EXPECT_GT(std::abs(now.profile_heat), 0.1);
    EXPECT_NEAR(now.nusselt_warm, nusselt, 1e-7);
    EXPECT_NEAR(now.nusselt_cold, nusselt, 1e-7);
    EXPECT_NEAR(convected_nusselt(flow, 0), nusselt, 1e-12);
    EXPECT_NEAR(now.thermal_dissipation * distance * distance / p - now.profile_heat, nusselt, 1e-7);
    EXPECT_NEAR(now.dissipation, now.buoyancy_work, 1e-9);
  }
}

TEST(Floor, refuses_profiles_that_are_none) {
  const Grid grid = make_grid(Comm::self(), {}, 2, 16, 8);
  Boussinesq flow(Problem{}, grid, make_transform_solver({}, grid), 1);
  EXPECT_THROW(flow.set_walls({std::vector<double>(15, 0.0)}), InputError);
  EXPECT_THROW(flow.set_walls({std::vector<double>(16, NAN)}), InputError);
  Problem sides;
  sides.sides = Sides::no_slip;
  sides.heated = Heated::sides;
  const Grid cavity = make_grid(Comm::self(), sides, 1, 16, 8);
  Boussinesq other(sides, cavity, make_transform_solver(sides, cavity), 1);
  EXPECT_THROW(other.set_walls({std::vector<double>(16, 0.0)}), InputError);  // 8 cells along the sides
  EXPECT_THROW(other.set_walls({{}, std::vector<double>(8, NAN)}), InputError);
  EXPECT_NO_THROW(other.set_walls({{}, std::vector<double>(8, 0.0)}));
}
