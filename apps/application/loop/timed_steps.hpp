#pragma once

#include <functional>

namespace quintet {

/// How long a step takes here and now, for cost models.
struct StepTimes {
  int n = 0;
  double median = 0;  ///< (s)
  double mean = 0;    ///< (s): of steps that differ
  double spread = 0;  ///< largest over median, less 1, without the slowest tenth
};

/// Take steps and time them by the CPU time of this thread, which other programs do not lengthen by taking
/// the core; by the wall clock where threads of this process work beside it: one that warms up, then at least
/// `least` and up to `most`, ending after about so many seconds. With those that warm up no more than the run
/// has: `of_run`; of a run of one step this is timed.
[[nodiscard]] StepTimes time_steps(const std::function<void()>& step, double seconds = 0.5, int least = 5,
                                   int most = 1000, double of_run = 1e15);

}  // namespace quintet
