#include "io/machine/core_use.hpp"

#include <ctime>

#include <gtest/gtest.h>

using quintet::core_use;

TEST(CoreUse, grows_by_what_this_program_computes) {
  const auto before = core_use();
  if (!before) GTEST_SKIP() << "no /proc/stat here";
  const auto start = std::clock();
  volatile double x = 1;
  while (std::clock() - start < CLOCKS_PER_SEC / 10) x = x * 1.000001;  // however long a busy machine takes
  const auto after = core_use();
  EXPECT_GE(after->used - before->used, 0.05);  // the kernel counts in ticks
  EXPECT_GE(after->stolen, before->stolen);
}
