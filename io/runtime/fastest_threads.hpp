#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// Threads that were tried, and what a piece of work took with them.
struct ThreadTimes {
  int chosen = 1;
  std::vector<std::pair<int, double>> seconds;  ///< by number of threads: median, of the slowest rank (s)
  double cost = 1;  ///< processor time with the last number that was tried, over that with the one before
  /// "1 of 2 threads (0.021 s with 1, 0.035 s with 2)"
  [[nodiscard]] std::string in_words() const;
};

/// Time so far (s) by the wall and of all threads of this process; tests bring their own.
struct ThreadClock {
  std::function<double()> wall, processor;
  /// The system's.
  [[nodiscard]] static ThreadClock real();
};

/// Find the number of threads, 1, 2, 4, ... most, with which `work` is fastest. Collective: all ranks choose
/// the same, at most what the rank with the fewest may have. On cores that others use, too, two threads may
/// take many times as long as one: each parallel region then waits for the thread that has no core.
///
/// Each number is tried up to three times in turn, once where all has taken more than `patience_s` so far: it
/// is heavy work that gains by threads. More threads must be a tenth faster than fewer, at less than twice
/// their processor time: what is gained at a higher price is lost again when others compute. Numbers beyond
/// one that gains nothing are not tried.
/// @param use sets the number of threads @param work changes nothing that counts; runs once before it is
/// timed
[[nodiscard]] ThreadTimes fastest_threads(const Comm& comm, int most, const std::function<void(int)>& use,
                                          const std::function<void()>& work, double patience_s = 20,
                                          const ThreadClock& clock = ThreadClock::real());

}  // namespace quintet
