#pragma once

#include "io/device/device_fwd.hpp"
#include "surrogates/training/stores/parameter_store.hpp"

/// Entry of libquintet_resident.so: makes new DeviceParameters, which the caller owns. It belongs to the
/// program that it was built with: both know the same classes.
namespace quintet {

extern "C" {
[[nodiscard]] ParameterStore<float>* quintet_resident_arrays_float(const StoreRequest& request,
                                                                   const DeviceSession& device, int threads);
[[nodiscard]] ParameterStore<double>* quintet_resident_arrays_double(const StoreRequest& request,
                                                                     const DeviceSession& device,
                                                                     int threads);
}

}  // namespace quintet
