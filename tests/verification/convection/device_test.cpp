#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>

#include "io/parallel/comm.hpp"
#include "physics/convection/device/flow_setup.hpp"
#include "tests/support/convection_cases.hpp"
#include "tests/support/convection_numbers.hpp"
#include "tests/support/device/test_device.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

/// On these cells; `on_device`: by the device's engine.
Boussinesq make_flows(const Problem& problem, const Grid& grid, int n_flows, bool transforms,
                      bool on_device) {
  Boussinesq flows = make_rolls(problem, grid, n_flows, transforms);
  if (on_device)
    flows.move_to(std::shared_ptr<DeviceFlows>(QUINTET_DEVICE_FUNCTION(quintet_make_device_flows)(
        device_flow_setup(problem, grid, n_flows, transforms))));
  return flows;
}

void expect_equal(const Boussinesq& a, const Boussinesq& b, double tolerance) {
  for (int m = 0; m < a.n_members(); ++m)
    for (Field BoussinesqState::*field :
         {&BoussinesqState::u, &BoussinesqState::w, &BoussinesqState::b, &BoussinesqState::p})
      for (int j = -1; j <= a.grid().z.n(); ++j)
        for (int i = -1; i <= a.grid().x.n(); ++i)
          ASSERT_NEAR((a.state(m).*field).row(j)[i], (b.state(m).*field).row(j)[i], tolerance)
              << "flow " << m << ", cell (" << j << ", " << i << ")";
}

void expect_same_steps(const Problem& problem, const Grid& grid, int n_flows, bool transforms) {
  Boussinesq here = make_flows(problem, grid, n_flows, transforms, false),
             there = make_flows(problem, grid, n_flows, transforms, true);
  for (const double dt : {0.05, 0.05, 0.03, 0.04, 0.05}) {
    here.advance(Exec(), dt);
    there.advance(Exec(), dt);
    ASSERT_NEAR(there.courant_rate(Exec()) / here.courant_rate(Exec()), 1, 1e-10);
  }
  EXPECT_EQ(there.step(), 5);
  EXPECT_EQ(there.time(), here.time());
  expect_same_numbers(here, there, 1e-11);  // before fields come home
  expect_equal(here, there, 1e-12);
}

}  // namespace

TEST(DeviceFlows, move_as_those_of_the_host_between_any_walls) {
  for (const Problem& problem : all_walls())
    expect_same_steps(problem, make_grid(Comm::self(), problem, 1.5, 20, 13), 2, true);
}

TEST(DeviceFlows, move_on_cells_of_any_number_and_width) {
  Problem ring, box;
  box.sides = Sides::no_slip;
  for (const int n_x : {4, 7, 9, 15, 22, 26, 64, 210})
    for (const Problem& problem : {ring, box})
      expect_same_steps(problem, make_grid(Comm::self(), problem, 1.1, n_x, 8), 1, true);
  expect_same_steps(box, make_grid(Comm::self(), box, 0.7, 17, 11, 1.2, 0.9), 1, false);
  box.heated = Heated::sides;
  expect_same_steps(box, make_grid(Comm::self(), box, 0.7, 19, 10, 0, 1.4), 2, false);
}

TEST(DeviceFlows, come_home_and_go_on_to_the_bit) {
  const Problem problem;
  const Grid grid = make_grid(Comm::self(), problem, 2, 24, 12);
  Boussinesq whole = make_flows(problem, grid, 2, true, true),
             parted = make_flows(problem, grid, 2, true, true);
  for (int i = 0; i < 6; ++i) whole.advance(Exec(), 0.04);
  for (int i = 0; i < 3; ++i) parted.advance(Exec(), 0.04);
  for (int m = 0; m < 2; ++m) static_cast<void>(parted.state(m));  // as for a checkpoint
  parted.resume(parted.time(), parted.step());
  for (int i = 0; i < 3; ++i) parted.advance(Exec(), 0.04);
  expect_equal(whole, parted, 0);
}

TEST(DeviceFlows, are_told_of_in_numbers_without_coming_home) {
  static int copies;
  for (const int n_x : {24, 34}) {  // 34 has no fast transform: spectra need the fields
    Problem box;
    box.sides = Sides::no_slip;
    const Grid grid = make_grid(Comm::self(), box, 1.5, n_x, 70, 1.2, 1.3);
    Boussinesq here = make_flows(box, grid, 3, false, false), there = make_flows(box, grid, 3, false, true);
    here.advance(Exec(), 0.05);
    there.advance(Exec(), 0.05);
    copies = 0;
    Kokkos::Tools::Experimental::set_begin_deep_copy_callback(
        [](Kokkos_Profiling_SpaceHandle, const char*, const void*, Kokkos_Profiling_SpaceHandle, const char*,
           const void*, std::uint64_t) { ++copies; });
    expect_same_numbers(here, there, 1e-11);
    Kokkos::Tools::Experimental::set_begin_deep_copy_callback(nullptr);
    if (quintet::test::on_gpu()) continue;  // hooks do not see its copies
    // Sums, extremes, and for spectra the state aside and back as powers; else four fields of three flows.
    EXPECT_EQ(copies, n_x == 24 ? 4 : 2 + 3 * 4);
  }
}

TEST(DeviceFlows, stay_solenoidal_and_have_a_pressure_without_mean) {
  Problem problem;
  problem.sides = Sides::free_slip;
  const Grid grid = make_grid(Comm::self(), problem, 1.3, 30, 16);
  Boussinesq flows = make_flows(problem, grid, 1, true, true);
  for (int i = 0; i < 20; ++i) flows.advance(Exec(), 0.05);
  const BoussinesqState& state = flows.state(0);
  Field divergence_of("divergence", grid);
  divergence(Exec(), flows.metrics(), state.u, state.w, 1, divergence_of);
  double largest = 0, mean = 0;
  for (int j = 0; j < state.p.rows; ++j)
    for (int i = 0; i < state.p.n; ++i) {
      largest = std::max(largest, std::abs(divergence_of.row(j)[i]));
      mean += state.p.row(j)[i] * grid.z.widths[j] / state.p.n;
    }
  EXPECT_LT(largest, 1e-12);
  EXPECT_NEAR(mean, 0, 1e-12);
}

TEST(DeviceFlows, tell_of_velocities_that_are_no_numbers) {
  const Problem problem;
  const Grid grid = make_grid(Comm::self(), problem, 2, 16, 8);
  for (const double strange :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Boussinesq flows = make_flows(problem, grid, 2, true, true);
    flows.state(1).w.row(3)[5] = strange;
    flows.resume(0, 0);
    EXPECT_TRUE(std::isnan(flows.courant_rate(Exec())));
  }
}

TEST(DeviceFlows, take_the_bytes_that_they_ask_for) {
  const Problem problem;
  const Grid grid = make_grid(Comm::self(), problem, 2, 128, 64);
  const auto bytes = QUINTET_DEVICE_FUNCTION(quintet_device_flows_bytes);
  const double one = bytes(device_flow_setup(problem, grid, 1, true)),
               four = bytes(device_flow_setup(problem, grid, 4, true));
  EXPECT_NEAR((four - one) / (3 * 128 * 64), 14 * 8, 1e-9);  // 14 numbers a cell
  EXPECT_LT(one, 1.1 * 14 * 8 * 128 * 64);
}
