#include "io/tiers/read_cache.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "io/log/error.hpp"

namespace quintet {

ReadCache::ReadCache(Ledger& ledger, Options options, std::vector<Item> items, Source source)
    : ledger_(ledger), options_(std::move(options)), source_(std::move(source)), entries_(items.size()) {
  std::size_t pinned = 0, largest = 0;
  for (std::size_t i = 0; i < items.size(); ++i) entries_[i].size = items[i];
  for (const int i : options_.pinned) {
    if (!at(i).pinned) pinned += at(i).size.memory;
    at(i).pinned = true;
  }
  for (const Entry& entry : entries_)
    if (!entry.pinned) largest = std::max(largest, entry.size.memory);
  const auto room = ledger.room(Tier::host, options_.category);
  QUINTET_CHECK(!room || pinned + largest <= *room,
                "{}: {} are needed ({} pinned, {} for the largest other), "
                "but there is room for {}; {}",
                options_.what, text_of_bytes(pinned + largest), text_of_bytes(pinned), text_of_bytes(largest),
                text_of_bytes(*room), options_.help);
}

ReadCache::Hold& ReadCache::Hold::operator=(Hold&& other) noexcept {
  std::swap(cache_, other.cache_);
  std::swap(item_, other.item_);
  std::swap(value_, other.value_);
  return *this;
}

ReadCache::Hold::~Hold() {
  if (cache_) --cache_->at(item_).holds;
}

bool ReadCache::make_room(int item) {
  const std::size_t need = at(item).size.memory;
  auto room = ledger_.room(Tier::host, options_.category);
  std::vector<int> leaving;
  for (auto it = order_.begin(); room && need > *room && it != order_.end(); ++it) {
    const Entry& entry = at(*it);
    if (entry.pinned || entry.holds > 0 || !entry.value) continue;
    leaving.push_back(*it);
    *room += entry.size.memory;
  }
  if (room && need > *room) return false;
  for (const int other : leaving) {
    drop(other);
    ++counts_.evictions;
  }
  return true;
}

void ReadCache::take_room(int item) {
  Entry& entry = at(item);
  entry.memory =
      ledger_.claim(Tier::host, options_.category, entry.size.memory, options_.what, options_.help);
  entry.staging =
      ledger_.claim(Tier::host, ByteCategory::staging, entry.size.bytes, options_.what, options_.help);
  entry.bytes = std::make_unique_for_overwrite<std::byte[]>(entry.size.bytes);
  entry.place = order_.insert(order_.end(), item);
}

void ReadCache::drop(int item) {
  Entry& entry = at(item);
  if (entry.arrival.valid()) entry.arrival.wait();
  entry.arrival = {};
  entry.value.reset();
  entry.bytes.reset();
  entry.staging = {};
  entry.memory = {};
  if (entry.place) order_.erase(*entry.place);
  entry.place.reset();
}

void ReadCache::make(int item) {
  Entry& entry = at(item);
  const std::span<std::byte> bytes(entry.bytes.get(), entry.size.bytes);
  if (entry.arrival.valid())
    entry.arrival.get();
  else
    source_.read(item, bytes);
  counts_.bytes_read += bytes.size();
  entry.value = source_.make(item, bytes);
  entry.bytes.reset();
  entry.staging = {};
}

ReadCache::Hold ReadCache::hold(int item) {
  Entry& entry = at(item);
  if (!entry.value) {
    const bool fetched = entry.place.has_value();
    if (!fetched) {
      if (!make_room(item)) {
        // What was fetched for later makes way for what is asked for now.
        for (const int other : std::vector<int>(order_.begin(), order_.end()))
          if (!at(other).value) drop(other);
        if (!make_room(item))
          throw ResourceError(fmt::format("{}: all that is in memory is in use, no room for {} more; {}",
                                          options_.what, text_of_bytes(entry.size.memory), options_.help));
      }
    }
    try {
      if (!fetched) take_room(item);
      make(item);
    } catch (...) {
      drop(item);
      throw;
    }
    ++(fetched ? counts_.fetched : counts_.misses);
  } else {
    ++counts_.hits;
  }
  order_.splice(order_.end(), order_, *entry.place);
  Hold hold;
  ++entry.holds;
  hold.cache_ = this;
  hold.item_ = item;
  hold.value_ = entry.value.get();
  return hold;
}

void ReadCache::fetch(int item) {
  Entry& entry = at(item);
  const auto coming =
      std::count_if(order_.begin(), order_.end(), [&](int other) { return !at(other).value; });
  if (entry.place || coming >= options_.ahead || !make_room(item)) return;
  take_room(item);
  const std::span<std::byte> bytes(entry.bytes.get(), entry.size.bytes);
  entry.arrival = std::async(std::launch::async, [this, item, bytes] { source_.read(item, bytes); });
}

bool ReadCache::holds(int item) const { return entries_[item].value != nullptr; }

std::vector<int> ReadCache::held() const {
  std::vector<int> items;
  std::copy_if(order_.begin(), order_.end(), std::back_inserter(items), [&](int i) { return holds(i); });
  return items;
}

std::vector<int> grouped(std::span<const int> items, const std::function<bool(int)>& is_here) {
  std::map<int, std::pair<bool, int>> rank;  // of an item: absent, first place
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!rank.contains(items[i])) rank[items[i]] = {!is_here(items[i]), static_cast<int>(i)};
  std::vector<int> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[items[a]] < rank[items[b]]; });
  return order;
}

}  // namespace quintet
