#include "surrogates/planning/zero.hpp"

#include <gtest/gtest.h>

using namespace quintet::planning;

TEST(Zero, memory_is_that_of_the_paper) {
  constexpr double y = 1e6, n = 64;
  const auto stages = zero_stages();
  ASSERT_EQ(stages.size(), 4U);

  EXPECT_DOUBLE_EQ(stages[0].memory(adam_float32, y, n), 16 * y);
  EXPECT_DOUBLE_EQ(stages[1].memory(adam_float32, y, n), 8 * y + 8 * y / n);
  EXPECT_DOUBLE_EQ(stages[2].memory(adam_float32, y, n), 4 * y + 12 * y / n);
  EXPECT_DOUBLE_EQ(stages[3].memory(adam_float32, y, n), 16 * y / n);
  EXPECT_DOUBLE_EQ(stages[1].memory(adam_float16, y, n), 4 * y + 12 * y / n);
  EXPECT_DOUBLE_EQ(stages[2].memory(adam_float16, y, n), 2 * y + 14 * y / n);
  // Figure 1 of the paper: 7.5e9 parameters on 64 devices, mixed precision.
  EXPECT_NEAR(stages[0].memory(adam_float16, 7.5e9, 64) / 1e9, 120, 0.05);
  EXPECT_NEAR(stages[1].memory(adam_float16, 7.5e9, 64) / 1e9, 31.4, 0.05);
  EXPECT_NEAR(stages[2].memory(adam_float16, 7.5e9, 64) / 1e9, 16.6, 0.05);
  EXPECT_NEAR(stages[3].memory(adam_float16, 7.5e9, 64) / 1e9, 1.9, 0.05);
}

TEST(Zero, the_last_stage_alone_sends_more) {
  constexpr double y = 1e6, n = 8;
  const auto stages = zero_stages();

  for (int stage = 0; stage < 3; ++stage)
    EXPECT_DOUBLE_EQ(stages[stage].traffic(adam_float32, y, n).bytes, ring_all_reduce(n, 4 * y).bytes);
  EXPECT_DOUBLE_EQ(stages[3].traffic(adam_float32, y, n).bytes, 1.5 * ring_all_reduce(n, 4 * y).bytes);
  EXPECT_EQ(stages[0].traffic(adam_float32, y, 1).bytes, 0);
}
