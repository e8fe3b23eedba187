#pragma once

#include <mutex>

namespace quintet::bridges {

/// Have Kokkos up: as the host has it, or started here, once, with one thread unless OMP_NUM_THREADS says
/// more. What was started here stays up until the process ends: a second start is not to be had from Kokkos
/// 4, and a host that meets Kokkos in use may have begun to use it as well. Throws ResourceError where the
/// host has ended it.
void start_kernels();
/// Throws ResourceError where Kokkos is not up, since the host has ended it.
void require_kernels();
/// Whether it is: what holds Kokkos's memory may not be destroyed where it is not.
[[nodiscard]] bool kernels_are_up();

/// What kernels ask of their back end.
enum class Kernels {
  loops,      ///< parallel_for alone
  reductions  ///< parallel_reduce too, whose work space all threads of a program share (Kokkos 3, Serial)
};
/// Held while kernels run that the back end runs for one thread of the host at a time: all of OpenMP's,
/// reductions of Serial's.
[[nodiscard]] std::unique_lock<std::mutex> kernels_in_use(Kernels kernels);

}  // namespace quintet::bridges
