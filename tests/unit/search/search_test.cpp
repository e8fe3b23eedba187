#include "surrogates/search/search.hpp"

#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "tests/support/integer_gene.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/search/gate.hpp"

namespace quintet::search {
namespace {

/// One folder for all ranks.
class SharedScratch {
 public:
  SharedScratch()
      : own_("search_" + std::to_string(Comm::world().rank())), path_(Comm::world().broadcast(own_.path())) {}
  ~SharedScratch() { Comm::world().barrier(); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  Scratch own_;
  std::string path_;
};

Space space() {
  std::vector<Gene> genes;
  for (int g = 0; g < 5; ++g) genes.push_back(integer_gene("g" + std::to_string(g), 0, 4));
  return Space(genes);
}

/// Best where all genes are 3; takes longer for some than for others.
Outcome quadratic(const Trial& trial, Progress& progress) {
  double value = 0;
  for (const int g : trial.genes) value -= (g - 3) * (g - 3);
  std::this_thread::sleep_for(std::chrono::microseconds(100 * (trial.genes[0] * 7 + trial.genes[1] * 3)));
  Outcome outcome;
  for (int epoch = 1; epoch <= 4; ++epoch) {
    outcome.objective = value / epoch + 1e-9 * (trial.seed % 1000);
    if (!progress.report(outcome.objective)) break;
  }
  outcome.facts = {static_cast<double>(trial.genes[0])};
  return outcome;
}

Problem problem(Evaluate evaluate = quadratic) { return {space(), std::move(evaluate), {}, 4, {"first"}}; }

SearchOptions options(MethodKind method, std::int64_t trials, WorkerKind kind = WorkerKind::processes,
                      int workers = 2) {
  SearchOptions options;
  options.method = method;
  options.methods.evolution = {12, 4};
  options.methods.reinforcement.batch = 5;
  options.trials = trials;
  options.seed = 11;
  options.stopping = {StoppingRule::median, {2}, 10, 3};
  options.workers = {kind, workers, 0, 2};
  return options;
}

struct Done {
  std::vector<Record> records;
  Search::Status status;
};

/// A search to its end, or until `most` evaluations of this run have ended.
Done run(const SearchOptions& options, const std::string& path, bool resume = false, Problem what = problem(),
         int most = 1 << 30) {
  Search search(Comm::world(), std::move(what), options, path, resume, hdf5::current_provenance());
  for (int n = 0; n < most && !search.finished(); ++n) search.advance();
  return {search.records(), search.status()};
}

/// Equal in all but times and workers.
void expect_same(const std::vector<Record>& a, const std::vector<Record>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].trial.genes, b[i].trial.genes) << "trial " << i;
    ASSERT_EQ(a[i].trial.seed, b[i].trial.seed);
    ASSERT_EQ(a[i].trial.parent, b[i].trial.parent);
    ASSERT_EQ(a[i].trial.told, b[i].trial.told) << "trial " << i;
    ASSERT_EQ(a[i].trial.rungs.size(), b[i].trial.rungs.size());
    for (std::size_t r = 0; r < a[i].trial.rungs.size(); ++r)
      ASSERT_EQ(a[i].trial.rungs[r].value, b[i].trial.rungs[r].value);
    ASSERT_EQ(a[i].outcome.state, b[i].outcome.state) << "trial " << i;
    ASSERT_EQ(a[i].outcome.curve, b[i].outcome.curve);
    ASSERT_EQ(a[i].outcome.position, b[i].outcome.position);
    ASSERT_EQ(a[i].outcome.same_as, b[i].outcome.same_as);
    if (a[i].outcome.counts()) {
      ASSERT_EQ(a[i].outcome.objective, b[i].outcome.objective);
      ASSERT_EQ(a[i].outcome.facts, b[i].outcome.facts);
    }
  }
}

class EveryMethod : public ::testing::TestWithParam<MethodKind> {};
INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod,
                         ::testing::Values(MethodKind::random, MethodKind::evolution,
                                           MethodKind::reinforcement));

