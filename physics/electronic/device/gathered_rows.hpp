#pragma once

#include "physics/electronic/device/device_series.hpp"
#include "physics/electronic/matrix/gather.hpp"

namespace quintet::electronic {

/// Cut submatrices from this matrix from now on: its upper triangle and the mirror of that go to the device.
void set_matrix(DeviceSeries& device, const GatheredMatrix& a);

}  // namespace quintet::electronic
