#pragma once

#include <algorithm>
#include <cstdint>

#include "physics/kernels/random.hpp"

namespace quintet::search {

/// Stream of random numbers: different streams are independent.
enum class Stream : std::uint32_t { proposal = 0x5301, trial_seed = 0x5302, policy = 0x5303 };

/// Random numbers of (seed, stream, id): the same whatever was drawn for other ids, hence the same after a
/// restart.
class Draws {
 public:
  Draws(std::uint64_t seed, Stream stream, std::uint64_t id)
      : seed_(seed), stream_(static_cast<std::uint32_t>(stream)), id_(id) {}
  /// Uniform in (0, 1).
  double uniform() {
    double u, v;
    uniform_pair(seed_, stream_, id_, step_++, u, v);
    return u;
  }
  /// Uniform among 0 ... n - 1.
  int below(int n) { return std::min<int>(uniform() * n, n - 1); }

 private:
  std::uint64_t seed_;
  std::uint32_t stream_;
  std::uint64_t id_, step_ = 0;
};

/// The seed that a trial's evaluation is given (53 bits, so that every format keeps it).
[[nodiscard]] inline std::uint64_t trial_seed(std::uint64_t seed, std::int64_t trial) {
  return Draws(seed, Stream::trial_seed, trial).uniform() * 0x1.0p53;
}

}  // namespace quintet::search
