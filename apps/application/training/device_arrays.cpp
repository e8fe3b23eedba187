#include "apps/application/training/device_arrays.hpp"

#include "apps/application/life/memory.hpp"
#include "io/log/log.hpp"

namespace quintet {

void require_device_arrays(const Comm& comm, const DeviceSession& device, const PlannedArrays& arrays) {
  if (device.is_cpu() ||
      !kept_on_host(arrays.n_ranks, arrays.parallel, arrays.offload, arrays.precision, arrays.has_parts)
           .empty())
    return;
  const auto needs =
      resident_needs(arrays.n_parameters, arrays.width, n_states(arrays.optimiser), arrays.n_ranks,
                     arrays.n_ranks > 1 && arrays.parallel.zero_stage() == 1, device.sends_directly());
  const char* const what = "weights, gradients and the optimiser's states";
  const auto there = static_cast<double>(needs.device.total());
  const bool is_on_host = device.device() == Device::portable;
  require_memory(comm, static_cast<double>(needs.staged) + (is_on_host ? there : 0), what);
  device.require_bytes(there, what);
}

void announce_residence(Context& context, const FlatAccount& account) {
  if (account.residence.empty()) return;
  log::info("weights, gradients and the optimiser's states: {}", account.residence);
  context.summarise("training_arrays", account.residence, "weights, gradients and the optimiser's states");
}

}  // namespace quintet
