#include "apps/application/loop/schedule.hpp"

#include <cmath>

#include "io/log/error.hpp"

namespace quintet {
namespace {

void require_positive(double interval, const char* what) {
  if (!(interval > 0)) throw InternalError(fmt::format("A schedule of every {} {}", interval, what));
}

/// Whether (before, now] holds a multiple of the interval.
bool reaches_multiple(double before, double now, double interval) {
  return std::floor(now / interval) > std::floor(before / interval);
}

void require_time(const Instant& now) {
  if (std::isnan(now.time)) throw InternalError("A schedule by simulated time, of which the run has none");
}

}  // namespace

Schedule operator|(Schedule a, Schedule b) {
  return Schedule(
      [a = std::move(a), b = std::move(b)](const Instant& now) { return a.due(now) || b.due(now); });
}

Schedule at_start() {
  return Schedule([](const Instant& now) { return now.start; });
}

Schedule at_end() {
  return Schedule([](const Instant& now) { return now.end; });
}

Schedule at_step(std::int64_t step) {
  return Schedule([step](const Instant& now) { return !now.start && now.step == step; });
}

Schedule every_steps(std::int64_t n) {
  require_positive(n, "steps");
  return Schedule([n](const Instant& now) { return !now.start && now.step % n == 0; });
}

Schedule at_time(double time) {
  return Schedule([time](const Instant& now) {
    require_time(now);
    return now.time_before < time && now.time >= time;
  });
}

Schedule every_time(double interval) {
  require_positive(interval, "units of time");
  return Schedule([interval](const Instant& now) {
    require_time(now);
    return reaches_multiple(now.time_before, now.time, interval);
  });
}

Schedule every_wall_time(double seconds) {
  require_positive(seconds, "s");
  return Schedule(
      [seconds](const Instant& now) { return reaches_multiple(now.wall_before, now.wall, seconds); });
}

}  // namespace quintet
