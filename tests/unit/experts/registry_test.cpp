#include "surrogates/experts/registry.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

#include "io/hdf5/embedded_file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "tests/unit/experts/samples.hpp"

namespace quintet::experts {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}
void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Registry read(const std::string& path) { return Registry::read(Comm::self(), path); }

/// A registry of two.
struct Pair {
  Scratch scratch{"experts"};
  std::string path = scratch / "registry.h5", a = write_model(scratch, 1), b = write_model(scratch, 2);
  Pair() {
    add_expert(path, water("a", 0.2, 0.4), a, false, maker());
    add_expert(path, water("b", 0.5, 0.6), b, false, maker());
  }
};

TEST(Registry, holds_what_was_put_in) {
  const Pair pair;
  const auto registry = read(pair.path);
  ASSERT_EQ(registry.experts().size(), 2u);
  const auto& b = registry.experts()[registry.find("b")];
  EXPECT_EQ(b.bytes, fs::file_size(pair.b));
  EXPECT_EQ(b.memory, 1000u);
  ASSERT_NE(b.range_of("fraction_O"), nullptr);
  EXPECT_EQ(b.range_of("fraction_O")->most, 0.6);
  EXPECT_TRUE(b.knows("type", {"H", "O"}));
  EXPECT_FALSE(b.knows("type", {"H", "Si"}));
  for (int i = 0; i < 2; ++i) verify_expert(registry, i);
  EXPECT_THROW(static_cast<void>(registry.find("c")), InputError);
}

TEST(Registry, parameters_are_the_models_file_at_a_multiple_of_4_kib_and_the_layout_says_where_in_it) {
  const Pair pair;
  const auto place = hdf5::place_of({pair.path, "b"});
  EXPECT_EQ(place.offset % 4096, 0u);
  const std::string all = bytes_of(pair.path), model = bytes_of(pair.b);
  EXPECT_EQ(all.substr(place.offset, place.bytes), model);
  const auto file = hdf5::File::open(Comm::self(), pair.path);
  const Tree layout = parse_yaml(file.root().open_group("experts/b").read_text("layout"), "layout");
  const auto source = hdf5::File::open(Comm::self(), pair.b);
  ASSERT_GT(layout.entries().size(), 10u);
  for (const auto& [name, where] : layout.entries()) {
    const auto values = source.root().read<double>(name);
    const std::size_t offset = where.at("offset").as_integer();
    ASSERT_EQ(where.at("type").as_text(), "float64");
    EXPECT_EQ(std::memcmp(all.data() + place.offset + offset, values.data(), 8 * values.size()), 0) << name;
  }
}

TEST(Registry, replaces_and_takes_out) {
  Pair pair;
  EXPECT_THROW(add_expert(pair.path, water("a"), pair.b, false, maker()), InputError);
  add_expert(pair.path, water("a"), pair.b, true, maker());
  EXPECT_EQ(hdf5::place_of({pair.path, "a"}).checksum, hdf5::place_of({pair.path, "b"}).checksum);
  remove_expert(pair.path, "b");
  EXPECT_EQ(read(pair.path).experts().size(), 1u);
  EXPECT_THROW(remove_expert(pair.path, "b"), InputError);
  EXPECT_FALSE(fs::exists(pair.path + ".unfinished"));
}

TEST(Registry, a_writer_that_is_killed_loses_nothing) {
  Pair pair;
  std::mt19937 random(3);
  for (int round = 0; round < 6; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0;; ++i) add_expert(pair.path, water("c"), i % 2 ? pair.a : pair.b, true, maker());
    }
    ::usleep(5000 + random() % 30000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto registry = read(pair.path);
    EXPECT_GE(registry.experts().size(), 2u);
    for (std::size_t i = 0; i < registry.experts().size(); ++i) verify_expert(registry, i);
  }
  add_expert(pair.path, water("d"), pair.a, false, maker());  // over what the last one left
  EXPECT_FALSE(fs::exists(pair.path + ".unfinished"));
}

TEST(Registry, refuses_what_is_no_model_or_has_numbers_that_are_none) {
  Pair pair;
  const auto before = bytes_of(pair.path);
  write_bytes(pair.scratch / "text.dp", "hello");
  write_bytes(pair.scratch / "empty.dp", "");
  auto broken = small_model(5);
  broken.fitting[0].layers[0].weight[3] = std::numeric_limits<double>::quiet_NaN();
  potential::write_dp(pair.scratch / "nan.dp", broken);
  write_bytes(pair.scratch / "cut.dp", bytes_of(pair.a).substr(0, 3000));
  for (const char* name : {"text.dp", "empty.dp", "nan.dp", "cut.dp", "none.dp"})
    EXPECT_THROW(add_expert(pair.path, water("x"), pair.scratch / name, false, maker()), InputError) << name;
  for (const char* id : {"", "../x", "a/b", ".x", "a:b", "a b"})
    EXPECT_THROW(add_expert(pair.path, water(id), pair.a, false, maker()), InputError) << id;
  EXPECT_EQ(bytes_of(pair.path), before);
}