TEST_P(EveryMethod, evaluates_as_many_as_asked_for_and_none_twice) {
  const SharedScratch scratch;
  const auto done = run(options(GetParam(), 60), scratch / "trials.h5");
  EXPECT_EQ(done.status.evaluations, 60);
  if (!Comm::world().is_root()) return;
  std::set<Genes> evaluated;
  std::int64_t repeated = 0;
  for (const auto& [trial, outcome] : done.records) {
    ASSERT_TRUE(outcome.counts());
    if (outcome.state == TrialState::repeated) {
      ++repeated;
      const auto& twin = done.records[outcome.same_as];
      EXPECT_EQ(trial.genes, twin.trial.genes);
      EXPECT_EQ(outcome.objective, twin.outcome.objective);
      EXPECT_LT(twin.outcome.position, outcome.position);
    } else {
      EXPECT_TRUE(evaluated.insert(trial.genes).second);
      EXPECT_EQ(outcome.facts[0], trial.genes[0]);
    }
  }
  EXPECT_EQ(evaluated.size(), 60u);
  EXPECT_EQ(repeated, done.status.repeated);
  for (const auto& [trial, outcome] : done.records)
    if (outcome.state != TrialState::repeated) {
      EXPECT_LE(outcome.objective, done.status.best_objective);
    }
}

TEST_P(EveryMethod, a_recorded_order_gives_the_same_search_on_other_workers) {
  const SharedScratch scratch;
  const auto recorded = run(options(GetParam(), 60, WorkerKind::processes, 3), scratch / "recorded.h5");
  auto again = options(GetParam(), 60, WorkerKind::in_place, 1);
  again.replay = scratch / "recorded.h5";
  const auto replayed = run(again, scratch / "replayed.h5");
  expect_same(recorded.records, replayed.records);
  // Of another seed it is no such search.
  again.seed = 12;
  EXPECT_THROW((void)run(again, scratch / "other.h5"), InputError);
}

TEST_P(EveryMethod, with_one_worker_a_search_in_parts_is_the_whole_to_the_last_bit) {
  if (Comm::world().size() > 1) GTEST_SKIP() << "one worker is one rank";
  const SharedScratch scratch;
  for (const auto kind : {WorkerKind::processes, WorkerKind::in_place}) {
    const auto all = options(GetParam(), 50, kind, 1);
    const auto whole = run(all, scratch / "whole.h5");
    run(all, scratch / "parts.h5", false, problem(), 7);
    run(all, scratch / "parts.h5", true, problem(), 1);
    run(all, scratch / "parts.h5", true, problem(), 25);
    expect_same(whole.records, run(all, scratch / "parts.h5", true).records);
  }
}

TEST_P(EveryMethod, a_restart_repeats_no_finished_trial) {
  const SharedScratch scratch;
  const auto all = options(GetParam(), 50);
  const auto before = run(all, scratch / "trials.h5", false, problem(), 20).records;
  std::vector<bool> had_ended;
  for (const auto& record : before) had_ended.push_back(record.outcome.position >= 0);
  // Whoever evaluates one of them again fails.
  const auto guarded = problem([&](const Trial& trial, Progress& progress) {
    if (static_cast<std::size_t>(trial.id) < had_ended.size() && had_ended[trial.id])
      throw std::runtime_error("evaluated again");
    return quadratic(trial, progress);
  });
  const auto after = run(all, scratch / "trials.h5", true, guarded);
  EXPECT_EQ(after.status.evaluations, 50);
  EXPECT_EQ(after.status.failed, 0);
  if (!Comm::world().is_root()) return;
  ASSERT_GE(after.records.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].trial.genes, after.records[i].trial.genes);
    if (had_ended[i]) {
      EXPECT_EQ(before[i].outcome.end_s, after.records[i].outcome.end_s);
    }
  }
}

TEST(Search, stops_when_told_and_goes_on_with_the_trials_it_left) {
  const SharedScratch scratch;
  for (const auto kind : {WorkerKind::processes, WorkerKind::in_place}) {
    const auto all = options(MethodKind::evolution, 30, kind);
    const Gate shut;  // never opened: trials in processes end with the search
    const auto slow = problem([&](const Trial& trial, Progress& progress) {
      for (int epoch = 0; epoch < 4; ++epoch) {
        if (kind == WorkerKind::processes) static_cast<void>(shut.wait());
        std::this_thread::sleep_for(std::chrono::milliseconds(150));  // the search looks every 50 ms
        if (!progress.report(trial.genes[0])) break;
      }
      Outcome outcome;
      outcome.objective = trial.genes[0];
      return outcome;
    });
    {
      Search search(Comm::world(), slow, all, scratch / "trials.h5", false, hdf5::current_provenance());
      const auto begin = std::chrono::steady_clock::now();
      const auto late = [&] {
        return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(60);
      };
      EXPECT_THROW(search.advance(late), Interrupted);
      EXPECT_EQ(search.status().evaluations, 0);
    }
    const auto done = run(all, scratch / "trials.h5", true);
    EXPECT_EQ(done.status.evaluations, 30);
  }
}

