#include "surrogates/search/store.hpp"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "tests/support/integer_gene.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::search {
namespace {

Space space() { return Space({integer_gene("units", 16, 96, 16), {"skip", {"off", "on"}}}); }
TrialStore::Contents contents() { return {space(), "random, seed 1", 4, {"parameters", "r2"}}; }

Record running(std::int64_t id) {
  Record record;
  record.trial = {id,         {static_cast<int>(id % 6), static_cast<int>(id % 2)}, "key", 77, id - 1, id / 2,
                  {{2, 0.25}}};
  return record;
}
Record ended(std::int64_t id, std::int64_t position) {
  Record record = running(id);
  auto& o = record.outcome;
  o.state = TrialState::done;
  o.objective = 0.1 + 0.01 * id;
  o.curve = {0.1, o.objective};
  o.facts = {100.0 * id, -1};
  o.worker = 1;
  o.start_s = 2;
  o.end_s = 3;
  o.busy_s = 1;
  o.cpu_s = 0.9;
  o.position = position;
  return record;
}

void expect_equal(const Record& a, const Record& b) {
  EXPECT_EQ(a.trial.id, b.trial.id);
  EXPECT_EQ(a.trial.genes, b.trial.genes);
  EXPECT_EQ(a.trial.key, b.trial.key);
  EXPECT_EQ(a.trial.seed, b.trial.seed);
  EXPECT_EQ(a.trial.parent, b.trial.parent);
  EXPECT_EQ(a.trial.told, b.trial.told);
  ASSERT_EQ(a.trial.rungs.size(), b.trial.rungs.size());
  EXPECT_EQ(a.trial.rungs[0].value, b.trial.rungs[0].value);
  EXPECT_EQ(a.outcome.state, b.outcome.state);
  EXPECT_EQ(a.outcome.curve, b.outcome.curve);
  EXPECT_EQ(a.outcome.message, b.outcome.message);
  EXPECT_EQ(a.outcome.position, b.outcome.position);
  EXPECT_EQ(a.outcome.same_as, b.outcome.same_as);
  if (a.outcome.state == TrialState::done) {
    EXPECT_EQ(a.outcome.objective, b.outcome.objective);
    EXPECT_EQ(a.outcome.facts, b.outcome.facts);
    EXPECT_EQ(a.outcome.end_s, b.outcome.end_s);
    EXPECT_EQ(a.outcome.cpu_s, b.outcome.cpu_s);
    EXPECT_EQ(a.outcome.worker, b.outcome.worker);
  }
}

TEST(TrialStore, gives_back_what_was_written_also_beyond_its_first_rows) {
  const Scratch scratch("store");
  const std::string path = scratch / "trials.h5";
  constexpr std::int64_t n = 1500;
  std::vector<Record> written;
  {
    TrialStore store = TrialStore::create(path, contents(), hdf5::current_provenance());
    for (std::int64_t id = 0; id < n; ++id) {
      store.write(running(id));
      written.push_back(id % 7 == 3 ? running(id) : ended(id, id - (id + 4) / 7));
      if (id == 5) {
        written.back().outcome.state = TrialState::failed;
        written.back().outcome.message = "no \"luck\"";
      }
      if (id % 7 != 3) store.write(written.back());
    }
  }
  const TrialStore store = TrialStore::open(path, contents(), hdf5::current_provenance());
  ASSERT_EQ(store.found().size(), written.size());
  for (std::size_t i = 0; i < written.size(); ++i) expect_equal(store.found()[i], written[i]);
  write_trials_csv(scratch / "trials.csv", space(), contents().facts, store.found());
  std::ifstream csv(scratch / "trials.csv");
  std::string line;
  int lines = 0;
  while (std::getline(csv, line)) {
    if (++lines == 2) {
      EXPECT_EQ(line.substr(0, 7), "0,done,");
      EXPECT_NE(line.find("\"16\",\"off\",0,-1,\"\""), std::string::npos) << line;
    }
    if (lines == 7) {
      EXPECT_NE(line.find("\"no \"\"luck\"\"\""), std::string::npos) << line;
    }
  }
  EXPECT_EQ(lines, n + 1);
}

TEST(TrialStore, of_another_space_or_search_is_refused_by_name) {
  const Scratch scratch("store");
  const std::string path = scratch / "trials.h5";
  {
    TrialStore store = TrialStore::create(path, contents(), hdf5::current_provenance());
    store.write(ended(0, 0));
  }
  const auto message = [&](const TrialStore::Contents& other) {
    try {
      (void)TrialStore::open(path, other, hdf5::current_provenance());
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  auto other = contents();
  other.space = Space({integer_gene("units", 16, 96, 16), {"bridge", {"off", "on"}}});
  EXPECT_NE(message(other).find("gene 2 is 'skip: off | on', here 'bridge: off | on'"), std::string::npos)
      << message(other);
  other.space = Space({integer_gene("units", 16, 96, 16)});
  EXPECT_NE(message(other).find("here 'none'"), std::string::npos);
  other = contents();
  other.search = "random, seed 2";
  EXPECT_NE(message(other).find("'seed 1', here 'seed 2'"), std::string::npos);
  other = contents();
  other.most_epochs = 5;
  EXPECT_NE(message(other).find("4 epochs"), std::string::npos);
  other = contents();
  other.facts = {"parameters"};
  EXPECT_NE(message(other).find("facts"), std::string::npos);
  EXPECT_EQ(message(contents()), "none");
}

TEST(TrialStore, that_was_tampered_with_is_refused) {
  const Scratch scratch("store");
  const std::string path = scratch / "trials.h5";
  const auto damaged = [&](const std::function<void(hdf5::Group&)>& damage) {
    {
      TrialStore store = TrialStore::create(path, contents(), hdf5::current_provenance());
      for (std::int64_t id = 0; id < 3; ++id) store.write(ended(id, id));
    }
    {
      hdf5::File file = hdf5::File::open_for_update(Comm::self(), path);
      damage(file.root());
    }
    EXPECT_THROW((void)read_trials(path, space()), InputError);
  };
  const auto put = []<class T>(const char* name, hdf5::Shape at, T value) {
    return [=](hdf5::Group& root) {
      root.write_box<T>(name, std::span<const T>(&value, 1), {at, hdf5::Shape(at.size(), 1)});
    };
  };
  damaged(put("state", {1}, std::int32_t{9}));
  damaged(put("genes", {1, 0}, std::int32_t{6}));
  damaged(put("integers", {1, 7}, std::int64_t{5}));
  damaged(put("integers", {1, 5}, std::int64_t{2}));
  damaged(put("integers", {1, 5}, std::int64_t{-1}));
  for (const double epoch : {1e300, 0.5, -1.0}) damaged(put("rungs", {1, 0}, epoch));
  for (const hdf5::Shape& shape : {hdf5::Shape{}, hdf5::Shape{1, 0}}) {  // no table of curves
    {
      hdf5::File file = hdf5::File::create(Comm::self(), path);
      hdf5::write_header(file.root(), "quintet.search_trials", 1, hdf5::current_provenance());
      file.root().write_text("space", fmt::format("{}", fmt::join(space().signature(), "\n")), {});
      file.root().write_text("fact_names", "r2", {});
      file.root().write<double>("curve", std::vector<double>(shape.empty() ? 1 : 0, 0.5), shape, {});
      file.root().write<std::int32_t>("state", std::vector<std::int32_t>{1}, {1}, {});
    }
    EXPECT_THROW((void)read_trials(path, space()), InputError);
  }
  std::ofstream(path) << "no store";
  EXPECT_THROW((void)read_trials(path, space()), InputError);
}

/// A process writes trials as fast as it can and is killed at some moment; what it had said is all there.
TEST(TrialStore, survives_a_kill_at_any_moment) {
  const Scratch scratch("store");
  const std::string path = scratch / "trials.h5";
  for (int round = 0; round < 8; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      TrialStore store = TrialStore::create(path, contents(), hdf5::current_provenance());
      for (std::int64_t id = 0; id < 100000; ++id) {
        store.write(running(id));
        store.write(ended(id, id));
        if (::write(ends[1], &id, sizeof id) != sizeof id) ::_exit(1);
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    std::int64_t id = -1, last = -1;
    const std::int64_t until = round == 7 ? 1030 : 20 + 17 * round;  // the last: rows have run out once
    while (last < until && ::read(ends[0], &id, sizeof id) == sizeof id) last = id;
    ::usleep(97 * round);
    ::kill(pid, SIGKILL);
    while (::read(ends[0], &id, sizeof id) == sizeof id) last = id;
    ::close(ends[0]);
    ::waitpid(pid, nullptr, 0);
    ASSERT_GE(last, until);
    const auto found = TrialStore::open(path, contents(), hdf5::current_provenance()).found();
    ASSERT_GE(std::ssize(found), last + 1);
    for (std::int64_t i = 0; i <= last; ++i) ASSERT_EQ(found[i].outcome.position, i);
    expect_equal(found[last], ended(last, last));
  }
}

TEST(Store, has_the_size_that_is_told_before) {
  const Scratch scratch("store_size");
  const auto path = scratch / "trials.h5";
  {
    auto store = TrialStore::create(path, contents(), hdf5::current_provenance());
    for (int id = 0; id < 1025; ++id) store.write(running(id));
  }
  const auto size = static_cast<double>(std::filesystem::file_size(path)),
             told = store_bytes(1025, contents());
  EXPECT_GE(size, told);
  EXPECT_LE(size, 1.03 * told);
  EXPECT_EQ(store_bytes(1024, contents()), told / 2);
}

}  // namespace
}  // namespace quintet::search
