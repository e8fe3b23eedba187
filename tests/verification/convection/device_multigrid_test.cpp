#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/convection/device/flow_residence.hpp"
#include "physics/convection/device/flow_setup.hpp"
#include "physics/convection/linear/line_levels.hpp"
#include "tests/support/convection_cases.hpp"
#include "tests/support/device/test_device.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

std::shared_ptr<DeviceFlows> made(const Problem& problem, const Grid& grid, int n_flows, double tolerance,
                                  int segments = 0) {
  DeviceFlowSetup setup = device_flow_setup(problem, grid, n_flows, false, tolerance);
  setup.segments = segments;
  return std::shared_ptr<DeviceFlows>(QUINTET_DEVICE_FUNCTION(quintet_make_device_flows)(setup));
}

/// Some steps on the host, whose equations are solved directly.
Boussinesq moved_directly(const Problem& problem, const Grid& grid, int n_flows) {
  Boussinesq flows = make_rolls(problem, grid, n_flows, false);
  for (const double dt : {0.05, 0.05, 0.03, 0.04}) flows.advance(Exec(), dt);
  return flows;
}
Boussinesq moved_by_multigrid(const Problem& problem, const Grid& grid, int n_flows, double tolerance,
                              int segments = 0) {
  Boussinesq flows = make_rolls(problem, grid, n_flows, false);
  flows.move_to(made(problem, grid, n_flows, tolerance, segments));
  for (const double dt : {0.05, 0.05, 0.03, 0.04}) flows.advance(Exec(), dt);
  return flows;
}

double distance(const Boussinesq& a, const Boussinesq& b) {
  double most = 0;
  for (int m = 0; m < a.n_members(); ++m)
    for (Field BoussinesqState::*field :
         {&BoussinesqState::u, &BoussinesqState::w, &BoussinesqState::b, &BoussinesqState::p})
      for (int j = 0; j < a.grid().z.n(); ++j)
        for (int i = 0; i < a.grid().x.n(); ++i) {
          const double apart = std::abs((a.state(m).*field).row(j)[i] - (b.state(m).*field).row(j)[i]);
          if (!(apart <= most)) most = std::isnan(apart) ? HUGE_VAL : apart;
        }
  return most;
}
double distance_from_direct(const Problem& problem, const Grid& grid, int n_flows, double tolerance) {
  return distance(moved_directly(problem, grid, n_flows),
                  moved_by_multigrid(problem, grid, n_flows, tolerance));
}

/// Iterations of the four solves of a step of a flow without a pattern, to 1e-10.
long iterations(const Problem& problem, const Grid& grid, double dt) {
  Boussinesq flow(problem, grid, make_modes_solver(problem, grid), 1);
  BoussinesqState& state = flow.state(0);
  scramble(grid, problem, state.u, Unknown::u, 0.1);
  scramble(grid, problem, state.w, Unknown::w, 0.2);
  scramble(grid, problem, state.b, Unknown::b, 0.3);
  flow.resume(0, 0);
  const auto device = made(problem, grid, 1, 1e-10);
  const FlowResidence residence(grid, 1, device);
  residence.send(0, state);
  device->advance(dt);
  const auto solves = device->take_solves();
  EXPECT_TRUE(solves.converged);
  EXPECT_LE(solves.residual, 1e-10);
  return solves.iterations;
}

}  // namespace

TEST(DeviceMultigrid, moves_flows_as_modes_do_between_any_walls) {
  for (const Problem& problem : all_walls()) {
    const double strength = problem.sides == Sides::periodic ? 0 : 1.3;
    const Grid grid = make_grid(Comm::self(), problem, 1.5, 22, 13, 1.2, strength);
    EXPECT_LT(distance_from_direct(problem, grid, 2, 1e-13), 1e-11);
  }
}

TEST(DeviceMultigrid, takes_any_number_of_columns_and_rows) {
  Problem ring, box;
  box.sides = Sides::no_slip;
  box.heated = Heated::sides;
  for (const int n_x : {4, 5, 6, 7, 9, 13, 17, 31, 34})
    for (const Problem& problem : {ring, box})
      EXPECT_LT(
          distance_from_direct(problem, make_grid(Comm::self(), problem, 1.1, n_x, n_x % 5 + 4), 1, 1e-13),
          1e-11)
          << n_x << " columns";
}

/// The same cycles, far from converged: what is wrong in one is not mended by the next.
TEST(DeviceMultigrid, solves_columns_in_any_number_of_segments) {
  for (const Problem& problem : all_walls()) {
    const double strength = problem.sides == Sides::periodic ? 0 : 1.3;
    const Grid grid = make_grid(Comm::self(), problem, 1.5, 21, 17, 1.2, strength);
    const Boussinesq whole = moved_by_multigrid(problem, grid, 1, 1e-2, 1);
    for (const int segments : {2, 3, 8, 17})
      EXPECT_LT(distance(whole, moved_by_multigrid(problem, grid, 1, 1e-2, segments)), 1e-12)
          << segments << " segments";
  }
}

TEST(DeviceMultigrid, misses_the_direct_solution_by_its_tolerance) {
  Problem box;
  box.sides = Sides::no_slip;
  const Grid grid = make_grid(Comm::self(), box, 1.5, 40, 24, 1.2, 1.5);
  const double coarse = distance_from_direct(box, grid, 1, 1e-4),
               fine = distance_from_direct(box, grid, 1, 1e-8);
  EXPECT_LT(fine, 1e-3 * coarse);
  EXPECT_GT(coarse, 1e-8);
}

