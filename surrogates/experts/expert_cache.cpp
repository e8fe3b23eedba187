#include "surrogates/experts/expert_cache.hpp"

#include <algorithm>

#include "io/log/error.hpp"
#include "surrogates/experts/description.hpp"

namespace quintet::experts {

namespace {

/// Open an expert, which must not take more memory than its registry says.
std::shared_ptr<void> open_as_said(const std::string& name, std::size_t said, const ExpertCache::Open& open) {
  const std::size_t before = allocated_bytes();
  auto opened = open(name);
  const std::size_t after = allocated_bytes(), taken = after > before ? after - before : 0;
  // What the allocator keeps beside, and small things that are made once.
  QUINTET_CHECK(taken <= said + said / 8 + (1 << 17),
                "{}: takes {} of memory, but its registry says {}; add it again", name, text_of_bytes(taken),
                text_of_bytes(said));
  return opened;
}

}  // namespace

ExpertCache::ExpertCache(const Registry& registry, const std::string& app, const CacheOptions& options,
                         Open open)
    : budget_(options.host), place_(registry.experts().size(), -1) {
  std::vector<ReadCache::Item> items;
  std::size_t in_flight = 0, largest = 0, pinned = 0;
  for (std::size_t i = 0; i < place_.size(); ++i) {
    const auto& expert = registry.experts()[i];
    if (expert.app != app) continue;
    place_[i] = items.size();
    items.push_back({expert.memory, expert.bytes});
    files_.push_back(hdf5::place_of({registry.path(), expert.id}));
    in_flight = std::max<std::size_t>(in_flight, expert.bytes);
  }
  ReadCache::Options cache{ByteCategory::parameters, options.key, "", {}, options.prefetch};
  for (const auto& id : options.pin) {
    const int number = place_[registry.find(id)];
    QUINTET_CHECK(number >= 0, "pin: {} is no model of {}", id, app);
    if (std::find(cache.pinned.begin(), cache.pinned.end(), number) != cache.pinned.end()) continue;
    cache.pinned.push_back(number);
    pinned += items[number].memory;
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    if (std::find(cache.pinned.begin(), cache.pinned.end(), static_cast<int>(i)) == cache.pinned.end())
      largest = std::max(largest, items[i].memory);
  // Bytes on their way are bytes, too: one that is opened now, and those read ahead.
  in_flight *= 1 + options.prefetch;
  const std::size_t least = pinned + largest + in_flight;
  QUINTET_CHECK(budget_ >= least,
                "{}: {} are too little; the least that works is {} ({} bytes): {} pinned, {} of the largest "
                "other expert, {} for bytes on their way",
                options.key, text_of_bytes(budget_), text_of_bytes(least), least, text_of_bytes(pinned),
                text_of_bytes(largest), text_of_bytes(in_flight));
  ledger_.limit(Tier::host, ByteCategory::parameters, budget_ - in_flight, options.key);
  ledger_.limit(Tier::host, ByteCategory::staging, in_flight, options.key);
  std::vector<std::size_t> said;
  for (const auto& item : items) said.push_back(item.memory);
  ReadCache::Source source{
      [this](int item, std::span<std::byte> to) { hdf5::read_embedded(files_[item], to); },
      [this, said, open = std::move(open)](int item, std::span<const std::byte> bytes) {
        const auto& name = files_[item].name;
        const hdf5::Mounted mounted(name, bytes);
        return open_as_said(name, said[item], open);
      }};
  cache_ = std::make_unique<ReadCache>(ledger_, std::move(cache), std::move(items), std::move(source));
}

std::string ExpertCache::summary() const {
  const auto& n = counts();
  return fmt::format("{} of {} requests from memory, {} read ahead, {} read; {} evictions; at most {} of {}",
                     n.hits, n.hits + n.fetched + n.misses, n.fetched, n.misses, n.evictions,
                     text_of_bytes(ledger_.peak(Tier::host)), text_of_bytes(budget_));
}

}  // namespace quintet::experts
