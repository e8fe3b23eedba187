#include "surrogates/environments/wall_control.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/convection/initial.hpp"

namespace quintet::environments {
namespace {

using namespace convection;

/// A layer or a cavity whose heated walls are both set, or one of whose floor and sides are, which insulate;
/// probes also next to plates and sides.
enum class World { layer, cavity, insulated };
ConvectionControlOptions world_of(World world) {
  ConvectionControlOptions options;
  options.problem.rayleigh = 2e4;
  options.cells_x = 16, options.cells_z = 13, options.aspect_ratio = 1.5;
  options.actuators = {{false, {4, 0.5, 0.5}}, {true, {4, 0.3, 0.5}}};
  options.probes_x = 8, options.probes_z = 20;
  options.reward = "-nusselt + energy - heating - change + u_max";
  if (world == World::layer) return options;
  options.problem.sides = Sides::no_slip;
  options.actuators = {{false, {3, 0.5, 0.5}}, {true, {2, 0.3, 0.5}}};
  if (world == World::cavity) options.problem.heated = Heated::sides;
  if (world == World::insulated)
    options.actuators = {{false, {3, 0.5, 0.5}}, {false, {2, 4, 0.5}, true}, {true, {2, 3, 0.5}, true}};
  return options;
}

Boussinesq flow_of(const ConvectionControlOptions& options, const Comm& comm) {
  Grid grid(comm, options.x_axis(), options.z_axis());
  auto solver = make_transform_solver(options.problem, grid);
  Boussinesq flow(options.problem, std::move(grid), std::move(solver), 1);
  fill(options.problem, {true, 0.2, 1, 0.1, 3}, 7, flow, 0);
  flow.start(Exec());
  return flow;
}

void go_on(WallControl& control, Boussinesq& flow, int steps) {
  for (int k = 0; k < steps; ++k) {
    flow.advance(Exec(), 0.02);
    control.add_step(flow, 0.02);
  }
}

std::vector<float> action_of(const WallControl& control, int turn) {
  std::vector<float> action;
  for (int s = 0; s < control.n_actions(); ++s) action.push_back(std::sin(0.9F * s + turn));
  return action;
}

TEST(WallControl, sees_and_rewards_a_flow_of_several_ranks_as_that_of_one) {
  for (const auto world : {World::layer, World::cavity, World::insulated}) {
    const auto options = world_of(world);
    Boussinesq alone = flow_of(options, Comm::self()), together = flow_of(options, Comm::world());
    WallControl one(options, alone.grid()), all(options, together.grid());
    std::vector<float> seen(one.n_observed()), shared(one.n_observed(), -7);
    for (int turn = 0; turn < 3; ++turn) {
      one.observe(alone, seen), all.observe(together, shared);
      double size = 0;
      for (std::size_t k = 0; k < seen.size(); ++k) {
        ASSERT_NEAR(seen[k], shared[k], 1e-6) << k;
        size = std::max<double>(size, std::abs(seen[k]));
      }
      EXPECT_GT(size, 0.01);
      one.act(alone, action_of(one, turn)), all.act(together, action_of(all, turn));
      EXPECT_EQ(one.levels(), all.levels());
      go_on(one, alone, 4), go_on(all, together, 4);
      EXPECT_NEAR(one.reward(one.terms(0.08)), all.reward(all.terms(0.08)), 1e-11);
    }
  }
}

TEST(WallControl, goes_on_in_the_middle_of_an_action_to_the_bit) {
  const auto options = world_of(World::cavity);
  Boussinesq whole = flow_of(options, Comm::world()), parts = flow_of(options, Comm::world());
  WallControl first(options, whole.grid());
  first.act(whole, action_of(first, 0));
  go_on(first, whole, 2);
  first.act(whole, action_of(first, 1));
  go_on(first, whole, 2);
  for (Field BoussinesqState::*field :
       {&BoussinesqState::u, &BoussinesqState::w, &BoussinesqState::b, &BoussinesqState::p})
    for (int j = 0; j < whole.grid().rows_here(); ++j)
      std::copy_n((whole.state(0).*field).row(j), 16, (parts.state(0).*field).row(j));
  parts.resume(whole.time(), whole.step());
  WallControl second(options, parts.grid());
  second.resume(parts, action_of(first, 1), first.kept());
  go_on(first, whole, 2), go_on(second, parts, 2);
  EXPECT_EQ(first.reward(first.terms(0.08)), second.reward(second.terms(0.08)));
  first.act(whole, action_of(first, 2)), second.act(parts, action_of(first, 2));
  go_on(first, whole, 2), go_on(second, parts, 2);
  EXPECT_GT(first.terms(0.04).change, 0.1);
  EXPECT_EQ(first.terms(0.04).change, second.terms(0.04).change);
  EXPECT_EQ(first.reward(first.terms(0.04)), second.reward(second.terms(0.04)));
  auto kept = first.kept();
  kept.pop_back();
  EXPECT_THROW(second.resume(parts, action_of(first, 2), kept), InputError);
}

TEST(WallControl, tells_what_it_has_set_in_the_middle_of_each_segment) {
  const auto options = world_of(World::cavity);
  Boussinesq flow = flow_of(options, Comm::world());
  WallControl control(options, flow.grid());
  EXPECT_EQ(control.levels(), std::vector<double>(5, 0.0));
  control.act(flow, std::vector<float>{2, 0, -2, 0.5F, -0.5F});  // beyond the bounds; within them
  const std::vector<double> expected{0.5, 0, -0.5, 0.15, -0.15};
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(control.levels()[k], expected[k], 1e-7);
  control.release(flow);
  EXPECT_EQ(control.levels(), std::vector<double>(5, 0.0));
  EXPECT_TRUE(flow.walls().warm.empty());
}

TEST(WallControl, sets_heat_of_walls_that_insulate) {
  const auto options = world_of(World::insulated);
  Boussinesq flow = flow_of(options, Comm::world());
  WallControl control(options, flow.grid());
  control.act(flow, std::vector<float>{0, 0, 0, 1, -1, 0.5F, -0.5F});
  const auto [warm, cold, first, last] = flow.walls();
  EXPECT_EQ(std::vector<double>(warm.begin(), warm.end()), std::vector<double>(16, 0.0));
  EXPECT_TRUE(cold.empty());
  ASSERT_EQ(first.size(), 13U);
  ASSERT_EQ(last.size(), 13U);
  EXPECT_NEAR(first.front(), 4, 1e-12);
  EXPECT_NEAR(last.back(), -1.5, 1e-12);
  double heat = 0;
  for (int j = 0; j < 13; ++j) heat += flow.grid().z.widths[j] * first[j];
  EXPECT_NEAR(heat, 0, 1e-14);
  // A quarter of a wall is a step as 3 t^2 - 2 t^3 from one level to minus it, of mean square 17/35; the
  // floor, without a level, is the third wall.
  const double expected = std::sqrt((4 * 4 + 1.5 * 1.5) / 3 * (1 - 0.25 * (1 - 17.0 / 35)));
  EXPECT_NEAR(control.terms(1).heating, expected, 0.03 * expected);
  control.release(flow);
  EXPECT_TRUE(flow.walls().empty());
}

TEST(WallControl, refuses_actuators_of_no_wall_and_two_of_one) {
  auto options = world_of(World::insulated);
  const Grid grid(Comm::self(), options.x_axis(), options.z_axis());
  options.actuators.push_back({true, {2, 0.3, 0.5}});  // the ceiling: all four walls
  EXPECT_NO_THROW(WallControl(options, grid));
  options.actuators.push_back({true, {2, 0.3, 0.5}});
  EXPECT_THROW(WallControl(options, grid), InputError);
  options.actuators = {{false, {2, most_heat_set, 0.5}, true}};
  EXPECT_NO_THROW(WallControl(options, grid));
  options.actuators = {{false, {2, most_heat_set * 1.001, 0.5}, true}};
  EXPECT_THROW(WallControl(options, grid), InputError);
  options.actuators = {{false, {2, 1.001, 0.5}}};
  EXPECT_THROW(WallControl(options, grid), InputError);
  auto layer = world_of(World::layer);
  layer.actuators = {{false, {4, 0.3, 0.5}, true}};
  EXPECT_THROW(WallControl(layer, Grid(Comm::self(), layer.x_axis(), layer.z_axis())), InputError);
}

/// What sensors at walls show is what Sample makes of the same heat: with a point a cell, on equal cells,
/// their mean is the Nusselt number of the wall less 1.
TEST(WallControl, sees_heat_of_heated_walls_and_buoyancy_of_those_that_insulate) {
  for (const auto world : {World::cavity, World::insulated}) {
    auto options = world_of(world);
    options.spacing_z = Spacing::uniform, options.sensed = {Sensed::b},
    options.probes_x = options.probes_z = 1;
    const bool sides = world == World::cavity;
    const int heated = sides ? 13 : 16, other = sides ? 16 : 13;
    options.wall_sensors = {
        {false, false, heated}, {true, false, heated}, {false, true, other}, {true, true, 1}};
    Boussinesq flow = flow_of(options, Comm::world());
    WallControl control(options, flow.grid());
    EXPECT_EQ(control.n_observed(), 1 + 2 * heated + other + 1);
    control.act(flow, action_of(control, 1));
    go_on(control, flow, 4);
    std::vector<float> seen(control.n_observed());
    control.observe(flow, seen);
    double warm = 0, cold = 0;
    for (int i = 0; i < heated; ++i) warm += seen[1 + i] / heated, cold += seen[1 + heated + i] / heated;
    const Sample now = sample(Exec(), flow, 0);
    EXPECT_NEAR(warm, now.nusselt_warm - 1, 1e-5);
    EXPECT_NEAR(cold, now.nusselt_cold - 1, 1e-5);
    EXPECT_GT(std::abs(warm - cold), 1e-3);
    // The first wall that insulates: b beside it, and its slope over half a cell.
    const double gap = sides ? flow.grid().z.gaps[0] : flow.grid().x.gaps[0];
    const auto b_of = [&](int k) {
      const int row = sides ? 0 : k, here = row - flow.grid().first_row();
      const bool own = here >= 0 && here < flow.grid().rows_here();
      return flow.grid().comm().sum(own ? flow.state(0).b.row(here)[sides ? k : 0] : 0.0);
    };
    const auto heat = flow.walls().first_heat;
    for (const int k : {0, 4, other - 1}) {
      const double conducting = 0.5 - (k + 0.5) / other, set = heat.empty() ? 0 : heat[k];
      EXPECT_NEAR(seen[1 + 2 * heated + k], b_of(k) + gap * set - conducting, 1e-6) << k;
    }
  }
}

TEST(WallControl, sees_nothing_at_walls_where_heat_is_conducted) {
  auto options = world_of(World::insulated);
  options.start = {true, 0, 1, 0, 0};
  options.wall_sensors = {{false, false, 5}, {true, false, 3}, {false, true, 4}, {true, true, 7}};
  Grid grid(Comm::world(), options.x_axis(), options.z_axis());
  auto solver = make_transform_solver(options.problem, grid);
  Boussinesq flow(options.problem, std::move(grid), std::move(solver), 1);
  fill(options.problem, options.start, 7, flow, 0);
  flow.start(Exec());
  WallControl control(options, flow.grid());
  std::vector<float> seen(control.n_observed(), 7);
  control.observe(flow, seen);
  for (std::size_t k = seen.size() - 19; k < seen.size(); ++k) EXPECT_NEAR(seen[k], 0, 1e-6) << k;
  auto layer = world_of(World::layer);
  layer.wall_sensors = {{false, false, 5}};
  EXPECT_THROW(WallControl(layer, Grid(Comm::self(), layer.x_axis(), layer.z_axis())), InputError);
  options.wall_sensors = {{false, false, 0}};
  EXPECT_THROW(WallControl(options, flow.grid()), InputError);
}

}  // namespace
}  // namespace quintet::environments
