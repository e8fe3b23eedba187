#include "apps/campaign/workers/held_signals.hpp"

#include <initializer_list>

namespace quintet::campaign {

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, signal);
  struct sigaction hangup {};
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN) sigdelset(&signals, SIGHUP);
  return signals;
}

void hold_signals() {
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

HeldSignals::HeldSignals() {
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace quintet::campaign
