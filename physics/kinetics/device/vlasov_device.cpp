#include "physics/kinetics/device/vlasov_device.hpp"

namespace quintet::kinetics {

namespace device {

/// Instantiated in vlasov_1x1v_device.cpp and its like, a file each so that they compile side by side.
template <int CDim, int VDim>
std::unique_ptr<DeviceVlasov> make_device_vlasov(const DeviceVlasovOptions& options);
template <int CDim, int VDim>
double device_vlasov_bytes(const DeviceVlasovOptions& options);

}  // namespace device

std::unique_ptr<DeviceVlasov> DeviceVlasov::make(const DeviceVlasovOptions& options) {
  switch (10 * options.cdim + options.vdim) {
    case 11:
      return device::make_device_vlasov<1, 1>(options);
    case 12:
      return device::make_device_vlasov<1, 2>(options);
    case 13:
      return device::make_device_vlasov<1, 3>(options);
    case 22:
      return device::make_device_vlasov<2, 2>(options);
    case 23:
      return device::make_device_vlasov<2, 3>(options);
    case 33:
      return device::make_device_vlasov<3, 3>(options);
    default:
      return nullptr;
  }
}

double DeviceVlasov::bytes(const DeviceVlasovOptions& options) {
  switch (10 * options.cdim + options.vdim) {
    case 11:
      return device::device_vlasov_bytes<1, 1>(options);
    case 12:
      return device::device_vlasov_bytes<1, 2>(options);
    case 13:
      return device::device_vlasov_bytes<1, 3>(options);
    case 22:
      return device::device_vlasov_bytes<2, 2>(options);
    case 23:
      return device::device_vlasov_bytes<2, 3>(options);
    case 33:
      return device::device_vlasov_bytes<3, 3>(options);
    default:
      return -1;
  }
}

}  // namespace quintet::kinetics

quintet::kinetics::DeviceVlasov* quintet_make_device_vlasov(
    const quintet::kinetics::DeviceVlasovOptions& options) {
  return quintet::kinetics::DeviceVlasov::make(options).release();
}

double quintet_device_vlasov_bytes(const quintet::kinetics::DeviceVlasovOptions& options) {
  return quintet::kinetics::DeviceVlasov::bytes(options);
}
