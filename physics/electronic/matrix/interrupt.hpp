#pragma once

#include <functional>

#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet::electronic {

/// Says whether long work is to be given up. Each rank asks its own, where one is set, between submatrices;
/// it must not communicate.
using Interrupt = std::function<bool()>;

/// Throw Interrupted on all ranks if any rank's interrupt says so. Collective.
inline void give_up_if_asked(const Comm& comm, const Interrupt& interrupt) {
  if (interrupt && comm.any(interrupt())) throw Interrupted();
}

}  // namespace quintet::electronic
