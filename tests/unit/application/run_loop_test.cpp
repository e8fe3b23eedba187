#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "apps/application/loop/run_loop.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "tests/unit/application/toy_run.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet {
namespace {

namespace fs = std::filesystem;
using toy::Toy;
using toy::ToyRun;
using Texts = std::vector<std::string>;

/// A stepper without time.
struct Timeless {
  void advance() { ++n; }
  [[nodiscard]] std::int64_t step() const { return n; }
  [[nodiscard]] std::int64_t last_step() const { return 3; }
  [[nodiscard]] bool finished() const { return n == 3; }
  void save(hdf5::Group&) const {}
  std::int64_t n = 0;
};
static_assert(Stepper<Timeless> && !TimedStepper<Timeless>);
static_assert(!Stepper<std::string>);

class Loop : public ::testing::Test {
 protected:
  Loop() {
    request_.program = "demo run";
    request_.output = folder_ / "run";
    request_.quiet = true;
  }
  ~Loop() override { log::configure({.speaks = false, .quiet = true, .file = ""}); }

  [[nodiscard]] Request again() const {
    Request request = request_;
    request.restart = "auto";
    return request;
  }
  /// An observer that notes its name and step.
  static LoopObserver noting(const char* name, const Schedule& schedule, Toy& toy) {
    return {name, schedule, [name, &toy](const Instant& now) {
              EXPECT_EQ(now.step, toy.step());
              EXPECT_EQ(now.time, toy.time());
              toy.calls.push_back(fmt::format("{} {}", name, now.step));
            }};
  }
  /// The numbers of all ranks in the checkpoint `folder`/step_...h5.
  [[nodiscard]] std::vector<double> saved(const std::string& folder, std::int64_t step) const {
    const auto path = hdf5::CheckpointStore(comm_, request_.output + "/" + folder, 1).path(step);
    return hdf5::File::open(comm_, path).root().read<double>("x");
  }