/// Everything that reads a registry.
void read_all(const std::string& path) {
  const auto registry = read(path);
  for (std::size_t i = 0; i < registry.experts().size(); ++i) {
    verify_expert(registry, i);
    static_cast<void>(potential::read_dp(registry.name_of(i)));
  }
}

TEST(Registry, a_truncated_one_is_refused) {
  const Pair pair;
  const auto all = bytes_of(pair.path);
  const auto cut = pair.scratch / "cut.h5";
  for (std::size_t n = 0; n < all.size(); n += 1 + all.size() / 41) {
    write_bytes(cut, all.substr(0, n));
    EXPECT_THROW(read_all(cut), InputError) << n;
  }
}

/// All that is said of the models, as one text.
std::string said_by(const Registry& registry) {
  std::string all;
  for (const auto& expert : registry.experts())
    all += expert.id + " " + expert.checksum + " " + to_json(to_tree(expert)) + "\n";
  return all;
}

TEST(Registry, changed_bytes_anywhere_are_refused_or_change_nothing_that_is_read) {
  const Pair pair;
  const auto all = bytes_of(pair.path), before = said_by(read(pair.path));
  const auto changed = pair.scratch / "changed.h5";
  std::mt19937 random(11);
  int n_refused = 0;
  for (int round = 0; round < 60; ++round) {
    auto bytes = all;
    for (int flips = 1 + round % 3; flips > 0; --flips)
      bytes[random() % (round % 2 ? 4096 : bytes.size())] = static_cast<char>(random());
    write_bytes(changed, bytes);
    try {
      read_all(changed);
      EXPECT_EQ(said_by(read(changed)), before) << "round " << round;
    } catch (const InputError&) {
      ++n_refused;
    }
  }
  EXPECT_GT(n_refused, 10);
}

TEST(Registry, changed_bytes_of_a_model_are_noticed_by_all_who_read_it) {
  const Pair pair;
  const auto place = hdf5::place_of({pair.path, "a"});
  auto all = bytes_of(pair.path);
  all[place.offset + place.bytes / 2] ^= 1;
  const auto changed = pair.scratch / "changed.h5";
  write_bytes(changed, all);
  EXPECT_THROW(static_cast<void>(potential::read_dp(changed + ":a")), InputError);
  EXPECT_THROW(verify_expert(read(changed), 0), InputError);
  static_cast<void>(potential::read_dp(changed + ":b"));
}

TEST(Registry, what_is_said_of_a_model_must_make_sense) {
  const auto with = [](const std::function<void(hdf5::Group&)>& change) {
    const Pair pair;
    {
      auto file = hdf5::File::open_for_update(Comm::self(), pair.path);
      auto group = file.root().open_group("experts/a");
      change(group);
      file.close();
    }
    read_all(pair.path);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  with([](auto&) {});
  EXPECT_THROW(with([](auto& a) { a.set_attribute("bytes", std::int64_t{1} << 60); }), InputError);
  EXPECT_THROW(with([](auto& a) { a.set_attribute("memory", -1); }), InputError);
  EXPECT_THROW(with([](auto& a) { a.set_attribute("checksum", std::string("xxh64:12")); }), InputError);
  EXPECT_THROW(with([&](auto& a) { a.set_attribute("range_least", std::vector<double>{nan}); }), InputError);
  EXPECT_THROW(with([](auto& a) { a.set_attribute("range_least", std::vector<double>{2}); }), InputError);
  EXPECT_THROW(with([](auto& a) { a.set_attribute("range_most", std::vector<double>{1, 2}); }), InputError);
  EXPECT_THROW(with([](auto& a) { a.set_attribute("words", std::vector<std::string>{"type"}); }), InputError);
  EXPECT_THROW(with([](auto& a) { a.template write<double>("parameters", std::vector<double>{1}, {1}, {}); }),
               InputError);
  EXPECT_THROW(with([](auto& a) {
                 a.template write<std::uint8_t>("parameters", std::vector<std::uint8_t>{1, 2}, {1, 2}, {});
               }),
               InputError);
  EXPECT_THROW(with([](auto& a) { a.write_text("layout", "none"); }), InputError);
}

}  // namespace
}  // namespace quintet::experts
