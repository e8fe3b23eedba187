#include "physics/kernels/rounded_root.hpp"

#include <gtest/gtest.h>

#include <limits>

TEST(rounded_root, takes_round_off_for_zero_and_carries_what_is_not_known) {
  EXPECT_EQ(quintet::rounded_root(2.25), 1.5);
  EXPECT_EQ(quintet::rounded_root(0), 0);
  EXPECT_EQ(quintet::rounded_root(-1e-17), 0);
  EXPECT_TRUE(std::isnan(quintet::rounded_root(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(std::isinf(quintet::rounded_root(std::numeric_limits<double>::infinity())));
}