  Comm comm_ = Comm::world();
  SharedScratch folder_{"loop"};
  Request request_;
};

TEST_F(Loop, advances_then_looks_in_order_then_saves) {
  ToyRun run(request_, 4);
  Toy& toy = *run.toy;
  auto first = noting("first", at_start() | every_steps(2), toy);
  first.before_checkpoint = [&] { toy.calls.emplace_back("flush"); };

  const LoopResult result = run_loop(run.context, run.toy, CheckpointSchedule(every_steps(3), 2),
                                     {first, noting("second", every_steps(1) | at_end(), toy)});

  EXPECT_EQ(toy.calls,
            (Texts{"first 0", "step 1", "second 1", "step 2", "first 2", "second 2", "step 3", "second 3",
                   "flush", "save 3", "step 4", "first 4", "second 4", "flush", "save 4"}));
  EXPECT_EQ(result.steps, 4);
  EXPECT_GE(result.seconds, result.step_seconds);
  EXPECT_FALSE(run.context.stopped_early());
  EXPECT_EQ(run.checkpoints(), (std::vector<std::int64_t>{3, 4}));
}

TEST_F(Loop, the_last_state_is_saved_once_and_as_many_stay_as_asked_for) {
  ToyRun run(request_, 9);

  run_loop(run.context, run.toy, CheckpointOptions{.interval = 3, .keep = 2}, {});

  EXPECT_EQ(std::count(run.toy->calls.begin(), run.toy->calls.end(), "save 9"), 1);
  EXPECT_EQ(run.checkpoints(), (std::vector<std::int64_t>{6, 9}));
}

TEST_F(Loop, a_stepper_that_is_finished_before_its_last_step_ends_the_loop) {
  ToyRun run(request_, 1000);
  run.toy->converges_in = 5;

  const auto result =
      run_loop(run.context, run.toy, CheckpointOptions(), {noting("end", at_end(), *run.toy)});

  EXPECT_EQ(result.steps, 5);
  EXPECT_EQ(run.toy->calls.at(5), "end 5");
  EXPECT_EQ(run.implementation().steps_done, 5);
  EXPECT_EQ(run.implementation().last_step, 5);
  EXPECT_FALSE(run.context.stopped_early());
}

TEST_F(Loop, a_guess_of_the_last_step_that_is_too_small_ends_nothing) {
  ToyRun run(request_, 30);
  run.toy->guess = 2;

  EXPECT_EQ(run_loop(run.context, run.toy, CheckpointOptions(), {}).steps, 30);
}

TEST_F(Loop, a_signal_on_one_rank_stops_all_between_two_steps_and_a_restart_is_the_uninterrupted_run) {
  const auto observers = [](Toy& toy) {
    return std::vector<LoopObserver>{noting("row", at_start() | every_steps(2) | at_end(), toy),
                                     noting("frame", at_start() | every_time(0.5), toy)};
  };
  const CheckpointOptions checkpoints{.interval = 4};
  Texts calls;
  {
    ToyRun run(request_, 7);
    run.toy->signal_in = 3;
    run.toy->pause_ms = 110;  // as long as the ranks take between two looks for a signal
    run_loop(run.context, run.toy, checkpoints, observers(*run.toy));
    EXPECT_TRUE(run.context.stopped_early());
    EXPECT_EQ(run.toy->step(), 3);
    calls = run.toy->calls;
    EXPECT_EQ(calls.back(), "save 3");
  }
  std::vector<double> stopped_x, whole_x;
  {
    ToyRun run(again(), 7);
    run_loop(run.context, run.toy, checkpoints, observers(*run.toy));
    EXPECT_FALSE(run.context.stopped_early());
    calls.insert(calls.end(), run.toy->calls.begin(), run.toy->calls.end());
    stopped_x = saved("checkpoints", 7);
  }
  request_.output = folder_ / "whole";
  ToyRun whole(request_, 7);
  run_loop(whole.context, whole.toy, checkpoints, observers(*whole.toy));
  whole_x = saved("checkpoints", 7);

  EXPECT_EQ(stopped_x, whole_x);
  EXPECT_EQ(std::erase(calls, "save 3"), 1);
  EXPECT_EQ(calls, whole.toy->calls);
  std::erase_if(calls, [](const auto& call) { return !call.starts_with("frame"); });
  EXPECT_EQ(calls, (Texts{"frame 0", "frame 3", "frame 5", "frame 7"}));  // at 0, 0.52, 1.12, 1.85
}

TEST_F(Loop, a_run_that_is_stopped_before_its_first_step_has_looked_at_its_start_once) {
  const auto start = [](Toy& toy) { return std::vector{noting("start", at_start(), toy)}; };
  {
    Request late = request_;
    late.walltime_s = 1e-3;
    ToyRun run(late, 2);
    run_loop(run.context, run.toy, CheckpointOptions(), start(*run.toy));
    EXPECT_TRUE(run.context.stopped_early());
    EXPECT_EQ(run.toy->calls, (Texts{"start 0", "save 0"}));
  }
  ToyRun run(again(), 2);
  run_loop(run.context, run.toy, CheckpointOptions(), start(*run.toy));

  EXPECT_EQ(run.toy->calls, (Texts{"step 1", "step 2", "save 2"}));
}

TEST_F(Loop, a_finished_run_that_is_started_again_does_nothing_but_save) {
  {
    ToyRun run(request_, 3);
    run_loop(run.context, run.toy, CheckpointOptions(), {});
  }
  ToyRun run(again(), 3);
  const auto result = run_loop(run.context, run.toy, CheckpointOptions(),
                               {noting("any", at_start() | every_steps(1) | at_end(), *run.toy)});

  EXPECT_EQ(result.steps, 0);
  EXPECT_EQ(run.toy->calls, Texts{"save 3"});
}

TEST_F(Loop, a_step_that_fails_leaves_the_state_before_it_apart) {
  ToyRun run(request_);
  run.toy->fails_in = 6;
  EXPECT_THROW(run_loop(run.context, run.toy, CheckpointOptions{.interval = 2}, {}), NumericalError);
  const auto expected = comm_.all_gather(run.toy->x());

  EXPECT_TRUE(run.fail());
  EXPECT_EQ(saved("emergency", 5), expected);
  EXPECT_EQ(run.checkpoints(), (std::vector<std::int64_t>{2, 4}));
}

TEST_F(Loop, an_observer_that_finds_no_physics_ends_the_run_before_its_state_is_saved_as_good) {
  ToyRun run(request_);
  const auto fail = [](const Instant&) { throw NumericalError("no physics"); };
  EXPECT_THROW(
      run_loop(run.context, run.toy, CheckpointOptions{.interval = 2}, {{"watch", at_step(4), fail}}),
      NumericalError);

  EXPECT_TRUE(run.fail());
  EXPECT_TRUE(fs::exists(request_.output + "/emergency/step_000000000004.h5"));
  EXPECT_EQ(run.checkpoints(), std::vector<std::int64_t>{2});
}

TEST_F(Loop, a_state_that_is_refused_before_its_checkpoint_is_not_saved_as_good) {
  ToyRun run(request_);
  LoopObserver watch{"watch", Schedule(), [](const Instant&) {}};
  watch.before_checkpoint = [&] {
    if (run.toy->step() >= 4) throw NumericalError("a weight is NaN");
  };
  EXPECT_THROW(run_loop(run.context, run.toy, CheckpointOptions{.interval = 2}, {watch}), NumericalError);

  EXPECT_TRUE(run.fail());
  EXPECT_EQ(run.checkpoints(), std::vector<std::int64_t>{2});
}

TEST_F(Loop, what_fails_after_the_loop_has_no_state_to_keep) {
  ToyRun run(request_);
  run_loop(run.context, run.toy, CheckpointOptions(), {});

  EXPECT_FALSE(run.fail());
}

TEST_F(Loop, wall_time_is_due_at_the_same_steps_on_all_ranks) {
  ToyRun run(request_, 6);
  run.toy->pause_ms = 110;
  std::vector<std::int64_t> steps;
  const auto note = [&](const Instant& now) { steps.push_back(now.step); };
  run_loop(run.context, run.toy, CheckpointOptions(), {{"clock", every_wall_time(0.2), note}});

  ASSERT_GE(steps.size(), 1u);
  EXPECT_LT(steps.size(), 6u);
  const std::int64_t n = steps.size();
  ASSERT_EQ(comm_.sum(n), n * comm_.size());
  const auto all = comm_.all_gather(std::span<const std::int64_t>(steps));
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], steps[i % steps.size()]);
}

