#include "io/tiers/read_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <list>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace {

/// Things whose bytes all have the value of their number, counted while they live.
struct Things {
  struct Thing {
    int number;
  };
  std::vector<ReadCache::Item> items;
  std::size_t alive = 0, most_alive = 0;
  std::vector<int> here;
  std::atomic<int> reads{0};
  int broken = -1;

  explicit Things(const std::vector<std::size_t>& memory) : here(memory.size(), 0) {
    for (const std::size_t bytes : memory) items.push_back({bytes, 16});
  }
  ReadCache::Source source() {
    return {[this](int item, std::span<std::byte> to) {
              ++reads;
              if (item == broken) throw InputError("broken");
              std::memset(to.data(), item, to.size());
            },
            [this](int item, std::span<const std::byte> bytes) {
              for (const std::byte byte : bytes) EXPECT_EQ(static_cast<int>(byte), item);
              const std::size_t memory = items[item].memory;
              alive += memory;
              most_alive = std::max(most_alive, alive);
              ++here[item];
              return std::shared_ptr<void>(new Thing{item}, [this, memory](void* thing) {
                const std::size_t number = static_cast<Thing*>(thing)->number;
                alive -= memory;
                --here[number];
                delete static_cast<Thing*>(thing);
              });
            }};
  }
};

int number_of(const ReadCache::Hold& hold) { return static_cast<Things::Thing*>(hold.get())->number; }

ReadCache::Options options(int ahead = 0, std::vector<int> pinned = {}) {
  return {ByteCategory::parameters, "experts", "raise the budget", std::move(pinned), ahead};
}

/// Least recently used by bytes, plainly: 'h' or 'm' each, evictions, what is there at the end.
struct Plain {
  std::list<int> held;
  std::size_t used = 0;
  std::int64_t evictions = 0;
  std::string log;
  void ask(int item, const std::vector<std::size_t>& size, std::size_t budget) {
    const auto found = std::find(held.begin(), held.end(), item);
    log += found == held.end() ? 'm' : 'h';
    if (found != held.end()) {
      held.splice(held.end(), held, found);
      return;
    }
    for (; used + size[item] > budget; ++evictions) {
      used -= size[held.front()];
      held.pop_front();
    }
    held.push_back(item);
    used += size[item];
  }
};

struct Played {
  std::string log;
  ReadCache::Counts counts;
  std::vector<int> held;
};

Played play(const std::vector<int>& trace, const std::vector<std::size_t>& size, std::size_t budget) {
  Ledger ledger;
  ledger.limit(Tier::host, ByteCategory::parameters, budget, "budget");
  Things things(size);
  ReadCache cache(ledger, options(), things.items, things.source());
  Played played;
  for (const int item : trace) {
    const auto before = cache.counts().hits;
    EXPECT_EQ(number_of(cache.hold(item)), item);
    played.log += cache.counts().hits > before ? 'h' : 'm';
    EXPECT_LE(things.alive, budget);
    EXPECT_EQ(ledger.current(Tier::host, ByteCategory::parameters), things.alive);
  }
  EXPECT_LE(ledger.peak(Tier::host, ByteCategory::parameters), budget);
  return {played.log, cache.counts(), cache.held()};
}

TEST(ReadCache, is_plain_lru_by_bytes) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const auto n = 1 + random() % 12;
    std::vector<std::size_t> size(n);
    for (auto& bytes : size) bytes = 1 + random() % 9;
    const std::size_t budget = *std::max_element(size.begin(), size.end()) + random() % 20;
    std::vector<int> trace(60);
    for (int& item : trace) item = random() % n;
    Plain plain;
    for (const int item : trace) plain.ask(item, size, budget);
    const auto played = play(trace, size, budget);
    EXPECT_EQ(played.log, plain.log);
    EXPECT_EQ(played.counts.evictions, plain.evictions);
    EXPECT_EQ(played.held, std::vector<int>(plain.held.begin(), plain.held.end()));
  }
}

std::vector<int> integers(const Tree& tree) {
  std::vector<int> values;
  for (const auto& item : tree.items()) values.push_back(item.as_integer());
  return values;
}

/// ../shared/data/training/lru.json: unit and unequal sizes.
TEST(ReadCache, hits_and_evictions_are_those_of_the_reference) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  const std::string path =
      std::string(source != nullptr ? source : ".") + "/../shared/data/training/lru.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "../shared/data/training is not here";
  const Tree given = read_yaml(path);
  ASSERT_EQ(given.at("traces").items().size(), 4u);
  for (const Tree& one : given.at("traces").items()) {
    const auto trace = integers(one.at("trace"));
    std::vector<std::size_t> size(32, 1);
    if (const Tree* sizes = one.find("sizes")) {
      size.clear();
      for (const int bytes : integers(*sizes)) size.push_back(bytes);
    }
    const std::size_t budget = one.at(one.has("slots") ? "slots" : "budget").as_integer();
    const auto played = play(trace, size, budget);
    EXPECT_EQ(played.log, one.at("hits_misses").as_text());
    EXPECT_EQ(played.counts.evictions, one.at("evictions").as_integer());
    EXPECT_EQ(played.held, integers(one.at("last_held_oldest_first")));
    if (!one.has("switches_grouped_by_16")) continue;
    // Changes of expert in batches of 16: each of a batch's experts once.
    std::int64_t switches = 0;
    for (std::size_t at = 0; at < trace.size(); at += 16) {
      const std::vector<int> batch(trace.begin() + at, trace.begin() + std::min(at + 16, trace.size()));
      const auto order = grouped(batch, [](int) { return false; });
      int last = -1;
      for (const int i : order) {
        switches += batch[i] != last;
        last = batch[i];
      }
    }
    EXPECT_EQ(switches, one.at("switches_grouped_by_16").as_integer());
  }
}

