#include "surrogates/resident/late/late_parameters.hpp"

#include <memory>
#include <type_traits>

#include "io/device/device.hpp"
#include "io/log/error.hpp"

#ifdef LATE_QUINTET_RESIDENT_LIBRARY
#include "io/runtime/late_library.hpp"
#include "io/runtime/library_threads.hpp"
#include "surrogates/resident/late/library/resident_library.hpp"
#else
#include <fmt/format.h>

#include "io/runtime/with_torch.hpp"
#endif

namespace quintet {

template <class Real>
ResidentMaker<Real> late_device_parameters(const DeviceSession& session) {
  if (session.is_cpu()) return {};
#ifdef LATE_QUINTET_RESIDENT_LIBRARY
  return [session](const StoreRequest& request) {
    constexpr bool is_float = std::is_same_v<Real, float>;
    using Make = ParameterStore<Real>*(const StoreRequest&, const DeviceSession&, int);
    auto* const make = reinterpret_cast<Make*>(
        late_function(LATE_QUINTET_RESIDENT_LIBRARY,
                      is_float ? "quintet_resident_arrays_float" : "quintet_resident_arrays_double"));
    return std::unique_ptr<ParameterStore<Real>>(make(request, session, library_threads()));
  };
#else
  throw InputError(fmt::format(
      "device: trainings run on a device by LibTorch; expected cpu, or a build with {}", with_torch));
#endif
}

template ResidentMaker<float> late_device_parameters(const DeviceSession&);
template ResidentMaker<double> late_device_parameters(const DeviceSession&);

}  // namespace quintet
