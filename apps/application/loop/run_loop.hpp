#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/loop/checkpoint_options.hpp"
#include "apps/application/loop/schedule.hpp"
#include "apps/application/loop/stepper.hpp"

namespace quintet {

/// Looks at a run on a schedule and writes: a row of a table, a frame, a picture.
struct LoopObserver {
  std::string name;  ///< of the phase that its time is counted as
  Schedule schedule;
  std::function<void(const Instant&)>
      look;  ///< collective; throws NumericalError if the state is not physical
  /// Before every checkpoint (may be empty): bring to the files what is held back, or refuse the state by a
  /// NumericalError. Collective.
  std::function<void()> before_checkpoint = {};
};

/// Result of a loop.
struct LoopResult {
  std::int64_t steps = 0;   ///< by this process
  double seconds = 0;       ///< wall time from the first step to the last, looks and checkpoints included
  double step_seconds = 0;  ///< of the steps alone
};

/// Say in the log where a restarted run goes on from. Throws InputError if that is beyond `last_step`, which
/// the key `end_key` ("time.steps") gives.
void announce_restart(const Context& context, std::int64_t step, std::int64_t last_step, const char* end_key);

namespace detail {

/// A stepper whose type is forgotten; shares in its ownership.
struct AnyStepper {
  std::function<void()> advance;
  std::function<std::int64_t()> step, last_step;
  std::function<bool()> finished;
  std::function<double()> time;
  std::function<void(hdf5::Group&)> save;
};

template <Stepper T>
AnyStepper any_stepper(const std::shared_ptr<T>& stepper) {
  AnyStepper any{[stepper] { stepper->advance(); },
                 [stepper] { return stepper->step(); },
                 [stepper] { return stepper->last_step(); },
                 [stepper] { return stepper->finished(); },
                 [] { return Instant().time; },
                 [stepper](hdf5::Group& root) { stepper->save(root); }};
  if constexpr (TimedStepper<T>) any.time = [stepper] { return stepper->time(); };
  return any;
}

LoopResult run_loop(Context& context, const AnyStepper& stepper, const CheckpointSchedule& checkpoints,
                    const std::vector<LoopObserver>& observers);

}  // namespace detail

/// The loop of every run.
///
///  1. A run that begins is looked at by the observers that are due at_start().
///  2. Until the stepper is finished, or the run must stop (signal, --walltime):
///     a. advance one step;
///     b. the observers that are due look, in their order;
///     c. a checkpoint is written if one is due.
///  3. The state is saved, unless it just was. So every run directory ends with a checkpoint of the last
///     state.
///
/// A NumericalError in 1 or 2 leaves the state in the folder `emergency`, where no restart takes it for a
/// good one. Nothing else ends a run in between: a stop comes between two steps, after c. A stop is told by
/// context.stopped_early(); the command then goes on to its report, and the exit code is 75.
///
/// The stepper is shared because the action on a failure outlives the command. Call it after
/// context.go_ahead() only (InternalError with --validate). Collective.
template <Stepper T>
LoopResult run_loop(Context& context, const std::shared_ptr<T>& stepper,
                    const CheckpointSchedule& checkpoints, const std::vector<LoopObserver>& observers) {
  return detail::run_loop(context, detail::any_stepper(stepper), checkpoints, observers);
}

}  // namespace quintet