TEST(ReadCache, with_reading_ahead_nothing_in_use_goes_and_no_byte_is_beyond_the_budget) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 60; ++round) {
    const auto n = 3 + random() % 10;
    const int ahead = random() % 4;
    std::vector<std::size_t> size(n);
    for (auto& bytes : size) bytes = 1 + random() % 9;
    const std::size_t budget = 18 + random() % 12;  // a pinned one and any other fit
    const int pinned = random() % n;
    Ledger ledger;
    ledger.limit(Tier::host, ByteCategory::parameters, budget, "budget");
    ledger.limit(Tier::host, ByteCategory::staging, 16 * std::int64_t{ahead + 1}, "budget");
    Things things(size);
    ReadCache cache(ledger, options(ahead, {pinned}), things.items, things.source());
    bool was_there = false;
    for (int step = 0; step < 200; ++step) {
      const int item = random() % n;
      const auto hold = cache.hold(item);
      for (int k = 0; k <= ahead; ++k) cache.fetch(random() % n);
      EXPECT_EQ(number_of(hold), item);
      EXPECT_EQ(things.here[item], 1);
      was_there = was_there || item == pinned;
      if (was_there) {
        EXPECT_TRUE(cache.holds(pinned));
      }
      EXPECT_LE(things.alive, ledger.current(Tier::host, ByteCategory::parameters));
    }
    const auto& n_of = cache.counts();
    EXPECT_EQ(n_of.hits + n_of.fetched + n_of.misses, 200);
    EXPECT_GT(ahead > 0 ? n_of.fetched : n_of.misses, 0);
    EXPECT_LE(things.most_alive, budget);
    EXPECT_LE(ledger.peak(Tier::host), budget + 16 * std::int64_t{ahead + 1});
  }
}

TEST(ReadCache, what_is_asked_for_takes_the_place_of_what_was_read_ahead) {
  Ledger ledger;
  ledger.limit(Tier::host, ByteCategory::parameters, 10, "budget");
  Things things({5, 5, 5});
  ReadCache cache(ledger, options(1), things.items, things.source());
  const auto first = cache.hold(0);
  cache.fetch(1);
  EXPECT_EQ(number_of(cache.hold(2)), 2);
  EXPECT_EQ(number_of(first), 0);
  EXPECT_EQ(cache.counts().misses, 2);
}

TEST(ReadCache, refuses_a_budget_below_one_and_more_in_use_than_fits) {
  Ledger ledger;
  ledger.limit(Tier::host, ByteCategory::parameters, 9, "budget");
  Things things({5, 6, 4});
  EXPECT_THROW(ReadCache(ledger, options(0, {2}), things.items, things.source()), InputError);
  ReadCache cache(ledger, options(), things.items, things.source());
  {
    const auto a = cache.hold(0), b = cache.hold(2);
    EXPECT_THROW(static_cast<void>(cache.hold(1)), ResourceError);
    EXPECT_EQ(number_of(a), 0);
  }
  EXPECT_EQ(number_of(cache.hold(1)), 1);
}

TEST(ReadCache, an_error_comes_where_the_thing_is_asked_for_and_leaves_nothing) {
  for (const bool ahead : {false, true}) {
    Ledger ledger;
    ledger.limit(Tier::host, ByteCategory::parameters, 10, "budget");
    Things things({5, 5});
    things.broken = 1;
    ReadCache cache(ledger, options(1), things.items, things.source());
    static_cast<void>(cache.hold(0));
    if (ahead) cache.fetch(1);
    EXPECT_THROW(static_cast<void>(cache.hold(1)), InputError);
    EXPECT_EQ(ledger.current(Tier::host, ByteCategory::parameters), 5u);
    EXPECT_EQ(ledger.current(Tier::host, ByteCategory::staging), 0u);
    things.broken = -1;
    EXPECT_EQ(number_of(cache.hold(1)), 1);
  }
}

TEST(ReadCache, a_batch_is_grouped_with_what_is_here_first) {
  const std::vector<int> batch{3, 1, 3, 2, 1, 1, 2};
  EXPECT_EQ(grouped(batch, [](int item) { return item == 2; }), (std::vector<int>{3, 6, 0, 2, 1, 4, 5}));
}

}  // namespace
}  // namespace quintet
