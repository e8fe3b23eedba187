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

/// Between side walls; the plates are heated, or the sides.
Problem closed(Heated heated, double rayleigh) {
  Problem problem;
  problem.rayleigh = rayleigh;
  problem.sides = Sides::no_slip, problem.heated = heated;
  return problem;
}

/// Numbers without a pattern for each cell along the walls that insulate.
struct Heat {
  std::vector<double> first, last;
  Heat(const Problem& problem, const Grid& grid) {
    const int n = problem.heated == Heated::plates ? grid.z.n() : grid.x.n();
    for (int i = 0; i < n; ++i) {
      first.push_back(1.2 + 1.5 * std::sin(0.8 * i + 0.3));
      last.push_back(0.5 + 0.9 * std::cos(0.5 * i));
    }
  }
  [[nodiscard]] WallProfiles walls() const { return {{}, {}, first, last}; }
};

/// Greatest error of the conducting state, where hardly anything moves (Ra = 1e-6), with heat of the first
/// wall that insulates, over the place s from -1/2 at the warm wall to 1/2 and the distance y from that wall:
///
///     left side:   h = cos(pi s),     b = -s + cos(pi s) cosh(pi (1.5 - y))/(pi sinh(1.5 pi)),    length 1.5
///     lower plate: h = cos(k s 1.5),  b = -s + cos(pi s) cosh(k (1 - y))/(k sinh(k)),             k = pi/1.5
double error_of_conduction(Heated heated, int n) {
  const double length = 1.5;
  const Problem problem = closed(heated, 1e-6);
  const Grid grid = make_grid(Comm::self(), problem, length, 3 * n / 2, n);
  const bool plates = heated == Heated::plates;
  const double k = plates ? pi : pi / length, depth = plates ? length : 1;
  Start start;
  start.noise = 0;
  Boussinesq flow = make_flow(problem, grid, start);
  std::vector<double> heat;
  const auto place = [&](int j, int i) {
    return plates ? grid.z.centres[j] : grid.x.centres[i] / length - 0.5;
  };
  for (int i = 0; i < (plates ? n : grid.x.n()); ++i)
    heat.push_back(std::cos(pi * (plates ? place(i, 0) : place(0, i))));
  flow.set_walls({{}, {}, heat, {}});
  const double time = 1 / problem.thermal_diffusivity();
  for (int i = 0; i < 60; ++i) flow.advance(Exec(), 0.25 * time);
  double most = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < grid.x.n(); ++i) {
      const double s = place(j, i), y = plates ? grid.x.centres[i] : grid.z.centres[j] + 0.5;
      const double exact = -s + std::cos(pi * s) * std::cosh(k * (depth - y)) / (k * std::sinh(k * depth));
      most = std::max(most, std::abs(flow.state(0).b.row(j)[i] - exact));
    }
  return most;
}

}  // namespace

TEST(GivenHeat, conducts_what_the_exact_solution_says_to_second_order) {
  for (const Heated heated : {Heated::plates, Heated::sides}) {
    const double coarse = error_of_conduction(heated, 12), middle = error_of_conduction(heated, 24),
                 fine = error_of_conduction(heated, 48);
    EXPECT_LT(fine, 3e-4);
    EXPECT_NEAR(std::log2(coarse / middle), 2, 0.2);
    EXPECT_NEAR(std::log2(middle / fine), 2, 0.1);
  }
}

TEST(GivenHeat, of_zeros_is_bitwise_none) {
  for (const Heated heated : {Heated::plates, Heated::sides}) {
    const Problem problem = closed(heated, 1e5);
    const Grid grid = make_grid(Comm::self(), problem, 1.5, 24, 16);
    Start start;
    start.roll = 0.1;
    Boussinesq plain = make_flow(problem, grid, start), zero = make_flow(problem, grid, start);
    const std::vector<double> none(heated == Heated::plates ? 16 : 24, 0.0);
    zero.set_walls({{}, {}, none, none});
    for (int i = 0; i < 20; ++i) plain.advance(Exec(), 0.05), zero.advance(Exec(), 0.05);
    for (int j = 0; j < 16; ++j)
      for (int i = 0; i < 24; ++i) ASSERT_EQ(plain.state(0).b.row(j)[i], zero.state(0).b.row(j)[i]);
  }
}

