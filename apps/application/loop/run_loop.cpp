#include "apps/application/loop/run_loop.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "apps/application/life/context.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {

void announce_restart(const Context& context, std::int64_t step, std::int64_t last_step,
                      const char* end_key) {
  if (!context.restart_file()) return;
  log::info("Goes on from step {} ({})", step, *context.restart_file());
  QUINTET_CHECK(step <= last_step,
                "{}: is of step {}, beyond {} = {}; ask for more steps, or restart from an earlier one",
                *context.restart_file(), step, end_key, last_step);
}

namespace detail {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Keep the state of a failed run apart, so that no restart takes it for a good one.
void keep_failed_state(Context& context, const AnyStepper& stepper) {
  context.on_failure([stepper, comm = context.comm(), provenance = context.provenance(),
                      folder = context.path("emergency")] {
    hdf5::CheckpointStore(comm, folder, 1).write(stepper.step(), provenance, stepper.save);
    log::warning("The state at step {} is in {}", stepper.step(), folder);
  });
}

class Loop {
 public:
  Loop(Context& context, const AnyStepper& stepper, const CheckpointSchedule& checkpoints,
       const std::vector<LoopObserver>& observers)
      : context_(context), stepper_(stepper), checkpoints_(checkpoints), observers_(observers) {
    now_.step = stepper_.step();
    now_.time = now_.time_before = stepper_.time();
  }

  LoopResult run() {
    if (!context_.restart_file()) {
      now_.start = true;
      look();
    }
    context_.flush_results();  // what was made or cut: a kill from here on leaves whole rows
    const std::int64_t first = now_.step;
    const auto begin = Clock::now();
    auto steps = context_.steps(first + 1, stepper_.finished() ? first : expected_last());
    for ([[maybe_unused]] const std::int64_t step : steps) {
      advance(steps.wall_s());
      look();
      if (checkpoints_.due.due(now_) || now_.wall - saved_at_ >= checkpoints_.every) save();
      steps.expect(now_.end ? now_.step : expected_last());
    }
    result_.steps = now_.step - first;
    result_.seconds = seconds_since(begin);
    if (saved_ != now_.step) save();
    return result_;
  }

 private:
  /// Expected last step of a run that is not finished.
  [[nodiscard]] std::int64_t expected_last() const { return std::max(stepper_.last_step(), now_.step + 1); }

  void advance(double wall) {
    const auto timer = context_.phase("steps");
    const auto begin = Clock::now();
    stepper_.advance();
    result_.step_seconds += seconds_since(begin);
    now_ = {.step = stepper_.step(),
            .time = stepper_.time(),
            .time_before = now_.time,
            .wall = wall,
            .wall_before = now_.wall,
            .start = false,
            .end = stepper_.finished()};
  }

  void look() const {
    for (const auto& observer : observers_) {
      if (!observer.schedule.due(now_)) continue;
      const auto timer = context_.phase(observer.name.c_str());
      observer.look(now_);
    }
  }

  void save() {
    for (const auto& observer : observers_)
      if (observer.before_checkpoint) observer.before_checkpoint();
    context_.checkpoint(now_.step, stepper_.save);
    saved_ = now_.step;
    saved_at_ = now_.wall;
  }

  Context& context_;
  const AnyStepper& stepper_;
  const CheckpointSchedule& checkpoints_;
  const std::vector<LoopObserver>& observers_;
  Instant now_;
  std::optional<std::int64_t> saved_;  ///< step of the newest checkpoint of this loop
  double saved_at_ = 0;                ///< wall time of it since the loop began, the same on all ranks (s)
  LoopResult result_;
};

}  // namespace

LoopResult run_loop(Context& context, const AnyStepper& stepper, const CheckpointSchedule& checkpoints,
                    const std::vector<LoopObserver>& observers) {
  if (context.validating()) throw InternalError("A run loop with --validate");
  context.keep_checkpoints(checkpoints.keep);
  keep_failed_state(context, stepper);
  const LoopResult result = Loop(context, stepper, checkpoints, observers).run();
  context.on_failure(nullptr);  // all is saved
  return result;
}

}  // namespace detail
}  // namespace quintet
