#pragma once

#include <functional>

#include "io/parallel/comm.hpp"

namespace quintet::electronic {

/// Says whether long work is to be given up: asked by each rank for itself between submatrices, where it is
/// set. Must not communicate.
using Interrupt = std::function<bool()>;

/// What is thrown on all ranks together where an Interrupt of any rank said so. No error: nothing is wrong.
struct Interrupted {};

/// Throw Interrupted if any rank's interrupt says so. Collective.
inline void give_up_if_asked(const Comm& comm, const Interrupt& interrupt) {
  if (interrupt && comm.any(interrupt())) throw Interrupted{};
}

}  // namespace quintet::electronic
