#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/spectral/wave_statistics.hpp"
#include "tests/support/spectral_cases.hpp"

namespace quintet::spectral {
namespace {

using namespace testing;

PeriodicFlow run(const Comm& comm, Dealias dealias) {
  PeriodicFlow flow(comm, {2 * pi, 2, 30, 18, dealias}, FlowReader(magnetic(0.01, 0.02)),
                    flow_texts({{"x", "u + b_x"}, {"y", "v + b_y"}}), 2);
  for (int member = 0; member < 2; ++member) {
    start(flow, {"-2*cos(x) - 2*cos(pi*y)", "cos(2*x)/2 + cos(pi*y)"}, member);
    add_noise(flow.grid(), {0.1, 1, 4}, member, 0, flow.state(member)[0]);
  }
  advance(flow, 0.1, 10);
  flow.begin_step();
  return flow;
}

TEST(Ranks, give_the_flow_of_one_to_round_off) {
  for (const auto& row : dealias_rows()) {
    const PeriodicFlow alone = run(Comm::self(), row.value), together = run(Comm::world(), row.value);
    const WaveGrid &one = alone.grid(), &many = together.grid();
    EXPECT_NEAR(together.phase_rate(), alone.phase_rate(), 1e-11);
    EXPECT_GT(alone.phase_rate(), 1);
    for (int member = 0; member < 2; ++member)
      for (std::size_t v = 0; v < 2; ++v) {
        const Modes &a = alone.state(member)[v], &b = together.state(member)[v];
        for (int l = 0; l < 2 * many.waves_y() + 1; ++l)
          for (int j = 0; j < many.columns_here(); ++j) {
            const std::size_t here = std::int64_t{l} * many.columns_here() + j,
                              there = std::int64_t{l} * one.columns_here() + (many.first_column() + j);
            ASSERT_NEAR(b.re(here), a.re(there), 1e-13);
            ASSERT_NEAR(b.im(here), a.im(there), 1e-13);
          }
      }
    EXPECT_NEAR(look(together, "a*w").mean, look(alone, "a*w").mean, 1e-13);
    EXPECT_NEAR(look(together, "j").most, look(alone, "j").most, 1e-11);
  }
}

TEST(Ranks, send_what_a_plan_says) {
  const Comm comm = Comm::world();
  for (const auto& row : dealias_rows()) {
    // 1, 2 and 3 ranks share them equally: 6 columns of waves, 24 rows, or 36 where products are made.
    const int n_x = row.value == Dealias::two_thirds ? 16 : 12;
    PeriodicFlow flow(comm, {2 * pi, 2, n_x, 24, row.value}, FlowReader(magnetic(0.01, 0.02)),
                      flow_texts({{"x", "u + b_x"}, {"y", "v + b_y"}}), 2);
    for (int member = 0; member < 2; ++member)
      start(flow, {"-2*cos(x) - 2*cos(pi*y)", "cos(2*x)/2 + cos(pi*y)"}, member);
    advance(flow, 0.01, 1);
    comm.reset_counters();

    advance(flow, 0.01, 1);

    const auto needs = flow.traffic(comm.size());
    const auto& sent = comm.counter(Comm::Call::point_to_point);
    EXPECT_EQ(needs.messages, sent.messages) << row.name;
    EXPECT_EQ(needs.bytes, sent.bytes) << row.name;
    EXPECT_EQ(needs.messages > 0, comm.size() > 1);
    // A reduction on one rank is a call that sends nothing.
    EXPECT_EQ(needs.sums, comm.size() > 1 ? comm.counter(Comm::Call::reduce).messages : 0) << row.name;
  }
}

TEST(Ranks, flows_of_one_run_are_independent) {
  const PeriodicFlow two = run(Comm::world(), Dealias::two_thirds);
  EXPECT_GT(std::abs(look(two, "w^2", 0).mean - look(two, "w^2", 1).mean), 1e-4);
}

}  // namespace
}  // namespace quintet::spectral
