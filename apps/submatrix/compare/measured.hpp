#pragma once

#include <atomic>
#include <chrono>
#include <ctime>
#include <optional>
#include <thread>

#include "io/parallel/comm_fwd.hpp"

namespace quintet::submatrix {

/// Cost of a piece of work, on the rank that took most.
struct Cost {
  double wall_s = 0, cpu_s = 0;
  double peak_bytes = 0;  ///< resident memory above that at the start; 0 where the system does not tell
};

/// Measures from its construction to finish(); a thread samples the resident memory every two milliseconds.
class Measurement {
 public:
  Measurement();
  ~Measurement();
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;
  /// Collective.
  [[nodiscard]] Cost finish(const Comm& comm);

 private:
  void watch();

  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  std::clock_t cpu_ = std::clock();
  double base_bytes_ = 0;
  std::atomic<double> peak_bytes_{0};
  std::atomic<bool> done_{false};
  std::thread watcher_;
};

}  // namespace quintet::submatrix