/// A residual falls to 1e-10 in 14 iterations if each leaves less than a fifth of it.
TEST(DeviceMultigrid, leaves_less_than_a_fifth_of_a_residual_on_any_cells) {
  Problem ring, box;
  box.sides = Sides::no_slip;
  constexpr long most = 14;
  for (const Problem& problem : {ring, box})
    for (const auto& [n_x, n_z] : {std::pair{16, 64}, {64, 16}, {65, 33}, {256, 32}})
      for (const double length : {0.05, 1.0, 30.0})
        for (const double strength : {0.0, 3.0}) {
          const Grid grid = make_grid(Comm::self(), problem, length, n_x, n_z, strength,
                                      problem.sides == Sides::periodic ? 0 : strength);
          // Where a step is short, each of two solves of diffusion takes at least one: the rest are the
          // pressure's.
          EXPECT_LE(iterations(problem, grid, 1e-9) - 2, 2 * most)
              << n_x << " x " << n_z << " cells, " << length << " long, strength " << strength;
          EXPECT_LE(iterations(problem, grid, 1.0), 4 * most)
              << n_x << " x " << n_z << " cells, " << length << " long, strength " << strength;
        }
}

TEST(DeviceMultigrid, rests_where_nothing_moves) {
  const Problem problem;
  const Grid grid = make_grid(Comm::self(), problem, 2, 16, 8);
  Boussinesq flow(problem, grid, make_transform_solver(problem, grid), 1);
  fill(problem, Start{}, 1, flow, 0);
  flow.start(Exec());
  flow.move_to(made(problem, grid, 1, 1e-10));
  EXPECT_NO_THROW(flow.advance(Exec(), 0.05));
  EXPECT_TRUE(std::isfinite(flow.courant_rate(Exec())));
}

TEST(DeviceMultigrid, ends_where_it_does_not_converge) {
  const Problem problem;
  const Grid grid = make_grid(Comm::self(), problem, 2, 16, 8);
  Boussinesq flow = make_rolls(problem, grid, 1, true);
  flow.move_to(made(problem, grid, 1, 1e-300));
  try {
    flow.advance(Exec(), 0.05);
    FAIL() << "converged";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("did not converge"), std::string::npos);
  }
}

TEST(DeviceMultigrid, leaves_velocities_that_are_no_numbers_to_be_found) {
  const Problem problem;
  const Grid grid = make_grid(Comm::self(), problem, 2, 16, 8);
  Boussinesq flow = make_rolls(problem, grid, 1, true);
  flow.move_to(made(problem, grid, 1, 1e-10));
  flow.state(0).w.row(3)[5] = std::nan("");
  flow.resume(0, 0);
  flow.advance(Exec(), 0.01);
  EXPECT_TRUE(std::isnan(flow.courant_rate(Exec())));
}

TEST(DeviceMultigrid, takes_the_bytes_that_it_asks_for) {
  if (quintet::test::on_gpu()) GTEST_SKIP() << quintet::test::hooks_see_the_host;
  static double bytes;
  bytes = 0;
  Problem box;
  box.sides = Sides::no_slip;
  for (const int n_x : {24, 31}) {
    const DeviceFlowSetup setup =
        device_flow_setup(box, make_grid(Comm::self(), box, 2, n_x, 15, 1.2, 1.1), 3, false, 1e-10);
    bytes = 0;
    using namespace Kokkos::Tools::Experimental;
    set_allocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle, const char* label, const void*, std::uint64_t size) {
          const std::string name(label);
          if (name.starts_with("convection::")) bytes += size;
        });
    const std::unique_ptr<DeviceFlows> flows(QUINTET_DEVICE_FUNCTION(quintet_make_device_flows)(setup));
    set_allocate_data_callback(nullptr);
    EXPECT_EQ(bytes, QUINTET_DEVICE_FUNCTION(quintet_device_flows_bytes)(setup)) << n_x << " columns";
  }
}

/// Along x alone a coarser line is exact: every second value of q solves it with what L q is there, where L q
/// of the others is 0.
TEST(LineLevels, keep_every_second_value) {
  Problem box, ring;
  box.sides = Sides::no_slip;
  for (const Problem& problem : {box, ring})
    for (const int n : {4, 7, 12, 13})
      for (const Unknown unknown : {Unknown::u, Unknown::w, Unknown::p}) {
        const bool periodic = problem.sides == Sides::periodic;
        const Grid grid = make_grid(Comm::self(), problem, 1.3, n, 4, 1, periodic ? 0 : 1.4);
        const LineOperator line = x_operator(problem, grid, unknown), kept = coarser(line, periodic);
        const std::size_t size = n;
        std::vector<double> q(size);
        for (std::size_t i = 0; i < size; i += 2) q[i] = std::cos(3.1 * (i * i));
        if (unknown == Unknown::u && !periodic) q[0] = 0;
        const auto fluxes = [](const LineOperator& l, const std::vector<double>& v, std::size_t i) {
          const std::size_t last = v.size() - 1;
          return l.upper[i] * (v[i == last ? 0 : i + 1] - v[i]) -
                 l.lower[i] * (v[i] - v[i == 0 ? last : i - 1]) - l.wall[i] * v[i];
        };
        for (std::size_t i = 1; i < size; i += 2)
          q[i] = (line.lower[i] * q[i - 1] + line.upper[i] * q[(i + 1) % size]) /
                 (line.lower[i] + line.upper[i] + line.wall[i]);
        std::vector<double> half;
        for (std::size_t i = 0; i < size; i += 2) half.push_back(q[i]);
        double weight = 0, left = 0;
        for (std::size_t i = 0; i < size; ++i) weight += line.weight[i];
        for (std::size_t i = 0; i < half.size(); ++i) {
          EXPECT_NEAR(fluxes(kept, half, i), fluxes(line, q, 2 * i), 1e-11);
          left += kept.weight[i];
        }
        if (unknown == Unknown::p) {
          EXPECT_NEAR(left, weight, 1e-12);
        }
      }
}
