#include "io/machine/core_use.hpp"

#include <chrono>

#include <gtest/gtest.h>

using quintet::core_use;

TEST(CoreUse, grows_by_what_this_program_computes) {
  const auto before = core_use();
  if (!before) GTEST_SKIP() << "no /proc/stat here";
  const auto start = std::chrono::steady_clock::now();
  volatile double x = 1;
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(100)) x = x * 1.000001;
  const auto after = core_use();
  EXPECT_GE(after->used - before->used, 0.02);  // a busy machine gives a fifth of a core at least
  EXPECT_GE(after->stolen, before->stolen);
}