TEST_F(Loop, a_checkpoint_is_due_by_wall_time_too_and_changes_no_number) {
  std::vector<double> often;
  {
    ToyRun run(request_, 6);
    run.toy->pause_ms = 110;
    run_loop(run.context, run.toy, CheckpointOptions{.interval = 1000, .keep = 9, .every = 0.2 / 60}, {});
    EXPECT_GE(run.checkpoints().size(), 3u);  // of 0.66 s, and the last
    EXPECT_LT(run.checkpoints().size(), 6u);
    often = saved("checkpoints", 6);
  }
  request_.output = folder_ / "seldom";
  ToyRun run(request_, 6);
  run_loop(run.context, run.toy, CheckpointOptions{.interval = 1000}, {});
  EXPECT_EQ(run.checkpoints(), std::vector<std::int64_t>{6});
  EXPECT_EQ(saved("checkpoints", 6), often);
}

TEST_F(Loop, a_schedule_by_time_of_a_stepper_without_one_is_a_bug_of_ours) {
  ToyRun run(request_);
  const auto timeless = std::make_shared<Timeless>();

  EXPECT_THROW(
      run_loop(run.context, timeless, CheckpointOptions(), {{"frame", every_time(1), [](const Instant&) {}}}),
      InternalError);
}

TEST_F(Loop, does_not_begin_with_validate) {
  request_.validate = true;
  ToyRun run(request_);

  EXPECT_THROW(run_loop(run.context, run.toy, CheckpointOptions(), {}), InternalError);
  EXPECT_TRUE(run.toy->calls.empty());
}

TEST_F(Loop, a_restart_beyond_the_last_step_is_refused_with_the_key_that_gives_it) {
  {
    ToyRun run(request_, 8);
    run_loop(run.context, run.toy, CheckpointOptions(), {});
  }
  ToyRun run(again(), 5);
  EXPECT_NO_THROW(announce_restart(run.context, 8, 8, "time.steps"));
  try {
    announce_restart(run.context, run.toy->step(), 5, "time.steps");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("is of step 8, beyond time.steps = 5"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace quintet
