#include "io/tiers/ledger.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "io/log/error.hpp"

namespace quintet {
namespace {

constexpr auto states = ByteCategory::optimiser;

TEST(Ledger, claims_are_counted_as_long_as_they_live) {
  Ledger ledger;
  {
    const auto first = ledger.claim(Tier::host, states, 100, "states", "");
    auto second = ledger.claim(Tier::host, states, 50, "states", "");
    const auto moved = std::move(second);
    ledger.note(Tier::host, ByteCategory::activations, 1000);
    ledger.note(Tier::host, ByteCategory::activations, -400);
    EXPECT_EQ(ledger.current(Tier::host, states), 150u);
  }
  ledger.note(Tier::host, ByteCategory::activations, 300);
  EXPECT_EQ(ledger.current(Tier::host, states), 0u);
  EXPECT_EQ(ledger.peak(Tier::host, states), 150u);
  EXPECT_EQ(ledger.peak(Tier::host, ByteCategory::activations), 1000u);
  EXPECT_EQ(ledger.peak(Tier::host), 1150u);  // not 150 + 1000 of other times by chance: they met
  EXPECT_EQ(ledger.peak(Tier::file), 0u);
}

TEST(Ledger, peaks_of_a_tier_are_of_one_time) {
  Ledger ledger;
  { const auto early = ledger.claim(Tier::host, states, 70, "states", ""); }
  const auto late = ledger.claim(Tier::host, ByteCategory::staging, 80, "buffers", "");
  EXPECT_EQ(ledger.peak(Tier::host), 80u);
}

TEST(Ledger, what_is_beyond_a_limit_is_refused_with_both_numbers_and_nothing_counted) {
  Ledger ledger;
  ledger.limit(Tier::host, states, 1500000, "offload.budget.host");
  EXPECT_EQ(*ledger.room(Tier::host, states), 1500000u);
  EXPECT_FALSE(ledger.room(Tier::file, states));
  const auto held = ledger.claim(Tier::host, states, 1000000, "states", "");
  try {
    (void)ledger.claim(Tier::host, states, 500001, "an optimiser's states", "expected more ranks");
    FAIL();
  } catch (const ResourceError& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_EQ(
        std::string(error.what()),
        "offload.budget.host: 500 kB of an optimiser's states (500001 bytes) do not fit into 1.5 MB on the "
        "host tier, of which 1 MB are taken; expected more ranks");
  }
  EXPECT_EQ(ledger.peak(Tier::host), 1000000u);
  (void)ledger.claim(Tier::host, states, 500000, "states", "");
}

TEST(Ledger, threads_lose_no_byte) {
  Ledger ledger;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) ledger.note(Tier::host, states, i % 2 ? -3 : 4);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(ledger.current(Tier::host, states), 40000u);
}

}  // namespace
}  // namespace quintet
