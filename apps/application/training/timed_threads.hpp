#pragma once

#include <functional>
#include <string_view>

#include "io/parallel/comm_fwd.hpp"
#include "io/runtime/runtime_fwd.hpp"

namespace quintet {

/// A calculation by LibTorch on the cores, whose number of threads is to be chosen.
struct TimedWork {
  std::string_view name;         ///< of the piece, for the log: "gradients"
  std::function<void(int)> use;  ///< set the number of threads
  std::function<void()> piece;   ///< a piece of the calculation that changes nothing; empty: none is timed
  int before = 0;                ///< threads of the run that is gone on from; 0: none
};

/// Choose the threads of a calculation: as many as were given; those of the run that is gone on from, since
/// sums of other numbers differ in the last digits; else those with which the piece is fastest
/// (fastest_threads()), all of them where none is timed. Says which, and returns their number. Collective.
[[nodiscard]] int choose_timed_threads(const Comm& comm, const Threads& threads, const TimedWork& work);

}  // namespace quintet
