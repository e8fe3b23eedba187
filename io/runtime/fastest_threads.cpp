#include "io/runtime/fastest_threads.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/ranges.h>

#include "io/log/counted.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {

namespace {

constexpr double dearest = 2;  // times the processor time of fewer threads

double seconds_of(const Comm& comm, const std::function<void()>& work, const ThreadClock& clock) {
  const double begin = clock.wall();
  work();
  return comm.maximum(clock.wall() - begin);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

ThreadClock ThreadClock::real() {
  const auto seconds = [](clockid_t id) {
    timespec time{};
    clock_gettime(id, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
  };
  return {[seconds] { return seconds(CLOCK_MONOTONIC); },
          [seconds] { return seconds(CLOCK_PROCESS_CPUTIME_ID); }};
}

std::string ThreadTimes::in_words() const {
  std::vector<std::string> tried;
  for (const auto& [n, time] : seconds) tried.push_back(fmt::format("{:.3g} s with {}", time, n));
  const bool is_dear = cost >= dearest && chosen < seconds.back().first;
  return fmt::format("{} ({}{})", counted(chosen, "thread"), fmt::join(tried, ", "),
                     is_dear ? fmt::format(" at {:.2g} times the processor time", cost) : "");
}

ThreadTimes fastest_threads(const Comm& comm, int most, const std::function<void(int)>& use,
                            const std::function<void()>& work, double patience_s, const ThreadClock& clock) {
  constexpr int rounds = 3;
  constexpr double gain = 0.9;
  most = comm.minimum(most);  // nodes may have other numbers of cores
  ThreadTimes times;
  double spent = 0;
  for (int n = 1, before = 1; n <= most; before = n, n = n < most ? std::min(2 * n, most) : most + 1) {
    use(n);
    if (n == 1 || spent < patience_s) spent += seconds_of(comm, work, clock);  // makes what is made once
    // In turn with the number before: what others do at this machine changes within seconds.
    std::vector<double> now, then;
    double cpu_now = 0, cpu_then = 0;
    for (int round = 0; round < rounds && (round == 0 || spent < patience_s); ++round) {
      const double begin = clock.processor();
      use(n);
      now.push_back(seconds_of(comm, work, clock));
      spent += now.back();
      const double between = clock.processor();
      cpu_now += between - begin;
      if (n == 1) continue;
      use(before);
      then.push_back(seconds_of(comm, work, clock));
      spent += then.back();
      cpu_then += clock.processor() - between;
    }
    if (n > 1) times.seconds.back().second = median(then);
    times.seconds.emplace_back(n, median(now));
    times.cost = n == 1 ? 1 : comm.maximum(cpu_now) / std::max(comm.maximum(cpu_then), 1e-9);
    const bool gains = n == 1 || (median(now) < gain * median(then) && times.cost < dearest);
    if (gains) times.chosen = n;
    if (!gains) break;
  }
  use(times.chosen);
  return times;
}

}  // namespace quintet