/// In every state: the mean of b changes by the heat through all walls to round-off, that of its square by
/// what walls bring and dissipation takes.
TEST(GivenHeat, is_what_the_mean_of_buoyancy_and_its_square_gain) {
  for (const Heated heated : {Heated::plates, Heated::sides}) {
    const Problem problem = closed(heated, 1e4);
    const double length = 1.7;
    const Grid grid = make_grid(Comm::self(), problem, length, 20, 12, 1.5, 1.1);
    Boussinesq flow(problem, grid, make_modes_solver(problem, grid), 1);
    scramble(grid, problem, flow.state(0).u, Unknown::u, 0.4);
    scramble(grid, problem, flow.state(0).w, Unknown::w, 0.7);
    scramble(grid, problem, flow.state(0).b, Unknown::b, 1.3);
    flow.start(Exec());
    const Heat heat(problem, grid);
    flow.set_walls(heat.walls());
    const Field& b = flow.state(0).b;
    const Tendency change(grid);
    convect(Exec(), grid, flow.metrics(), flow.state(0), change);
    add_diffusion(Exec(), problem, grid, Unknown::b, problem.thermal_diffusivity(), b, change.b);
    add_wall_heat(Exec(), problem, grid, flow.walls(), 1, change.b);
    double gain = 0, power = 0;
    for (int j = 0; j < 12; ++j)
      for (int i = 0; i < 20; ++i) {
        const double part = grid.z.widths[j] * grid.x.widths[i] / length * change.b.row(j)[i];
        gain += part, power += b.row(j)[i] * part;
      }
    const Sample now = sample(Exec(), flow, 0);
    const double p = problem.thermal_diffusivity(), distance = heated == Heated::plates ? 1 : length;
    EXPECT_GT(std::abs(now.cold_excess - now.warm_excess), 0.1);
    EXPECT_NEAR(
        gain,
        p * (now.nusselt_warm - now.nusselt_cold + now.cold_excess - now.warm_excess) / (distance * distance),
        1e-13);
    // What a place at rest would carry, -s, is in profile_heat; the rest of both walls in their mean.
    const double middle = 0.5 * (now.nusselt_warm - now.warm_excess + now.nusselt_cold - now.cold_excess);
    EXPECT_NEAR(power, p * (middle + now.profile_heat) / (distance * distance) - now.thermal_dissipation,
                1e-11 * now.thermal_dissipation);
  }
}

/// What the mean of b has gained after a time is the heat through walls over it, the better the shorter steps
/// are (by trapezoids, whose error falls as their square).
TEST(GivenHeat, adds_up_over_time) {
  for (const Heated heated : {Heated::plates, Heated::sides}) {
    const Problem problem = closed(heated, 1e4);
    const Grid grid = make_grid(Comm::self(), problem, 1, 16, 12);
    const Heat heat(problem, grid);
    const auto missed = [&](int steps) {
      Start start;
      start.roll = 0.1;
      Boussinesq flow = make_flow(problem, grid, start);
      advance_to(flow, 1, 1.0 / steps);  // beyond the first instants of a wall whose heat begins
      flow.set_walls(heat.walls());
      advance_to(flow, 5, 1.0 / steps);
      const auto mean = [&] {
        double sum = 0;
        for (int j = 0; j < 12; ++j)
          for (int i = 0; i < 16; ++i) sum += grid.z.widths[j] * grid.x.widths[i] * flow.state(0).b.row(j)[i];
        return sum;
      };
      const auto rate = [&] {
        const Sample now = sample(Exec(), flow, 0);
        return problem.thermal_diffusivity() *
               (now.nusselt_warm - now.nusselt_cold + now.cold_excess - now.warm_excess);
      };
      const double before = mean(), dt = 1.0 / steps;
      double gain = 0;
      for (int i = 0; i < 2 * steps; ++i) {
        gain += 0.5 * dt * rate();
        flow.advance(Exec(), dt);
        gain += 0.5 * dt * rate();
      }
      EXPECT_GT(std::abs(mean() - before), 1e-3);
      return std::abs(mean() - before - gain);
    };
    const double coarse = missed(40), fine = missed(80);
    EXPECT_LT(fine, 2e-5);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.3);
  }
}

