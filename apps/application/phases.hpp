#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/parallel/comm.hpp"

namespace quintet {

/// One named phase of a run and the phases inside it.
struct PhaseNode {
  const char* name = "";
  PhaseNode* parent = nullptr;
  double seconds = 0;  ///< wall time of all visits
  double longest = 0;  ///< of one visit (s)
  std::vector<std::unique_ptr<PhaseNode>> children;
};

/// Adds its life time to a phase.
class PhaseTimer {
 public:
  PhaseTimer(PhaseNode*& current, const char* name);
  ~PhaseTimer();
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  PhaseNode*& current_;
  Clock::time_point start_ = Clock::now();
};

/// Nested wall timers by name; "outer/inner" for a phase that was entered inside another.
class Phases {
 public:
  [[nodiscard]] PhaseTimer timer(const char* name) { return PhaseTimer(current_, name); }
  /// Longest single visit of a phase of this name, at any depth (s); 0 if there was none.
  [[nodiscard]] double longest(const std::string& name) const;
  /// Path and seconds of every phase in the order of first entry, parents before children: the maximum over
  /// the ranks, on root (empty elsewhere). Collective; ranks may have entered different phases.
  [[nodiscard]] std::vector<std::pair<std::string, double>> slowest_rank(const Comm& comm) const;

 private:
  PhaseNode root_;
  PhaseNode* current_ = &root_;
};

}  // namespace quintet
