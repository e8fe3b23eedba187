#pragma once

#include <csignal>

namespace quintet::campaign {

/// SIGCHLD, and the signals that end a campaign: SIGTERM, SIGINT, SIGUSR1, and SIGHUP unless it is ignored:
/// under nohup a campaign is to outlive its terminal, and a signal that is held comes also where it is
/// ignored.
[[nodiscard]] sigset_t watched_signals();

/// Keep the watched signals for run_campaign(), in this thread and those that it will make. Where threads are
/// there already, RunnerOptions::stop tells of a signal that one of them got.
void hold_signals();

/// While one lives, this thread gets the watched signals from sigtimedwait() alone.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace quintet::campaign
