#include "apps/application/training/device_arrays.hpp"

#include "apps/application/life/context.hpp"
#include "io/device/device.hpp"
#include "io/log/log.hpp"
#include "io/parallel/shared_memory_bounds.hpp"

namespace quintet {

void require_device_arrays(const Comm& comm, const DeviceSession& device, const PlannedArrays& arrays) {
  if (device.is_cpu() || !arrays.kept_on_host().empty()) return;
  const auto needs = resident_needs(arrays, device.sends_directly());
  const char* const what = "weights, gradients and the optimiser's states";
  const double there = needs.device.total();
  const bool is_on_host = device.device() == Device::portable;
  require_memory(comm, (needs.host.total() + needs.staging) + (is_on_host ? there : 0), what);
  device.require_bytes(there, what);
}

void announce_residence(Context& context, const FlatAccount& account) {
  if (account.residence.empty()) return;
  const auto there = account.is_resident ? account.held.total() : 0;
  log::info("weights, gradients and the optimiser's states: {} ({} there, {} of the host's memory)",
            account.residence, text_of_bytes(there), text_of_bytes(account.host_bytes));
  context.summarise("training_arrays", account.residence, "weights, gradients and the optimiser's states");
  context.summarise("training_device_bytes", there, "of this rank, in the device's memory");
  context.summarise(
      "training_host_bytes", account.host_bytes,
      "of this rank, in the host's: what messages pass through, offloaded states, and all of it "
      "where the arrays are the host's");
}

}  // namespace quintet
