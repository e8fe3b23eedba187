#include "io/tiers/page_arena.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

namespace quintet {

namespace {

const std::size_t page = sysconf(_SC_PAGESIZE);
constexpr std::size_t nowhere = -1;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

}  // namespace

PageArena::PageArena(std::size_t addresses) : addresses_(whole_pages(addresses)) {
  void* const place =
      mmap(nullptr, addresses_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) {
    addresses_ = 0;
    return;
  }
  // A huge page would reach into ranges around a block, which are counted as without pages.
  madvise(place, addresses_, MADV_NOHUGEPAGE);
  data_ = static_cast<std::byte*>(place);
  free_[0] = {addresses_, false};
}

PageArena::~PageArena() {
  if (data_) munmap(data_, addresses_);
}

PageArena& PageArena::of_process() {
  static auto* const arena = [] {
    rlimit limit{};
    const bool is_limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    const auto memory = sysconf(_SC_PHYS_PAGES) * page;
    return new PageArena(is_limited ? 0 : 4 * memory);  // blocks may be freed while the process ends
  }();
  return *arena;
}

bool PageArena::owns(const void* place) const {
  const auto* const at = static_cast<const std::byte*>(place);
  return data_ && at >= data_ && at < data_ + addresses_;
}

/// The smallest range with pages that holds the block; else, of all ways to begin or end with a range, the
/// one that finds most pages.
std::size_t PageArena::place_for(std::size_t size) const {
  std::size_t place = nowhere, smallest = nowhere;
  for (const auto& [from, range] : free_)
    if (range.has_pages && range.size >= size && range.size < smallest) {
      smallest = range.size;
      place = from;
    }
  if (place != nowhere) return place;
  using Key = std::tuple<std::size_t, std::size_t, std::size_t>;  // pages found, then as tight, as low
  Key best{0, 0, 0};
  for (auto first = free_.begin(); first != free_.end();) {
    auto end = std::next(first);
    std::size_t upto = first->first + first->second.size;
    for (; end != free_.end() && end->first == upto; ++end) upto += end->second.size;
    const std::size_t from = first->first;
    const auto consider = [&](std::size_t at) {
      std::size_t found = 0;
      for (auto range = first; range != end; ++range)
        if (range->second.has_pages) {
          const std::size_t low = std::max(at, range->first),
                            high = std::min(at + size, range->first + range->second.size);
          found += high > low ? high - low : 0;
        }
      const Key key{found, addresses_ - (upto - from), addresses_ - at};
      if (place == nowhere || key > best) std::tie(best, place) = std::pair{key, at};
    };
    if (upto - from >= size)
      for (auto range = first; range != end; ++range) {
        const std::size_t last = range->first + range->second.size;
        if (range->first + size <= upto) consider(range->first);
        if (last >= from + size) consider(last - size);
      }
    first = end;
  }
  return place;
}

/// No free range any more: its neighbours and what it lay in are cut.
void PageArena::take(std::size_t from, std::size_t size) {
  const std::size_t upto = from + size;
  auto range = std::prev(free_.upper_bound(from));
  while (range != free_.end() && range->first < upto) {
    const auto [begin, old] = *range;
    range = free_.erase(range);
    if (begin < from) free_[begin] = {from - begin, old.has_pages};
    const std::size_t end = begin + old.size;
    if (end > upto) free_[upto] = {end - upto, old.has_pages};
    if (old.has_pages) with_pages_ -= std::min(end, upto) - std::max(begin, from);
  }
}

void PageArena::insert(std::size_t from, Range range) {
  if (range.has_pages) with_pages_ += range.size;
  auto next = free_.lower_bound(from);
  if (next != free_.end() && next->first == from + range.size && next->second.has_pages == range.has_pages) {
    range.size += next->second.size;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second.size == from && before->second.has_pages == range.has_pages) {
      before->second.size += range.size;
      return;
    }
  }
  free_[from] = range;
}

/// Give back pages of free ranges, the largest first, until so many are resident.
void PageArena::keep_within(std::size_t bytes) {
  while (with_pages_ > 0 && use_.live + with_pages_ > bytes) {
    const auto largest = std::max_element(free_.begin(), free_.end(), [](const auto& a, const auto& b) {
      return (a.second.has_pages ? a.second.size : 0) < (b.second.has_pages ? b.second.size : 0);
    });
    const auto [begin, range] = *largest;
    const std::size_t excess = use_.live + with_pages_ - bytes;
    const std::size_t size = std::min(range.size, std::max(whole_pages(excess), least_block));
    const std::size_t from = begin + range.size - size;
    madvise(data_ + from, size, MADV_DONTNEED);
    take(from, size);
    insert(from, {size, false});
  }
}

void* PageArena::allocate(std::size_t bytes) {
  const std::size_t size = whole_pages(std::max<std::size_t>(bytes, 1));
  const std::lock_guard lock(mutex_);
  if (size > addresses_ / 4) return nullptr;  // more than the machine has: for who says so
  const std::size_t place = place_for(size);
  if (place == nowhere) return nullptr;
  take(place, size);
  blocks_[place] = size;
  use_.live += size;
  use_.most_live = std::max(use_.most_live, use_.live);
  keep_within(use_.most_live + use_.most_live / slack_share);
  use_.resident = use_.live + with_pages_;
  use_.most_resident = std::max(use_.most_resident, use_.resident);
  return data_ + place;
}

void PageArena::deallocate(void* place) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(static_cast<std::size_t>(static_cast<std::byte*>(place) - data_));
  if (found == blocks_.end()) return;
  use_.live -= found->second;
  insert(found->first, {found->second, true});
  blocks_.erase(found);
}

std::span<std::byte> PageArena::pages_of(const void* place) const {
  const std::lock_guard lock(mutex_);
  const std::size_t at = static_cast<const std::byte*>(place) - data_;
  return {data_ + at, blocks_.at(at)};
}

void PageArena::note_absent(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  use_.live -= bytes;
  use_.most_live = std::max(use_.most_live, use_.live);
  keep_within(use_.most_live + use_.most_live / slack_share);
  use_.resident = use_.live + with_pages_;
  use_.most_resident = std::max(use_.most_resident, use_.resident);
}

PageArena::Use PageArena::use() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

}  // namespace quintet
