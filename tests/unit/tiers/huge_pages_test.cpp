#include "io/tiers/huge_pages.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#ifdef __linux__
#include <linux/mman.h>
#endif
#include <sys/mman.h>

namespace quintet {
namespace {

/// A line of the mapping that holds an address, as /proc/self/smaps has it; empty where it has none.
std::string line_of(const void* address, const std::string& key) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream stream("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream fields(line);
    if (fields >> std::hex >> begin >> dash >> end && dash == '-') inside = begin <= wanted && wanted < end;
    if (inside && line.starts_with(key)) return line + " ";
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
    const std::string flags = line_of(data + size / 2, "VmFlags:");
    if (flags.empty()) GTEST_SKIP() << "/proc/self/smaps does not say";
    EXPECT_EQ(flags.find(" hg ") != std::string::npos, size == large) << flags;
    EXPECT_EQ(data[size / 2], 7);
    std::free(data);
  }
}

#ifdef MADV_COLLAPSE
TEST(HugePages, small_arrays_in_use_are_moved_into_large_pages_with_what_they_hold) {
  constexpr std::size_t page = std::size_t{2} << 20, size = 6 * page;
  void* const place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  madvise(place, size, MADV_NOHUGEPAGE);  // while it is written
  auto* const data = static_cast<unsigned char*>(place);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<unsigned char>(i % 251);
  madvise(place, size, MADV_HUGEPAGE);
  const auto huge_kb = [&] {
    const std::string line = line_of(place, "AnonHugePages:");
    return line.empty() ? 0 : std::stoi(line.substr(line.find(':') + 1));
  };
  const auto whole = (reinterpret_cast<std::uintptr_t>(place) + page - 1) / page * page;
  auto* const first = reinterpret_cast<unsigned char*>(whole);
  const bool can = madvise(first, page, MADV_COLLAPSE) == 0;
  const int before = huge_kb();

  gather_in_huge_pages(first + 2 * page - 100000, 200000);  // a part of two
  gather_in_huge_pages(first + 4 * page + 1000, 1000);      // too small

  for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(data[i], i % 251) << i;
  const int more = huge_kb() - before;
  munmap(place, size);
  if (!can) GTEST_SKIP() << "the system does not move memory into large pages";
  EXPECT_EQ(more, 2 * 2048);
}
#endif

}  // namespace
}  // namespace quintet
