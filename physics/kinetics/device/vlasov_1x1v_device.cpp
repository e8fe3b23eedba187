#include "physics/kinetics/device/vlasov_engine.hpp"

namespace quintet::kinetics::device {

template std::unique_ptr<DeviceVlasov> make_device_vlasov<1, 1>(const DeviceVlasovOptions&);
template double device_vlasov_bytes<1, 1>(const DeviceVlasovOptions&);

}  // namespace quintet::kinetics::device
