#include <chrono>
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "physics/kernels/core_rate.hpp"

using namespace quintet;

TEST(CoreRate, times_are_of_the_processor_not_of_the_clock) {
  EXPECT_LT(timed([] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }), 0.03);
  const double start = cpu_seconds();
  const double busy = timed([&] {
    while (cpu_seconds() - start < 0.02) {
    }
  });
  EXPECT_GT(busy, 0.015);
}

TEST(CoreRate, rates_are_positive_and_a_share_is_of_the_most_seen) {
  const Bracket<double> bracket;
  const Core core = bracket.close();
  EXPECT_TRUE(std::isfinite(core.peak) && core.peak > 1e8) << core.peak;
  EXPECT_TRUE(std::isfinite(core.slots) && core.slots > 1e7) << core.slots;
  EXPECT_LE(Bracket<double>::share_of_slots(core), 1);
  EXPECT_EQ(Bracket<double>::share_of_slots({1, 1e30}), 1);
  EXPECT_EQ(Bracket<double>::share_of_slots({1, 2.5e29}), 0.25);
}
