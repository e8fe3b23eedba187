#include "surrogates/sequence/network/torch/torch_network.hpp"

#include "io/log/error.hpp"

#ifdef LATE_QUINTET_SEQUENCE_TORCH_LIBRARY
#include <type_traits>

#include "io/runtime/late_library.hpp"
#include "io/runtime/library_threads.hpp"
#include "surrogates/sequence/network/torch/library/torch_library.hpp"
#endif

namespace quintet::sequence {

#ifdef LATE_QUINTET_SEQUENCE_TORCH_LIBRARY

bool has_torch() { return true; }

template <class Real>
std::unique_ptr<Passes<Real>> make_torch_network(const Architecture& architecture, int steps) {
  constexpr bool is_float = std::is_same_v<Real, float>;
  void* const function =
      late_function(LATE_QUINTET_SEQUENCE_TORCH_LIBRARY,
                    is_float ? "quintet_torch_network_float" : "quintet_torch_network_double");
  auto* const make = reinterpret_cast<Passes<Real>* (*)(const Architecture&, int, int)>(function);
  return std::unique_ptr<Passes<Real>>(make(architecture, steps, library_threads()));
}

#else

bool has_torch() { return false; }

template <class Real>
std::unique_ptr<Passes<Real>> make_torch_network(const Architecture& /*architecture*/, int /*steps*/) {
  throw InputError("engine: torch: this program was built without LibTorch; expected 'kernels'");
}

#endif

template std::unique_ptr<Passes<float>> make_torch_network<float>(const Architecture&, int);
template std::unique_ptr<Passes<double>> make_torch_network<double>(const Architecture&, int);

}  // namespace quintet::sequence
