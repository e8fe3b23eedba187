#include "surrogates/bridge/torch_subsystem.hpp"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/bridge/errors.hpp"

namespace quintet {

Subsystem torch_subsystem() {
  const auto start = [](const Comm&, int threads) {
    translate_torch_errors("Setting torch's threads", [&] {
      at::set_num_threads(threads);
      // torch lets this be set once in the life of a process.
      if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
    });
  };
  return {"torch " TORCH_VERSION, start, {}};
}

#ifdef QUINTET_TORCH_CUDA

Device device_with_torch(Device wanted) { return wanted; }

#else

Device device_with_torch(Device wanted) {
  if (wanted == Device::gpu)
    throw ResourceError(
        "device: gpu: the LibTorch of this program computes on CPUs alone; build with one for CUDA (README, "
        "GPUs), or take device: cpu");
  if (wanted != Device::automatic) return wanted;
  log::info("device: cpu, since the LibTorch of this program computes on CPUs alone");
  return Device::cpu;
}

#endif

}  // namespace quintet
