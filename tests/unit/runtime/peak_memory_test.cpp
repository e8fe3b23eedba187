#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "io/runtime/runtime.hpp"

namespace quintet {
namespace {

/// This program starts itself while it holds much: the second one tells its own peak alone.
TEST(Process, peak_memory_is_not_that_of_the_process_that_started_it) {
  constexpr const char* inside = "QUINTET_TEST_INSIDE";
  if (std::getenv(inside)) {
    EXPECT_LT(peak_memory_mb(), 300.0);
    return;
  }
  constexpr std::size_t n_bytes = 400'000'000;
  const auto block = std::make_unique<char[]>(n_bytes);
  std::memset(block.get(), 1, n_bytes);
  EXPECT_GT(peak_memory_mb(), 400.0);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      std::string(inside) + "=1 exec '" + program + "' --gtest_filter='Process.*' > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace quintet
