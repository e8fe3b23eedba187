#pragma once

#include <functional>

#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet {

/// Says whether long work is to be given up. Each rank asks its own, where one is set, between parts of the
/// work; it must not communicate.
using Interrupt = std::function<bool()>;

/// Throw Interrupted if this rank's interrupt says so: within together().
inline void give_up_if_asked(const Interrupt& interrupt) {
  if (interrupt && interrupt()) throw Interrupted();
}

/// Throw Interrupted on all ranks if any rank's interrupt says so. Collective.
inline void give_up_if_asked(const Comm& comm, const Interrupt& interrupt) {
  if (interrupt && comm.any(interrupt())) throw Interrupted();
}

}  // namespace quintet
