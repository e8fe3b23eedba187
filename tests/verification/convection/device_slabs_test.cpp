#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "io/log/counted.hpp"
#include "io/parallel/comm.hpp"
#include "physics/convection/device/flow_setup.hpp"
#include "physics/convection/slab_needs.hpp"
#include "tests/support/convection_cases.hpp"
#include "tests/support/convection_numbers.hpp"
#include "tests/support/device/test_device.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

struct Case {
  int n_flows = 1;
  bool transforms = true;
  bool direct = true;  ///< MPI reads what packs wrote, else a copy of it
  bool on_device = true;
  Overlap overlap = Overlap::timed;
};

Boussinesq make_flows(const Problem& problem, const Grid& grid, const Case& c) {
  Boussinesq flows = make_rolls(problem, grid, c.n_flows, c.transforms);
  if (!c.on_device) return flows;
  DeviceFlowSetup setup =
      shared_flow_setup(problem, grid, c.n_flows, c.transforms, quintet::test::may_send(c.direct));
  setup.overlap = c.overlap;
  flows.move_to(std::shared_ptr<DeviceFlows>(QUINTET_DEVICE_FUNCTION(quintet_make_device_flows)(setup)));
  return flows;
}

/// Cells of `together`, with their neighbours, beside those of a rank that has all.
void expect_equal(const Boussinesq& alone, const Boussinesq& together, double tolerance) {
  const Grid& grid = together.grid();
  for (int m = 0; m < alone.n_members(); ++m)
    for (Field BoussinesqState::*field :
         {&BoussinesqState::u, &BoussinesqState::w, &BoussinesqState::b, &BoussinesqState::p}) {
      const Field &a = alone.state(m).*field, &b = together.state(m).*field;
      for (int j = -1; j <= grid.rows_here(); ++j)
        for (int i = -1; i <= grid.x.n(); ++i)
          ASSERT_NEAR(a.row(alone.grid().rows_here() == grid.z.n() ? grid.first_row() + j : j)[i],
                      b.row(j)[i], tolerance)
              << "flow " << m << ", cell (" << grid.first_row() + j << ", " << i << ")";
    }
}

void expect_same_steps(const Problem& problem, int n_x, int n_z, const Case& c, double strength_x = 0) {
  const auto grid = [&](const Comm& comm) {
    return convection::testing::make_grid(comm, problem, 1.5, n_x, n_z, 1.2, strength_x);
  };
  Boussinesq alone = make_flows(problem, grid(Comm::self()), c),
             together = make_flows(problem, grid(Comm::world()), c);
  for (const double dt : {0.05, 0.05, 0.03, 0.04, 0.05}) {
    alone.advance(Exec(), dt);
    together.advance(Exec(), dt);
    ASSERT_NEAR(together.courant_rate(Exec()) / alone.courant_rate(Exec()), 1, 1e-11);
  }
  expect_same_numbers(alone, together, 1e-11);  // before fields come home
  expect_equal(alone, together, quintet::test::bound(1e-13, 1e-12));
}

}  // namespace

TEST(DeviceSlabs, move_as_one_between_any_walls) {
  for (const Problem& problem : all_walls()) expect_same_steps(problem, 20, 13, {});
}

TEST(DeviceSlabs, move_several_flows_through_the_host) {
  Problem box;
  box.sides = Sides::no_slip;
  for (const int n_flows : {2, 3})
    for (const bool direct : {false, true}) {
      expect_same_steps({}, 18, 12, {.n_flows = n_flows, .direct = direct});
      expect_same_steps(box, 14, 15, {.n_flows = n_flows, .direct = direct});
    }
}

TEST(DeviceSlabs, may_be_single_rows) {
  Problem box;
  box.sides = Sides::free_slip;
  for (const int n_z : {4, 5, 7}) {
    expect_same_steps({}, 8, n_z, {});
    expect_same_steps(box, 8, n_z, {});
  }
}

TEST(DeviceSlabs, move_on_cells_of_any_width) {
  Problem box;
  box.sides = Sides::no_slip;
  box.heated = Heated::sides;
  expect_same_steps(box, 17, 11, {.n_flows = 2, .transforms = false}, 1.4);
}

