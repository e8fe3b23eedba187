#pragma once

#include "physics/electronic/device/device_submatrices.hpp"
#include "physics/electronic/matrix/gather.hpp"

namespace quintet::electronic {

/// Cut submatrices from this matrix from now on: its upper triangle and the mirror of that go to the device.
void set_matrix(DeviceSubmatrices& device, const GatheredMatrix& a);

}  // namespace quintet::electronic
