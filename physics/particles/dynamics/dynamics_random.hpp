#pragma once

#include <cmath>
#include <cstdint>

#include "physics/kernels/random.hpp"

namespace quintet {

/// A sequence of random numbers of (seed, stream, step) alone: the same on all ranks and after a restart.
class RandomSequence {
 public:
  RandomSequence(std::uint64_t seed, std::uint32_t stream, std::int64_t step)
      : seed_(seed), stream_(stream), step_(step) {}

  /// Uniform in (0, 1).
  [[nodiscard]] double uniform() {
    double u, v;
    uniform_pair(seed_, stream_, draw_++, step_, u, v);
    return u;
  }
  /// Standard normal.
  [[nodiscard]] double normal() {
    double x, y;
    normal_pair(seed_, stream_, draw_++, step_, x, y);
    return x;
  }
  /// Gamma distributed, unit scale (Marsaglia & Tsang 2000, ACM TOMS 26, 363); shape > 0.
  [[nodiscard]] double gamma(double shape) {
    if (shape < 1) return gamma(shape + 1) * std::pow(uniform(), 1 / shape);
    const double d = shape - 1.0 / 3.0, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), t = 1 + c * x, v = t * t * t;
      if (v > 0 && std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
  }
  /// Sum of the squares of n standard normal numbers; n >= 0.
  [[nodiscard]] double chi_square(double n) { return n > 0 ? 2 * gamma(n / 2) : 0.0; }

 private:
  std::uint64_t seed_;
  std::uint32_t stream_;
  std::uint64_t step_;
  std::uint64_t draw_ = 0;
};

}  // namespace quintet
