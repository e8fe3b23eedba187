#include "physics/kinetics/device/vlasov_engine.hpp"

namespace quintet::kinetics::device {

template std::unique_ptr<DeviceVlasov> make_device_vlasov<3, 3>(const DeviceVlasovOptions&);
template double device_vlasov_bytes<3, 3>(const DeviceVlasovOptions&);

}  // namespace quintet::kinetics::device