TEST(DeviceSlabs, come_home_and_go_on_to_the_bit) {
  const Problem problem;
  const Grid grid = convection::testing::make_grid(Comm::world(), problem, 2, 24, 13);
  for (const int n_flows : {1, 2}) {
    Boussinesq whole = make_flows(problem, grid, {.n_flows = n_flows}),
               parted = make_flows(problem, grid, {.n_flows = n_flows, .direct = false});
    for (int i = 0; i < 6; ++i) whole.advance(Exec(), 0.04);
    for (int i = 0; i < 3; ++i) parted.advance(Exec(), 0.04);
    for (int m = 0; m < n_flows; ++m) static_cast<void>(parted.state(m));  // as for a checkpoint
    parted.resume(parted.time(), parted.step());
    for (int i = 0; i < 3; ++i) parted.advance(Exec(), 0.04);
    expect_equal(whole, parted, 0);
  }
}

TEST(DeviceSlabs, are_the_same_to_the_bit_whether_they_wait_for_messages_or_not) {
  Problem box;
  box.sides = Sides::no_slip;
  for (const int n_z : {4, 6, 13})
    for (const bool direct : {true, false})
      for (const Problem& problem : {Problem{}, box}) {
        const Grid grid = convection::testing::make_grid(Comm::world(), problem, 2, 24, n_z);
        const auto moved = [&](Overlap overlap) {
          Boussinesq flows = make_flows(problem, grid, {.direct = direct, .overlap = overlap});
          for (int i = 0; i < 14; ++i) {
            flows.advance(Exec(), 0.04);
            if (i % 3 == 0) static_cast<void>(flows.courant_rate(Exec()));
          }
          return flows;
        };
        const Boussinesq waiting = moved(Overlap::never);
        expect_equal(waiting, moved(Overlap::always), 0);
        expect_equal(waiting, moved(Overlap::timed), 0);
      }
}

TEST(DeviceSlabs, stay_solenoidal_and_have_a_pressure_without_mean) {
  Problem problem;
  problem.sides = Sides::free_slip;
  const Grid grid = convection::testing::make_grid(Comm::world(), problem, 1.3, 30, 64);
  Boussinesq flows = make_flows(problem, grid, {}), host = make_flows(problem, grid, {.on_device = false});
  for (int i = 0; i < 20; ++i) {
    flows.advance(Exec(), 0.02);
    host.advance(Exec(), 0.02);
  }
  const BoussinesqState& state = flows.state(0);
  Field divergence_of("divergence", grid);
  divergence(Exec(), flows.metrics(), state.u, state.w, 1, divergence_of);
  double largest = 0, mean = 0;
  for (int j = 0; j < state.p.rows; ++j)
    for (int i = 0; i < state.p.n; ++i) {
      largest = std::max(largest, std::abs(divergence_of.row(j)[i]));
      mean += state.p.row(j)[i] * grid.z.widths[grid.first_row() + j] / state.p.n;
    }
  EXPECT_LT(grid.comm().maximum(largest), 1e-12);
  EXPECT_NEAR(grid.comm().sum(mean), 0, quintet::test::bound(1e-14, 1e-13));
  expect_equal(host, flows, 1e-12);
}

TEST(DeviceSlabs, tell_of_velocities_that_are_no_numbers) {
  const Problem problem;
  const Grid grid = convection::testing::make_grid(Comm::world(), problem, 2, 16, 8);
  Boussinesq flows = make_flows(problem, grid, {});
  if (grid.at_top())
    flows.state(0).w.row(grid.at_bottom() ? 1 : 0)[5] = std::numeric_limits<double>::quiet_NaN();
  flows.resume(0, 0);
  EXPECT_TRUE(std::isnan(flows.courant_rate(Exec())));
}

TEST(DeviceSlabs, send_what_a_plan_says) {
  const Problem problem;
  const Comm comm = Comm::world();
  // All in one group of slabs, whose messages `comm` counts.
  const int n_flows = comm.size() % 2 == 1 && comm.size() > 2 ? 2 : 1;
  Boussinesq flows =
      make_flows(problem, convection::testing::make_grid(comm, problem, 2, 24, 15), {.n_flows = n_flows});
  flows.advance(Exec(), 1e-3);
  comm.reset_counters();

  flows.advance(Exec(), 2e-3);
  static_cast<void>(flows.courant_rate(Exec()));

  const SlabNeeds needs = device_slab_needs(24, 15, n_flows, comm.size());
  double messages = 0, bytes = 0;
  for (const Comm::Call call : {Comm::Call::point_to_point, Comm::Call::all_gather_into}) {
    messages += comm.counter(call).messages;
    bytes += comm.counter(call).bytes;
  }
  const double sums = comm.counter(Comm::Call::reduce).messages;
  EXPECT_EQ(comm.maximum(messages), needs.messages);
  EXPECT_EQ(comm.maximum(bytes), needs.bytes_sent);
  EXPECT_EQ(sums, needs.sums);
  EXPECT_EQ(needs.cells, 24 * ((15 + comm.size() - 1) / comm.size()));
}

