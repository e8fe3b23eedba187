#pragma once

#include <mutex>

namespace quintet::bridges {

/// Have Kokkos up: as the host has it, or started here, once, with one thread unless OMP_NUM_THREADS says
/// more. What was started here stays up until the process ends: a second start is not to be had from Kokkos
/// 4, and a host that meets Kokkos in use may have begun to use it as well. Throws ResourceError where the
/// host has ended it.
void start_kernels();

/// Held while kernels run where the back end serves one thread of the caller at a time (OpenMP); free where
/// it is Serial.
[[nodiscard]] std::unique_lock<std::mutex> kernels_in_use();

}  // namespace quintet::bridges
