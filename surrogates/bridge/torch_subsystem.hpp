#pragma once

#include "io/runtime/runtime.hpp"

namespace quintet {

/// torch as a part of the Runtime: its operators use the Runtime's threads, one operator at a time.
[[nodiscard]] Subsystem torch_subsystem();

}  // namespace quintet
