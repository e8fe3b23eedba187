#include "surrogates/sequence/network/torch/torch_network.hpp"

#include "io/log/error.hpp"

#ifdef QUINTET_WITH_TORCH
#include <filesystem>
#include <system_error>
#include <type_traits>

#include <dlfcn.h>

#include "io/runtime/library_threads.hpp"
#include "surrogates/sequence/network/torch/library/torch_library.hpp"
#endif

namespace quintet::sequence {

#ifdef QUINTET_WITH_TORCH

namespace {

namespace fs = std::filesystem;

/// In lib beside the folder of the program, or where the build made it.
fs::path library_path() {
  std::error_code error;
  const auto program = fs::read_symlink("/proc/self/exe", error);
  const auto beside = program.parent_path().parent_path() / "lib" / "libquintet_sequence_torch.so";
  return fs::exists(beside, error) ? beside : fs::path(QUINTET_SEQUENCE_TORCH_LIBRARY);
}

/// Loaded at the first call and kept. Errors: ResourceError.
void* function_of_library(const char* name) {
  static void* const library = [] {
    const auto path = library_path();
    void* const loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr)
      throw ResourceError(fmt::format("engine: torch: {} cannot be loaded: {}", path.string(), dlerror()));
    return loaded;
  }();
  void* const function = dlsym(library, name);
  if (function == nullptr)
    throw ResourceError(fmt::format("engine: torch: {}: was it built with this program?", dlerror()));
  return function;
}

}  // namespace

bool has_torch() { return true; }

template <class Real>
std::unique_ptr<Passes<Real>> make_torch_network(const Architecture& architecture, int steps) {
  constexpr bool is_float = std::is_same_v<Real, float>;
  void* const function =
      function_of_library(is_float ? "quintet_torch_network_float" : "quintet_torch_network_double");
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