/// What Kokkos's profiling hooks see of an engine on the host: its launches, and what it allocates on the
/// device.
struct Seen {
  Seen() {
    launches() = 0;
    bytes() = 0;
    using namespace Kokkos::Tools::Experimental;
    const auto launch = [](const char* label, std::uint32_t, std::uint64_t*) {
      if (std::string(label).starts_with("convection::")) ++launches();
    };
    set_begin_parallel_for_callback(launch);
    set_allocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle, const char* label, const void*, std::uint64_t size) {
          const std::string name(label);
          if (name.starts_with("convection::") && name != "convection::staged") bytes() += size;
        });
  }
  ~Seen() {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  }
  static int& launches() {
    static int n = 0;
    return n;
  }
  static double& bytes() {
    static double n = 0;
    return n;
  }
};

TEST(DeviceSlabs, launch_nine_kernels_a_stage_and_ten_for_slabs) {
  if (quintet::test::on_gpu()) GTEST_SKIP() << quintet::test::hooks_see_the_host;
  const Problem problem;
  const Grid grid = convection::testing::make_grid(Comm::world(), problem, 2, 24, 15);
  for (const Overlap overlap : {Overlap::never, Overlap::always}) {
    Boussinesq flows = make_flows(problem, grid, {.overlap = overlap});
    const auto step = [&](double dt) {
      flows.advance(Exec(), dt);
      static_cast<void>(flows.courant_rate(Exec()));
    };
    step(1e-3);
    const bool slabs = grid.comm().size() > 1;
    // Divergence and projection have edges of their own, and the second right-hand side.
    const int of_slabs = slabs ? 10 : 0, of_edges = slabs && overlap == Overlap::always ? 5 : 0;
    Seen seen;
    step(1e-3);
    EXPECT_EQ(Seen::launches(), 2 * (9 + of_slabs) + of_edges);
    step(2e-3);  // factors of another step
    EXPECT_EQ(Seen::launches(), 4 * (9 + of_slabs) + 2 * of_edges + (slabs ? 2 : 0));
  }
}

TEST(DeviceSlabs, take_the_bytes_that_they_ask_for) {
  if (quintet::test::on_gpu()) GTEST_SKIP() << quintet::test::hooks_see_the_host;
  Problem box;
  box.sides = Sides::no_slip;
  const Grid grid = convection::testing::make_grid(Comm::world(), box, 2, 24, 15);
  for (const bool transforms : {true, false})
    for (const int n_flows : {1, 3}) {
      const DeviceFlowSetup setup = shared_flow_setup(box, grid, n_flows, transforms, true);
      Seen seen;
      const std::unique_ptr<DeviceFlows> flows(QUINTET_DEVICE_FUNCTION(quintet_make_device_flows)(setup));
      EXPECT_EQ(Seen::bytes(), QUINTET_DEVICE_FUNCTION(quintet_device_flows_bytes)(setup))
          << counted(n_flows, "flow");
    }
}

TEST(FlowShares, give_each_flow_its_rows_and_each_rank_a_flow) {
  for (int n_ranks = 1; n_ranks <= 24; ++n_ranks)
    for (int n_members = 1; n_members <= 9; ++n_members) {
      const FlowShares shares = flow_shares(n_ranks, n_members);
      ASSERT_EQ(shares.n_groups() * shares.n_slabs, n_ranks);
      EXPECT_TRUE(n_ranks > n_members || shares.n_slabs == 1);
      std::vector<int> owned(n_ranks);
      for (int m = 0; m < n_members; ++m) {
        std::vector<int> slabs;
        for (int rank = 0; rank < n_ranks; ++rank) {
          if (!shares.has(rank, m)) continue;
          EXPECT_EQ(shares.place_of(m), owned[rank]++);
          slabs.push_back(shares.slab_of(rank));
        }
        ASSERT_EQ(slabs.size(), static_cast<std::size_t>(shares.n_slabs));
        for (int slab = 0; slab < shares.n_slabs; ++slab) EXPECT_EQ(slabs[slab], slab);
      }
      for (int rank = 0; rank < n_ranks; ++rank) {
        EXPECT_EQ(owned[rank], shares.members_on(rank));
        EXPECT_GE(shares.members_on(rank), 1);
      }
    }
  EXPECT_EQ(flow_shares(4, 2).n_slabs, 2);
  EXPECT_EQ(flow_shares(3, 2).n_slabs, 3);  // 2/3 of a flow each, not a whole one
  EXPECT_EQ(flow_shares(6, 4).n_slabs, 3);
}
