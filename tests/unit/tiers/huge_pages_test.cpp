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
constexpr std::size_t large_page = std::size_t{2} << 20;

/// Six large pages' worth of numbers in small pages, which may become large ones.
class SmallPages {
 public:
  SmallPages() : place_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    madvise(place_, size, MADV_NOHUGEPAGE);  // while it is written
    for (std::size_t i = 0; i < size; ++i) data()[i] = static_cast<unsigned char>(i % 251);
    madvise(place_, size, MADV_HUGEPAGE);
  }
  ~SmallPages() { munmap(place_, size); }
  SmallPages(const SmallPages&) = delete;
  SmallPages& operator=(const SmallPages&) = delete;

  [[nodiscard]] unsigned char* data() const { return static_cast<unsigned char*>(place_); }
  /// The first address in it at which a large page may begin.
  [[nodiscard]] unsigned char* first() const {
    const auto address = reinterpret_cast<std::uintptr_t>(place_);
    return reinterpret_cast<unsigned char*>((address + large_page - 1) / large_page * large_page);
  }
  [[nodiscard]] int n_large() const {
    const std::string line = line_of(place_, "AnonHugePages:");
    return line.empty() ? 0 : std::stoi(line.substr(line.find(':') + 1)) / 2048;
  }
  void expect_numbers() const {
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(data()[i], i % 251) << i;
  }

 private:
  static constexpr std::size_t size = 6 * large_page;
  void* place_;
};

/// The system has large pages to give at one time and none at another: what it has just given the test it
/// gives the function, now or at the next time.
TEST(HugePages, small_arrays_in_use_are_moved_into_large_pages_with_what_they_hold) {
  int n_given = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const SmallPages by_hand, found;
    for (const std::size_t page : {1, 2})
      madvise(by_hand.first() + page * large_page, large_page, MADV_COLLAPSE);

    gather_in_huge_pages(found.first() + 2 * large_page - 100000, 200000);  // a part of two
    gather_in_huge_pages(found.first() + 4 * large_page + 1000, 1000);      // too small

    found.expect_numbers();
    if (found.n_large() == 2) return;
    n_given += by_hand.n_large() >= 2 ? 1 : 0;
  }
  if (n_given < 3) GTEST_SKIP() << "the system has no large pages to move memory into";
  FAIL() << "the system gave two large pages " << n_given << " times of 5, and the array was never in two";
}
#endif

}  // namespace
}  // namespace quintet
