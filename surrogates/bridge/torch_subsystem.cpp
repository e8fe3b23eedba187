#include "surrogates/bridge/torch_subsystem.hpp"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include "io/runtime/library_threads.hpp"
#include "surrogates/bridge/arena_allocator.hpp"
#include "surrogates/bridge/errors.hpp"

namespace quintet {

Subsystem torch_subsystem() {
  const auto start = [](const Comm&, int threads) {
    translate_torch_errors("Setting torch's threads", [&] {
      use_page_arena();
      at::set_num_threads(threads);
      // torch lets this be set once in the life of a process.
      if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
    });
  };
  return {"torch " TORCH_VERSION, start, {}};
}

void set_torch_threads(int threads) {
  set_library_threads(threads);
  translate_torch_errors("Setting torch's threads", [&] { at::set_num_threads(threads); });
}

bool torch_has_gpus() {
#ifdef QUINTET_TORCH_CUDA
  return true;
#else
  return false;
#endif
}

}  // namespace quintet