TEST(Search, failures_are_recorded_and_harm_nobody) {
  const SharedScratch scratch;
  const auto troubled = problem([](const Trial& trial, Progress& progress) {
    Outcome outcome = quadratic(trial, progress);
    if (trial.id % 5 == 1) throw std::runtime_error("a bad trial. And much more\nof it");
    if (trial.id % 5 == 2) outcome.objective = std::nan("");
    if (trial.id % 5 == 3) ::kill(::getpid(), SIGKILL);
    return outcome;
  });
  const auto done = run(options(MethodKind::evolution, 30), scratch / "trials.h5", false, troubled);
  EXPECT_EQ(done.status.evaluations, 30);
  if (!Comm::world().is_root()) return;
  for (const auto& [trial, outcome] : done.records) {
    if (outcome.state == TrialState::repeated) continue;
    if (outcome.same_as >= 0) {  // the twin of a failure has failed
      EXPECT_FALSE(outcome.counts());
      continue;
    }
    if (trial.id % 5 == 1) {
      EXPECT_EQ(outcome.message, "a bad trial");
    }
    if (trial.id % 5 == 2) {
      EXPECT_EQ(outcome.state, TrialState::failed);
    }
    if (trial.id % 5 == 3) {
      EXPECT_EQ(outcome.state, TrialState::lost);
      EXPECT_EQ(outcome.tries, 2);
    }
    if (trial.id % 5 == 0 || trial.id % 5 == 4) {
      EXPECT_TRUE(outcome.counts());
    }
  }
}

TEST(Search, ends_where_its_space_is_exhausted) {
  const SharedScratch scratch;
  Problem small{Space({integer_gene("a", 1, 3), {"b", {"no", "yes"}}}), [](const Trial& trial, Progress&) {
                  Outcome outcome;
                  outcome.objective = trial.genes[0];
                  return outcome;
                }};
  auto all = options(MethodKind::random, 100);
  all.stopping = {};
  const auto done = run(all, scratch / "trials.h5", false, small);
  EXPECT_EQ(done.status.evaluations, 6);
  EXPECT_TRUE(done.status.exhausted);
  EXPECT_EQ(done.status.best_objective, 2);
}

TEST(Search, candidates_of_one_key_are_one) {
  const SharedScratch scratch;
  Problem same = problem();
  same.key = [](const Genes& genes) { return std::to_string(genes[0]) + std::to_string(genes[1]); };
  const auto done = run(options(MethodKind::random, 25), scratch / "trials.h5", false, same);
  EXPECT_EQ(done.status.evaluations, 25);
  if (!Comm::world().is_root()) return;
  std::set<std::string> keys;
  for (const auto& [trial, outcome] : done.records)
    if (outcome.same_as < 0) {
      EXPECT_TRUE(keys.insert(trial.key).second);
    }
  EXPECT_EQ(keys.size(), 25u);
}

TEST(Search, nobody_waits_for_a_trial_that_takes_long) {
  const SharedScratch scratch;
  const Gate gate;
  // The first trial takes as long as two generations of others.
  const auto uneven = problem([&](const Trial& trial, Progress&) {
    if (trial.id >= 30) gate.open();
    Outcome outcome;
    outcome.objective = trial.id > 0 || gate.wait() ? trial.genes[1] : std::nan("");
    return outcome;
  });
  const auto done = run(options(MethodKind::evolution, 60), scratch / "trials.h5", false, uneven);
  EXPECT_LT(done.status.utilisation, 1.01);
  if (!Comm::world().is_root()) return;
  const Outcome& first = done.records[0].outcome;
  EXPECT_EQ(first.state, TrialState::done);
  EXPECT_GT(first.position, 12) << "it ended with its generation";
}

TEST(Search, stops_hopeless_candidates) {
  const SharedScratch scratch;
  const auto done = run(options(MethodKind::random, 60), scratch / "trials.h5");
  if (!Comm::world().is_root()) return;
  std::int64_t stopped = 0;
  for (const auto& [trial, outcome] : done.records)
    if (outcome.state == TrialState::stopped) {
      ++stopped;
      EXPECT_EQ(outcome.curve.size(), 2u);
      EXPECT_LT(outcome.curve[1], trial.rungs.at(0).value);
    }
  EXPECT_GT(stopped, 10);
}

}  // namespace
}  // namespace quintet::search
