#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

#include "io/hdf5/embedded_file.hpp"
#include "io/log/error.hpp"
#include "surrogates/experts/description.hpp"
#include "surrogates/experts/expert_cache.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "tests/support/deep_potential_case.hpp"
#include "tests/unit/experts/samples.hpp"

namespace quintet::experts {
namespace {

Configuration droplet(unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> place(0, 6);
  Configuration droplet;
  droplet.type_names = {"O", "H"};
  droplet.masses = {16, 1};
  for (int i = 0; i < 9; ++i) {
    droplet.types.push_back(i % 3 == 0 ? 0 : 1);
    droplet.positions.push_back({place(random), place(random), place(random)});
  }
  droplet.box = Box({12, 0, 0, 0, 12, 0, 0, 0, 12}, {true, true, true});
  return droplet;
}

bool same_bits(const Evaluated& a, const Evaluated& b) {
  return std::memcmp(&a.energy, &b.energy, sizeof a.energy) == 0 && a.force == b.force &&
         a.atom_energy == b.atom_energy && a.virial == b.virial;
}

std::unique_ptr<potential::DeepPotential> opened(const std::string& path) {
  return std::make_unique<potential::DeepPotential>(potential::read_dp(path),
                                                    potential::DeepPotentialOptions{});
}

std::size_t memory_of(const std::string& path) {
  const std::size_t before = allocated_bytes();
  const auto field = opened(path);
  return allocated_bytes() - before;
}

TEST(Experts, answer_bit_by_bit_as_their_models_alone_in_any_order_cold_and_warm) {
  const Scratch scratch("answers");
  const auto path = scratch / "registry.h5";
  constexpr int n = 5, n_frames = 3;
  std::vector<std::vector<Evaluated>> alone(n);
  for (int i = 0; i < n; ++i) {
    const auto model = write_model(scratch, 10 + static_cast<unsigned>(i), 8 + 8 * (i % 3));
    auto expert = water("e" + std::to_string(i));
    expert.memory = memory_of(model);
    add_expert(path, expert, model, false, maker());
    const auto field = opened(model);
    for (unsigned f = 0; f < n_frames; ++f) alone[i].push_back(evaluate(Comm::self(), *field, droplet(f)));
  }
  const auto registry = Registry::read(Comm::self(), path);
  std::size_t bytes = 0;
  std::size_t bytes_all = 0, largest = 0;
  for (const auto& expert : registry.experts()) {
    bytes = std::max<std::size_t>(bytes, expert.bytes);
    largest = std::max<std::size_t>(largest, expert.memory);
    bytes_all += expert.memory;
  }
  std::mt19937_64 random(7);
  for (const int prefetch : {0, 1, 2})
    for (const std::size_t room : {largest, bytes_all / 2, bytes_all}) {
      const CacheOptions options{room + bytes * (1 + prefetch), {}, prefetch, "budget"};
      ExpertCache cache(registry, "dpmd", options,
                        [](const std::string& name) { return std::shared_ptr<void>(opened(name)); });
      for (int step = 0; step < 15; ++step) {
        const int i = random() % n;
        const unsigned frame = random() % n_frames;
        const auto hold = cache.hold(i);
        cache.fetch(random() % n);
        auto& field = *static_cast<potential::DeepPotential*>(hold.get());
        EXPECT_TRUE(same_bits(evaluate(Comm::self(), field, droplet(frame)), alone[i][frame]));
      }
      EXPECT_LE(cache.ledger().peak(Tier::host), options.host);
      EXPECT_EQ(cache.counts().hits + cache.counts().fetched + cache.counts().misses, 15);
    }
}

TEST(Experts, a_budget_below_one_is_refused_with_the_least_that_works) {
  const Scratch scratch("budget");
  const auto path = scratch / "registry.h5", model = write_model(scratch, 1);
  const std::size_t memory = memory_of(model);
  for (const auto* id : {"a", "b"}) {
    auto expert = water(id);
    expert.memory = memory;
    add_expert(path, expert, model, false, maker());
  }
  const auto registry = Registry::read(Comm::self(), path);
  const auto open = [](const std::string& name) { return std::shared_ptr<void>(opened(name)); };
  const std::size_t least = memory + 2 * registry.experts()[0].bytes;
  static_cast<void>(ExpertCache(registry, "dpmd", {least, {}, 1, "budget"}, open).hold(0));
  EXPECT_THROW(ExpertCache(registry, "dpmd", {least - 1, {}, 1, "budget"}, open), InputError);
  EXPECT_THROW(ExpertCache(registry, "dpmd", {least, {"a"}, 1, "budget"}, open), InputError);
  EXPECT_THROW(ExpertCache(registry, "dpmd", {least + memory, {"c"}, 1, "budget"}, open), InputError);
}

TEST(Experts, one_that_takes_more_than_its_registry_says_is_refused) {
  const Scratch scratch("liar");
  const auto path = scratch / "registry.h5";
  auto expert = water("a");
  expert.memory = 1000;
  add_expert(path, expert, write_model(scratch, 1), false, maker());
  const auto registry = Registry::read(Comm::self(), path);
  ExpertCache cache(registry, "dpmd", {1 << 20, {}, 0, "budget"}, [](const std::string&) {
    return std::static_pointer_cast<void>(std::make_shared<std::vector<char>>(1 << 19));
  });
  EXPECT_THROW(static_cast<void>(cache.hold(0)), InputError);
  EXPECT_EQ(cache.ledger().current(Tier::host, ByteCategory::parameters), 0u);
}

TEST(Experts, bytes_that_are_mounted_are_opened_under_their_name_alone) {
  const Scratch scratch("mounted");
  const auto path = scratch / "registry.h5", model = write_model(scratch, 1), other = write_model(scratch, 2);
  add_expert(path, water("a"), model, false, maker());
  add_expert(path, water("b"), other, false, maker());
  const auto place = hdf5::place_of({path, "b"});
  std::vector<std::byte> bytes(place.bytes);
  hdf5::read_embedded(place, bytes);
  const auto weight = [](const std::string& name) {
    return potential::read_dp(name).fitting[0].layers[0].weight;
  };
  {
    const hdf5::Mounted mounted(path + ":a", bytes);
    EXPECT_EQ(weight(path + ":a"), weight(other));
    EXPECT_THROW(hdf5::Mounted(path + ":b", bytes), InternalError);
  }
  EXPECT_EQ(weight(path + ":a"), weight(model));
}

}  // namespace
}  // namespace quintet::experts
