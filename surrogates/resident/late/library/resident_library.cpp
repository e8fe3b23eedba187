#include "surrogates/resident/late/library/resident_library.hpp"

#include <ATen/Parallel.h>

#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/resident/device_parameters.hpp"

namespace quintet {

namespace {

template <class Real>
ResidentArrays<Real>* make(const Comm& comm, const FlatLayout& layout, const OptimiserOptions& optimiser,
                           const ParallelOptions& parallel, const DeviceSession& device, int threads) {
  at::set_num_threads(threads);
  return device_parameters<Real>(TorchDevice(device))(comm, layout, optimiser, parallel).release();
}

}  // namespace

ResidentArrays<float>* quintet_resident_arrays_float(const Comm& comm, const FlatLayout& layout,
                                                     const OptimiserOptions& optimiser,
                                                     const ParallelOptions& parallel,
                                                     const DeviceSession& device, int threads) {
  return make<float>(comm, layout, optimiser, parallel, device, threads);
}
ResidentArrays<double>* quintet_resident_arrays_double(const Comm& comm, const FlatLayout& layout,
                                                       const OptimiserOptions& optimiser,
                                                       const ParallelOptions& parallel,
                                                       const DeviceSession& device, int threads) {
  return make<double>(comm, layout, optimiser, parallel, device, threads);
}

}  // namespace quintet
