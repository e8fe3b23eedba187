#pragma once

#include <memory>

#include "physics/kinetics/device/collisions_device.hpp"
#include "physics/kinetics/device/vlasov_device.hpp"
#include "tests/support/device/test_device.hpp"

namespace quintet::kinetics {

/// How engines are made on the device of tests.
inline DeviceVlasovFactory device_factory() {
  return {QUINTET_DEVICE_FUNCTION(quintet_make_device_vlasov),
          QUINTET_DEVICE_FUNCTION(quintet_device_vlasov_bytes),
          QUINTET_DEVICE_FUNCTION(quintet_make_device_collisions),
          QUINTET_DEVICE_FUNCTION(quintet_device_collision_bytes)};
}

inline std::unique_ptr<DeviceVlasov> make_engine(const DeviceVlasovOptions& options) {
  return std::unique_ptr<DeviceVlasov>(device_factory().make(options));
}

}  // namespace quintet::kinetics
