#include "io/tiers/page_arena.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace quintet {
namespace {

constexpr std::size_t page = 4096, megabyte = std::size_t{1} << 20;

/// Bytes of a range that have memory, as the system counts them.
std::size_t resident(std::span<const std::byte> range) {
  std::vector<unsigned char> pages(range.size() / page);
  mincore(const_cast<std::byte*>(range.data()), range.size(), pages.data());
  return page * std::count_if(pages.begin(), pages.end(), [](auto p) { return p & 1; });
}

/// A block that is written, and its first and last number.
struct Block {
  std::byte* place = nullptr;
  std::size_t bytes = 0;
  int mark = 0;
  [[nodiscard]] bool is_whole() const {
    int first = 0, last = 0;
    std::memcpy(&first, place, sizeof first);
    std::memcpy(&last, place + bytes - sizeof last, sizeof last);
    return first == mark && last == mark;
  }
};
Block written(PageArena& arena, std::size_t bytes, int mark) {
  Block block{static_cast<std::byte*>(arena.allocate(bytes)), bytes, mark};
  std::memset(block.place, 1, bytes);
  std::memcpy(block.place, &mark, sizeof mark);
  std::memcpy(block.place + bytes - sizeof mark, &mark, sizeof mark);
  return block;
}

/// Blocks that come and go as a training's do not touch each other, and what the system counts stays within
/// what the blocks took at most and an eighth.
TEST(PageArena, no_more_is_resident_than_the_blocks_took_at_most_and_an_eighth) {
  PageArena arena(std::size_t{1} << 32);
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return random() % n; };
  std::vector<Block> blocks;
  std::byte *lowest = nullptr, *highest = nullptr;
  std::size_t live = 0, most_live = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    const bool grows = (turn / 150) % 2 == 0;
    if (blocks.empty() || below(10) < (grows ? 7U : 3U)) {
      const Block block = written(arena, PageArena::least_block + below(3 * megabyte), turn);
      live += (block.bytes + page - 1) / page * page;
      most_live = std::max(most_live, live);
      blocks.push_back(block);
      lowest = lowest ? std::min(lowest, block.place) : block.place;
      highest = std::max(highest, block.place + (block.bytes + page - 1) / page * page);
    } else {
      std::swap(blocks[below(blocks.size())], blocks.back());
      ASSERT_TRUE(blocks.back().is_whole());
      live -= (blocks.back().bytes + page - 1) / page * page;
      arena.deallocate(blocks.back().place);
      blocks.pop_back();
    }
    ASSERT_EQ(arena.use().live, live);
    if (turn % 50 > 0) continue;
    const std::size_t counted = resident({lowest, highest});
    ASSERT_EQ(counted, arena.use().resident) << turn;
    ASSERT_LE(counted, most_live + most_live / 8) << turn;
  }
  EXPECT_EQ(arena.use().most_live, most_live);
  for (const Block& block : blocks) EXPECT_TRUE(block.is_whole());
}

/// A step like the one before finds all pages it needs.
TEST(PageArena, what_is_freed_is_used_again) {
  PageArena arena(std::size_t{1} << 30);
  const auto step = [&] {
    std::vector<Block> blocks;
    for (int i = 0; i < 20; ++i) blocks.push_back(written(arena, (1 + i % 5) * megabyte, i));
    for (; !blocks.empty(); blocks.pop_back()) arena.deallocate(blocks.back().place);
  };
  step();
  const std::size_t after_one = arena.use().most_resident;
  step();
  EXPECT_EQ(arena.use().most_resident, after_one);
  EXPECT_EQ(arena.use().resident, 60 * megabyte);
}

TEST(PageArena, pages_that_are_elsewhere_leave_room_for_others) {
  PageArena arena(std::size_t{1} << 30);
  const Block away = written(arena, 40 * megabyte, 1);
  const auto pages = arena.pages_of(away.place);
  EXPECT_EQ(pages.size(), 40 * megabyte);
  madvise(pages.data(), pages.size(), MADV_DONTNEED);
  arena.note_absent(40 * megabyte);
  const Block other = written(arena, 40 * megabyte, 2);
  EXPECT_EQ(arena.use().most_live, 40 * megabyte);
  arena.deallocate(other.place);
  arena.note_absent(-40 * static_cast<std::int64_t>(megabyte));  // it comes back: what is free gives way
  EXPECT_LE(arena.use().resident, 45 * megabyte);
  arena.deallocate(away.place);
}

/// Where all programs get huge pages, one would put memory behind two megabytes for the first byte.
TEST(PageArena, its_addresses_get_no_huge_pages) {
  PageArena arena(std::size_t{1} << 30);
  const auto place = reinterpret_cast<std::uintptr_t>(arena.allocate(megabyte));
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false, is_found = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0, upto = 0;
    if (std::sscanf(line.c_str(), "%zx-%zx ", &from, &upto) == 2) is_here = from <= place && place < upto;
    if (!is_here || !line.starts_with("VmFlags:")) continue;
    is_found = true;
    EXPECT_NE((line + ' ').find(" nh "), std::string::npos) << line;
  }
  EXPECT_TRUE(is_found);
}

TEST(PageArena, what_finds_no_room_is_for_others) {
  PageArena none(0);
  EXPECT_EQ(none.allocate(megabyte), nullptr);
  PageArena arena(8 * megabyte);
  EXPECT_EQ(arena.allocate(3 * megabyte), nullptr);  // a quarter of the addresses at most
  EXPECT_FALSE(arena.owns(&none));
  int on_stack = 0;
  EXPECT_FALSE(arena.owns(&on_stack));
}

}  // namespace
}  // namespace quintet
