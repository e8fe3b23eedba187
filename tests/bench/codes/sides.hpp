#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "physics/kernels/core_rate.hpp"

namespace quintet {

/// A side of a comparison: what it is called, what it does, its least time (s).
struct Side {
  std::string name;
  std::function<void()> action;
  double seconds = HUGE_VAL;
  int calls = 1;
};

/// All sides in turns, the least of the repeats; a repeat is as many calls as last `sample` seconds.
inline void compare(std::vector<Side>& sides, int repeats, double sample) {
  for (Side& side : sides) {
    side.action();
    side.calls = std::max(1, static_cast<int>(sample / std::max(timed(side.action), 1e-9)));
  }
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (Side& side : sides)
      side.seconds = std::min(side.seconds, timed([&] {
                                              for (int i = 0; i < side.calls; ++i) side.action();
                                            }) / side.calls);
}

}  // namespace quintet
