#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

/// When a run is looked at and saved.
namespace quintet {

/// A place in the course of a run: its start, or the end of a step. The same on all ranks.
struct Instant {
  std::int64_t step = 0;  ///< steps done
  /// Simulated time now and before the step (in the stepper's unit); NaN of a stepper without one.
  double time = std::numeric_limits<double>::quiet_NaN();
  double time_before = std::numeric_limits<double>::quiet_NaN();
  double wall = 0, wall_before = 0;  ///< wall time since the loop began, likewise (s); see Context::Steps
  bool start = false;                ///< before the first step of a run that begins
  bool end = false;                  ///< after the last step of a run that is finished
};

/// When something is due. Made by the functions below and joined by `|`:
/// @code
///   at_start() | every_steps(100) | at_end()
/// @endcode
/// A schedule holds no state: what it says of an instant depends on that instant alone, so that a restarted
/// run keeps to the schedule of the uninterrupted one (but for every_wall_time()).
class Schedule {
 public:
  using Rule = std::function<bool(const Instant&)>;
  Schedule() = default;  ///< never due
  explicit Schedule(Rule rule) : rule_(std::move(rule)) {}
  [[nodiscard]] bool due(const Instant& now) const { return rule_ && rule_(now); }

 private:
  Rule rule_;
};

/// Due where either is.
[[nodiscard]] Schedule operator|(Schedule a, Schedule b);

/// Before the first step of a run that begins; not on a restart.
[[nodiscard]] Schedule at_start();
/// After the last step of a run that is finished; not of one that is stopped early.
[[nodiscard]] Schedule at_end();
/// After this step.
[[nodiscard]] Schedule at_step(std::int64_t step);
/// After steps n, 2n, 3n ... Throws InternalError if n < 1.
[[nodiscard]] Schedule every_steps(std::int64_t n);
/// After the first step that reaches simulated time t.
[[nodiscard]] Schedule at_time(double time);
/// After the first step that reaches t, 2t, 3t ... in simulated time; once where a step reaches several.
/// Throws InternalError if t <= 0, and due() does for a stepper without time.
[[nodiscard]] Schedule every_time(double interval);
/// Every so many seconds of wall time, at the same step on all ranks: for checkpoints of runs whose steps
/// take minutes. Throws InternalError if seconds <= 0.
[[nodiscard]] Schedule every_wall_time(double seconds);

}  // namespace quintet
