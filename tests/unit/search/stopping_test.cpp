#include "surrogates/search/stopping.hpp"

#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"

namespace quintet::search {
namespace {

Outcome curve(std::vector<double> values, TrialState state = TrialState::done) {
  Outcome outcome;
  outcome.state = state;
  outcome.curve = std::move(values);
  return outcome;
}

StoppingOptions rule(StoppingRule rule, std::vector<std::int64_t> epochs, std::int64_t after) {
  return {rule, std::move(epochs), after, 4};
}

TEST(Stopping, the_median_of_what_earlier_trials_had_reached) {
  Stopping stopping(rule(StoppingRule::median, {2, 4}, 3), 6);
  stopping.tell(curve({0.1, 0.5, 0.6, 0.7, 0.8, 0.9}));
  stopping.tell(curve({0.9, 0.1, 0.6, 0.7, 0.8, 0.9}));  // the best so far counts
  EXPECT_TRUE(stopping.rungs().empty());
  stopping.tell(curve({0.2, 0.3}, TrialState::stopped));
  stopping.tell(curve({5, 5, 5, 5, 5, 5}, TrialState::failed));
  const auto rungs = stopping.rungs();
  ASSERT_EQ(rungs.size(), 1u);  // only two have reached the second rung
  EXPECT_EQ(rungs[0].epoch, 2);
  EXPECT_EQ(rungs[0].value, 0.5);
}

TEST(Stopping, halving_lets_one_in_so_many_pass) {
  Stopping stopping(rule(StoppingRule::halving, {1}, 4), 3);
  for (int i = 0; i < 9; ++i) stopping.tell(curve({0.1 * i, 1, 1}));
  EXPECT_DOUBLE_EQ(stopping.rungs().at(0).value, 0.6);  // 0.6, 0.7, 0.8 pass: the quantile 3/4
}

TEST(Stopping, none_and_bad_rungs) {
  EXPECT_TRUE(Stopping({}, 10).rungs().empty());
  EXPECT_THROW(Stopping(rule(StoppingRule::median, {3, 3}, 1), 10), InputError);
  EXPECT_THROW(Stopping(rule(StoppingRule::median, {10}, 1), 10), InputError);
  EXPECT_NO_THROW(Stopping(rule(StoppingRule::median, {}, 1), 1));
}

TEST(Progress, ends_at_a_rung_that_was_not_reached) {
  Progress progress({{{2, 0.5}, {3, 0.9}}, 10, 0, {}});
  EXPECT_TRUE(progress.report(0.6));
  EXPECT_TRUE(progress.report(0.1));  // had 0.6
  EXPECT_FALSE(progress.report(0.8));
  EXPECT_TRUE(progress.stopped());
}

TEST(Progress, ends_where_there_is_no_number_and_refuses_surplus_epochs) {
  Progress progress({{}, 2, 0, {}});
  EXPECT_FALSE(progress.report(std::nan("")));
  EXPECT_FALSE(progress.stopped());
  EXPECT_TRUE(progress.report(1));
  EXPECT_THROW((void)progress.report(1), InternalError);
}

Outcome evaluated(const Evaluate& evaluate, double seconds = 0) {
  return evaluate_safely(evaluate, {}, {{{1, 0.5}}, 5, seconds, {}});
}

TEST(Evaluate, is_told_of_in_one_sentence) {
  EXPECT_EQ(
      first_sentence("Kokkos failed to allocate memory for label \"x\".  Allocation using Host of 0.5 TiB"),
      "Kokkos failed to allocate memory for label \"x\"");
  EXPECT_EQ(first_sentence("no file a.h5\nTraceback: 1. 2. 3."), "no file a.h5");
  EXPECT_EQ(first_sentence("the loss is 0.5, no more."), "the loss is 0.5, no more.");
  EXPECT_EQ(first_sentence(""), "");
}

TEST(Evaluate, whatever_it_does_is_an_outcome) {
  EXPECT_EQ(evaluated([](const Trial&, Progress&) -> Outcome { throw std::runtime_error("no"); }).message,
            "no");
  EXPECT_EQ(evaluated([](const Trial&, Progress&) -> Outcome { throw 5; }).state, TrialState::failed);
  EXPECT_EQ(evaluated([](const Trial&, Progress&) -> Outcome { throw std::bad_alloc(); }).message,
            "out of memory");
  const auto give = [](double value) {
    return [value](const Trial&, Progress& progress) {
      Outcome outcome;
      if (progress.report(value))
        outcome.objective = value;
      else
        outcome.objective = progress.curve().back();
      return outcome;
    };
  };
  EXPECT_EQ(evaluated(give(0.7)).state, TrialState::done);
  EXPECT_EQ(evaluated(give(0.3)).state, TrialState::stopped);
  EXPECT_EQ(evaluated(give(0.3)).objective, 0.3);
  EXPECT_EQ(evaluated(give(std::nan(""))).state, TrialState::failed);
  EXPECT_EQ(evaluated(give(INFINITY)).state, TrialState::failed);
  const auto late = evaluated(give(0.7), 1e-9);
  EXPECT_EQ(late.state, TrialState::late);
  EXPECT_TRUE(std::isnan(late.objective));
  EXPECT_THROW((void)evaluated([](const Trial&, Progress&) -> Outcome { throw Interrupted(); }), Interrupted);
}

}  // namespace
}  // namespace quintet::search
