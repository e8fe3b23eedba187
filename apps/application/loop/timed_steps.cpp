#include "apps/application/loop/timed_steps.hpp"

#include <algorithm>
#include <ctime>
#include <numeric>
#include <vector>

#include <Kokkos_Core.hpp>

namespace quintet {
namespace {

double clock_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

}  // namespace

StepTimes time_steps(const std::function<void()>& step, double seconds, int least, int most, double of_run) {
  if (of_run >= 2) step();
  most = std::min<double>(most, std::max(1.0, of_run - 1));
  least = std::min(least, most);
  std::vector<double> by_wall, by_thread;
  const Kokkos::Timer all;
  const double process = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
  while (std::ssize(by_wall) < least || (std::ssize(by_wall) < most && all.seconds() < seconds)) {
    const double wall = clock_seconds(CLOCK_MONOTONIC), thread = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    step();
    by_thread.push_back(clock_seconds(CLOCK_THREAD_CPUTIME_ID) - thread);
    by_wall.push_back(clock_seconds(CLOCK_MONOTONIC) - wall);
  }
  const double of_thread = std::accumulate(by_thread.begin(), by_thread.end(), 0.0),
               of_process = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - process;
  auto& times = of_process < 1.05 * of_thread ? by_thread : by_wall;
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  return {.n = static_cast<int>(times.size()),
          .median = median,
          .mean = sum / times.size(),
          .spread = times[times.size() * 9 / 10] / median - 1};
}

}  // namespace quintet