/// At rest in time all relations of Sample hold.
TEST(GivenHeat, has_one_nusselt_number_by_all_exact_relations) {
  for (const Heated heated : {Heated::plates, Heated::sides}) {
    const Problem problem = closed(heated, 5e3);
    const double length = 1.3;
    const Grid grid = make_grid(Comm::self(), problem, length, 16, 14, 1.2);
    Start start;
    start.noise = 0;
    Boussinesq flow = make_flow(problem, grid, start);
    const Heat heat(problem, grid);
    const std::vector<double> warm(heated == Heated::plates ? 16 : 14, 0.1);
    auto walls = heat.walls();
    walls.warm = warm;
    flow.set_walls(walls);
    advance_to(flow, 600, 0.1);
    const Sample now = sample(Exec(), flow, 0);
    const double p = problem.thermal_diffusivity(), nusselt = now.nusselt_volume;
    const double distance = heated == Heated::plates ? 1 : length;
    EXPECT_GT(now.kinetic_energy, 1e-3);
    EXPECT_GT(std::abs(now.profile_heat), 0.1);
    EXPECT_GT(std::abs(now.warm_excess), 0.1);
    EXPECT_NEAR(now.nusselt_warm - now.warm_excess, nusselt, 1e-7);
    EXPECT_NEAR(now.nusselt_cold - now.cold_excess, nusselt, 1e-7);
    EXPECT_NEAR(convected_nusselt(flow, 0), nusselt, 1e-12);
    EXPECT_NEAR(now.thermal_dissipation * distance * distance / p - now.profile_heat, nusselt, 1e-7);
    EXPECT_NEAR(now.dissipation, now.buoyancy_work, 1e-9);
  }
}

/// x and z become -x and -z, u, w and b change sign, and so does heat.
TEST(GivenHeat, of_a_flow_turned_by_half_a_turn_changes_walls) {
  for (const Heated heated : {Heated::plates, Heated::sides}) {
    const Problem problem = closed(heated, 2e4);
    const int nx = 20, nz = 16;
    const Grid grid = make_grid(Comm::self(), problem, 1, nx, nz);
    Start start;
    start.noise = 0;
    Boussinesq one = make_flow(problem, grid, start), other = make_flow(problem, grid, start);
    const Heat heat(problem, grid);
    std::vector<double> turned(heat.first.rbegin(), heat.first.rend());
    for (double& value : turned) value = -value;
    one.set_walls({{}, {}, heat.first, {}}), other.set_walls({{}, {}, {}, turned});
    advance_to(one, 10, 0.1), advance_to(other, 10, 0.1);
    EXPECT_GT(sample(Exec(), one, 0).kinetic_energy, 1e-4);
    for (int j = 0; j < nz; ++j)
      for (int i = 0; i < nx; ++i)
        ASSERT_NEAR(one.state(0).b.row(j)[i], -other.state(0).b.row(nz - 1 - j)[nx - 1 - i], 1e-11);
    const Sample a = sample(Exec(), one, 0), b = sample(Exec(), other, 0);
    EXPECT_NEAR(a.nusselt_warm, b.nusselt_cold, 1e-10);
    EXPECT_NEAR(a.warm_excess, b.cold_excess, 1e-12);
    EXPECT_NEAR(a.profile_heat, b.profile_heat, 1e-10);
  }
}

TEST(GivenHeat, keeps_steps_of_second_order) {
  const Problem problem = closed(Heated::plates, 2e4);
  const Grid grid = make_grid(Comm::self(), problem, 1, 16, 16);
  const Heat heat(problem, grid);
  const auto energy = [&](double dt) {
    Start start;
    start.roll = 0.1, start.noise = 0;
    Boussinesq flow = make_flow(problem, grid, start);
    flow.set_walls(heat.walls());
    advance_to(flow, 4, dt);
    return sample(Exec(), flow, 0).kinetic_energy;
  };
  const double exact = energy(0.0025), coarse = energy(0.04), fine = energy(0.02);
  EXPECT_NEAR(std::log2(std::abs(coarse - exact) / std::abs(fine - exact)), 2, 0.3);
}

TEST(GivenHeat, refuses_what_is_none) {
  const std::vector<double> of_sides(8, 0.1), of_plates(16, 0.1), nan(8, NAN);
  const Problem problem = closed(Heated::plates, 1e4);
  const Grid grid = make_grid(Comm::self(), problem, 2, 16, 8);
  Boussinesq flow(problem, grid, make_transform_solver(problem, grid), 1);
  EXPECT_NO_THROW(flow.set_walls({{}, {}, of_sides, {}}));
  EXPECT_THROW(flow.set_walls({{}, {}, of_plates, {}}), InputError);
  EXPECT_THROW(flow.set_walls({{}, {}, {}, nan}), InputError);
  const Problem between_sides = closed(Heated::sides, 1e4);
  Boussinesq other(between_sides, grid, make_transform_solver(between_sides, grid), 1);
  EXPECT_NO_THROW(other.set_walls({{}, {}, {}, of_plates}));
  EXPECT_THROW(other.set_walls({{}, {}, {}, of_sides}), InputError);
  const Grid ring = make_grid(Comm::self(), {}, 2, 16, 8);
  Boussinesq layer({}, ring, make_transform_solver({}, ring), 1);
  EXPECT_THROW(layer.set_walls({{}, {}, of_sides, {}}), InputError);
}
