#pragma once

#include "apps/application/life/context.hpp"
#include "io/parallel/interrupt.hpp"

namespace quintet {

/// Ask whether this rank knows that the run must stop: for long work of a command. Interrupted that leaves
/// the command on all ranks ends the run as one that left its loop. The context must outlive what asks.
[[nodiscard]] inline Interrupt interrupt_of(const Context& context) {
  return [&context] { return context.stop_noticed(); };
}

}  // namespace quintet
