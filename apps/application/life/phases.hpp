#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// One named phase of a run and the phases inside it.
struct PhaseNode {
  std::string name;
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

/// Time of a phase on the ranks. Shares of the whole are those of the means, since means add up.
struct PhaseTime {
  std::string path;
  double mean = 0, slowest = 0;  ///< wall time of a rank (s)
};

/// Nested wall timers by name; "outer/inner" for a phase that was entered inside another.
class Phases {
 public:
  [[nodiscard]] PhaseTimer timer(const char* name) { return PhaseTimer(current_, name); }
  /// Add time that was measured elsewhere: "steps/forces".
  void add(const std::string& path, double seconds);
  /// Longest single visit of a phase of this name, at any depth (s); 0 if there was none.
  [[nodiscard]] double longest(const std::string& name) const;
  /// Every phase in the order of first entry, children behind their parents; on root (empty elsewhere).
  /// Collective; ranks may have entered different phases.
  [[nodiscard]] std::vector<PhaseTime> over_ranks(const Comm& comm) const;

 private:
  PhaseNode root_;
  PhaseNode* current_ = &root_;
};

}  // namespace quintet
