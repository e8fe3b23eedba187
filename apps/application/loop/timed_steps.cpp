#include "apps/application/loop/timed_steps.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <Kokkos_Core.hpp>

namespace quintet {

StepTimes time_steps(const std::function<void()>& step, double seconds, int least, int most) {
  step();
  std::vector<double> times;
  const Kokkos::Timer all;
  while (static_cast<int>(times.size()) < least ||
         (static_cast<int>(times.size()) < most && all.seconds() < seconds)) {
    const Kokkos::Timer timer;
    step();
    times.push_back(timer.seconds());
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  return {.n = static_cast<int>(times.size()),
          .median = median,
          .mean = sum / static_cast<double>(times.size()),
          .spread = times[times.size() * 9 / 10] / median - 1};
}

}  // namespace quintet
