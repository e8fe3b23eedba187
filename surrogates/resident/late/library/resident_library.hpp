#pragma once

#include "io/device/device.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/training/resident_arrays.hpp"

/// Entry of libquintet_resident.so: makes new DeviceParameters, which the caller owns. It belongs to the
/// program that it was built with: both know the same classes.
namespace quintet {

extern "C" {
[[nodiscard]] ResidentArrays<float>* quintet_resident_arrays_float(const ResidentRequest& request,
                                                                   const DeviceSession& device, int threads);
[[nodiscard]] ResidentArrays<double>* quintet_resident_arrays_double(const ResidentRequest& request,
                                                                     const DeviceSession& device,
                                                                     int threads);
}

}  // namespace quintet
