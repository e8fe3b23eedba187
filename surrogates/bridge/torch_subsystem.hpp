#pragma once

#include "io/runtime/runtime.hpp"

namespace quintet {

/// torch as a part of the Runtime: its operators use the Runtime's threads, one operator at a time.
[[nodiscard]] Subsystem torch_subsystem();

/// Have torch's operators use so many threads from here on.
void set_torch_threads(int threads);

/// Whether this LibTorch computes on GPUs: what device_with_torch() asks.
[[nodiscard]] bool torch_has_gpus();

}  // namespace quintet
