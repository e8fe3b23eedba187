#include "surrogates/resident/late/library/resident_library.hpp"

#include <ATen/Parallel.h>

#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/resident/device_parameters.hpp"

namespace quintet {

namespace {

template <class Real>
ResidentArrays<Real>* make(const ResidentRequest& request, const DeviceSession& device, int threads) {
  at::set_num_threads(threads);
  return device_parameters<Real>(TorchDevice(device))(request).release();
}

}  // namespace

ResidentArrays<float>* quintet_resident_arrays_float(const ResidentRequest& request,
                                                     const DeviceSession& device, int threads) {
  return make<float>(request, device, threads);
}
ResidentArrays<double>* quintet_resident_arrays_double(const ResidentRequest& request,
                                                       const DeviceSession& device, int threads) {
  return make<double>(request, device, threads);
}

}  // namespace quintet
