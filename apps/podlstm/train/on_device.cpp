#include "apps/podlstm/train/on_device.hpp"

#include "apps/application/life/context.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/sequence/network/torch/torch_network.hpp"

namespace quintet::podlstm {

DeviceSession open_device(Context& context, TrainOptions& options) {
  auto& training = options.forecast.training;
  const bool rounds = training.precision == sequence::Precision::bf16;
  Device wanted = options.device;
  if (wanted == Device::automatic && rounds) {
    log::info("device: cpu, since products in bf16 are for our kernels");
    wanted = Device::cpu;
  }
  QUINTET_CHECK(
      wanted == Device::cpu || !rounds,
      "device: networks run on a device by LibTorch, and precision: bf16 is for our kernels; expected "
      "device: cpu, or float32");
  const bool on_graph = options.forecast.network.is_graph();
  QUINTET_CHECK(!on_graph || wanted == Device::cpu || wanted == Device::automatic,
                "device: {} has recurrent networks alone, and network.kind is graph; expected device: cpu",
                wanted == Device::gpu ? "gpu" : "portable");
  if (on_graph) wanted = Device::cpu;
  DeviceSession session = context.open_device(sequence::device_for_networks(wanted));
  if (!session.is_cpu()) training.engine = sequence::Engine::torch;
  return session;
}

}  // namespace quintet::podlstm
