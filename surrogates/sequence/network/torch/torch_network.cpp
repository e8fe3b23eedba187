#include "surrogates/sequence/network/torch/torch_network.hpp"

#include "io/log/error.hpp"

#ifdef LATE_QUINTET_SEQUENCE_TORCH_LIBRARY
#include <type_traits>

#include "io/runtime/late_library.hpp"
#include "io/runtime/library_threads.hpp"
#include "surrogates/sequence/network/torch/library/torch_library.hpp"
#else
#include <fmt/format.h>

#include "io/runtime/with_torch.hpp"
#endif

namespace quintet::sequence {

#ifdef LATE_QUINTET_SEQUENCE_TORCH_LIBRARY

namespace {

template <class Function>
Function* of_library(const char* name) {
  return reinterpret_cast<Function*>(late_function(LATE_QUINTET_SEQUENCE_TORCH_LIBRARY, name));
}

}  // namespace

bool has_torch() { return true; }

Device device_for_networks(Device wanted) {
  // What needs no GPU does not ask, and so does not load, LibTorch.
  const bool asks = wanted == Device::gpu || wanted == Device::automatic;
  return device_with_torch(wanted, asks && of_library<bool()>("quintet_torch_has_gpus")());
}

void set_torch_threads(int threads) {
  set_library_threads(threads);
  of_library<void(int)>("quintet_torch_threads")(threads);
}

template <class Real>
std::unique_ptr<Passes<Real>> make_torch_network(const Architecture& architecture, int steps,
                                                 const DeviceSession& device, Real* values, Real* gradient) {
  constexpr bool is_float = std::is_same_v<Real, float>;
  auto* const make =
      of_library<Passes<Real>*(const Architecture&, int, const DeviceSession&, Real*, Real*, int)>(
          is_float ? "quintet_torch_network_float" : "quintet_torch_network_double");
  return std::unique_ptr<Passes<Real>>(
      make(architecture, steps, device, values, gradient, library_threads()));
}

#else

namespace {

InputError without_torch() {
  return InputError(fmt::format(
      "engine: torch: this program was built without LibTorch; expected 'kernels', or a build with {}",
      with_torch));
}

}  // namespace

bool has_torch() { return false; }

Device device_for_networks(Device wanted) {
  QUINTET_CHECK(wanted == Device::cpu || wanted == Device::automatic,
                "device: networks run on a device by LibTorch, without which this program was built; "
                "expected cpu, or a build with {}",
                with_torch);
  return Device::cpu;
}

void set_torch_threads(int /*threads*/) { throw without_torch(); }

template <class Real>
std::unique_ptr<Passes<Real>> make_torch_network(const Architecture& /*architecture*/, int /*steps*/,
                                                 const DeviceSession& /*device*/, Real* /*values*/,
                                                 Real* /*gradient*/) {
  throw without_torch();
}

#endif

template std::unique_ptr<Passes<float>> make_torch_network(const Architecture&, int, const DeviceSession&,
                                                           float*, float*);
template std::unique_ptr<Passes<double>> make_torch_network(const Architecture&, int, const DeviceSession&,
                                                            double*, double*);

}  // namespace quintet::sequence
