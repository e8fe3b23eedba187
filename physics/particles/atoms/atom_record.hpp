#pragma once

#include <cstdint>

namespace quintet {

/// Everything a rank knows of one of its atoms; what is sent when it changes hands.
struct AtomRecord {
  double position[3], velocity[3], force[3];
  std::int64_t id;
  int image[3];
  int type;
};

/// Data of a ghost that a rank receives when the lists are made.
struct BorderAtom {
  double position[3];
  std::int64_t id;
  std::int64_t type;
};

}  // namespace quintet
