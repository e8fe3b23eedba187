#include "bridges/c/kernels.hpp"

#include <atomic>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/kernels/execution.hpp"

namespace quintet::bridges {

namespace {

std::mutex& gate() {
  static std::mutex mutex;
  return mutex;
}

/// Whether Kokkos has ended since this library met it; handles stay refused then. Of a Kokkos 3.4 that is
/// started anew, the first reduction (of the neighbour search) overwrites memory of others; newer ones refuse
/// to start.
std::atomic<bool> was_ended = false;

int threads() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  const int wanted = text == nullptr ? 1 : std::atoi(text);
  return wanted > 0 ? wanted : 1;
}

void initialize() {
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(Kokkos::InitializationSettings().set_num_threads(threads()).set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.num_threads = threads();
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
}

}  // namespace

bool kernels_are_up() { return Kokkos::is_initialized() && !was_ended; }

void require_kernels() {
  if (!kernels_are_up())
    throw ResourceError(
        "Kokkos, which this library works with, was ended by the program that uses it: end Kokkos after the "
        "last evaluation");
}

void start_kernels() {
  static bool is_known = false;  // started here, or met in use
  const std::lock_guard lock(gate());
  log::configure({.speaks = false, .quiet = true, .file = ""});  // a library does not print
  if (is_known) return require_kernels();
#if KOKKOS_VERSION >= 30700
  if (Kokkos::is_finalized()) return require_kernels();
#endif
  if (!kernels_are_up()) initialize();
  Kokkos::push_finalize_hook([] { was_ended = true; });
  is_known = true;
}

std::unique_lock<std::mutex> kernels_in_use(Kernels kernels) {
  if (std::is_same_v<Exec, Kokkos::Serial> && kernels == Kernels::loops) return {};
  return std::unique_lock(gate());
}

}  // namespace quintet::bridges
