#include "surrogates/resident/late/library/resident_library.hpp"

#include <ATen/Parallel.h>

#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/resident/device_parameters.hpp"

namespace quintet {

namespace {

template <class Real>
ParameterStore<Real>* make(const StoreRequest& request, const DeviceSession& device, int threads) {
  at::set_num_threads(threads);
  return device_parameters<Real>(TorchDevice(device))(request).release();
}

}  // namespace

ParameterStore<float>* quintet_resident_arrays_float(const StoreRequest& request, const DeviceSession& device,
                                                     int threads) {
  return make<float>(request, device, threads);
}
ParameterStore<double>* quintet_resident_arrays_double(const StoreRequest& request,
                                                       const DeviceSession& device, int threads) {
  return make<double>(request, device, threads);
}

}  // namespace quintet
