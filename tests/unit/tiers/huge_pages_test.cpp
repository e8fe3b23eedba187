#include "io/tiers/huge_pages.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace quintet {
namespace {

/// The flags of the mapping that holds an address, as /proc/self/smaps has them; empty where it has none.
std::string flags_of(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream stream("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream fields(line);
    if (fields >> std::hex >> begin >> dash >> end && dash == '-') inside = begin <= wanted && wanted < end;
    if (inside && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

TEST(HugePages, large_arrays_are_marked_and_small_ones_are_not) {
  constexpr std::size_t large = std::size_t{16} << 20, small = std::size_t{1} << 20;
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "the system has no transparent huge pages";
  for (const std::size_t size : {large, small}) {
    auto* const data = static_cast<char*>(std::malloc(size));
    ASSERT_NE(data, nullptr);
    prefer_huge_pages(data, size);
    data[size / 2] = 7;
    const std::string flags = flags_of(data + size / 2);
    if (flags.empty()) GTEST_SKIP() << "/proc/self/smaps does not say";
    EXPECT_EQ(flags.find(" hg ") != std::string::npos, size == large) << flags;
    EXPECT_EQ(data[size / 2], 7);
    std::free(data);
  }
}

}  // namespace
}  // namespace quintet
