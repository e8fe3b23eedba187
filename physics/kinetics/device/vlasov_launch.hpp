#pragma once

#include <Kokkos_Core.hpp>

/// How the kernels of DeviceVlasov are started.
namespace quintet::kinetics::device {

using Space = Kokkos::DefaultExecutionSpace;
using DeviceArray = Kokkos::View<double*, Kokkos::LayoutRight, Space::memory_space>;
using ByteArray = Kokkos::View<char*, Kokkos::LayoutRight, Space::memory_space>;
using HostNumbers = Kokkos::View<const double*, Kokkos::LayoutRight, Kokkos::HostSpace,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A team as kernels see it.
template <class Barrier>
struct Team {
  int league, rank, size;
  double* scratch;
  Barrier wait;
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const { wait(); }
};

#ifdef KOKKOS_ENABLE_CUDA
struct CudaBarrier {
  __device__ void operator()() const { __syncthreads(); }
};
template <int Threads, int Blocks, class Kernel>
__global__ void __launch_bounds__(Threads, Blocks) run_teams(const __grid_constant__ Kernel kernel) {
  extern __shared__ __align__(16) double team_scratch[];
  kernel(Team<CudaBarrier>{static_cast<int>(blockIdx.x),
                           static_cast<int>(threadIdx.x),
                           static_cast<int>(blockDim.x),
                           team_scratch,
                           {}});
}
#endif

/// kernel(team) for `league` teams of `size` <= Threads threads with Kernel::scratch doubles; registers such
/// that `Blocks` teams fit on a multiprocessor.
///
/// CUDA is called by its own name because Kokkos grants a team 48 KB of shared memory of the 227 KB there
/// are.
template <int Threads, int Blocks, class Kernel>
void launch_teams(const char* label, int league, int size, const Kernel& kernel) {
  constexpr int bytes = 8 * Kernel::scratch;
#ifdef KOKKOS_ENABLE_CUDA
  static_cast<void>(label);
  static const bool ready = [] {
    return cudaFuncSetAttribute(run_teams<Threads, Blocks, Kernel>,
                                cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) == cudaSuccess;
  }();
  if (!ready) Kokkos::abort("the device has too little shared memory for a kernel of the Vlasov equation");
  run_teams<Threads, Blocks, Kernel><<<league, size, bytes, Space().cuda_stream()>>>(kernel);
#else
  static_cast<void>(size);
  constexpr int level = 1;  // of scratch: the larger one
  Kokkos::TeamPolicy<Space> policy(league, 1);
  policy.set_scratch_size(level, Kokkos::PerTeam(bytes + 64));
  Kokkos::parallel_for(
      label, policy, KOKKOS_LAMBDA(const typename Kokkos::TeamPolicy<Space>::member_type& member) {
        const auto barrier = [&member] { member.team_barrier(); };
        kernel(Team<decltype(barrier)>{member.league_rank(), member.team_rank(), member.team_size(),
                                       static_cast<double*>(member.team_scratch(level).get_shmem(bytes)),
                                       barrier});
      });
#endif
}

/// body(i) for i < n.
template <class Body>
void for_all(const char* label, std::ptrdiff_t n, const Body& body) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<std::ptrdiff_t>>(0, n), body);
}

}  // namespace quintet::kinetics::device
