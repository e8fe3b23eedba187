#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include "physics/kinetics/device/vlasov_device.hpp"

/// How the kernels of DeviceVlasov are started.
namespace quintet::kinetics::device {

using Space = Kokkos::DefaultExecutionSpace;
using DeviceArray = Kokkos::View<double*, Kokkos::LayoutRight, Space::memory_space>;
#ifdef KOKKOS_ENABLE_CUDA
using Staging = Kokkos::CudaHostPinnedSpace;
#else
using Staging = Kokkos::HostSpace;
#endif
/// Numbers of the host's on their way, which the device copies by itself.
using StagedArray = Kokkos::View<double*, Kokkos::LayoutRight, Staging>;
using ByteArray = Kokkos::View<char*, Kokkos::LayoutRight, Space::memory_space>;
using HostNumbers = Kokkos::View<const double*, Kokkos::LayoutRight, Kokkos::HostSpace,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Where arrays of the device can be read by the host, they need no staging.
inline constexpr bool is_host =
    Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, Space::memory_space>::accessible;

/// Not initialised.
inline DeviceArray device_array(const char* label, std::ptrdiff_t n) {
  return DeviceArray(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing),
                     static_cast<std::size_t>(n));
}
/// The first n numbers.
inline void to_device(const DeviceArray& to, const double* from, std::size_t n) {
  Kokkos::deep_copy(Kokkos::subview(to, std::pair<std::size_t, std::size_t>(0, n)), HostNumbers(from, n));
}
inline void to_host(double* to, const DeviceArray& from, std::size_t n) {
  using Out =
      Kokkos::View<double*, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::deep_copy(Out(to, n), Kokkos::subview(from, std::pair<std::size_t, std::size_t>(0, n)));
}

/// Traces on either side of an edge, on the device, and where MPI finds them: there, or in copies on the
/// host.
struct HaloArrays {
  DeviceArray own, outside;
  StagedArray staged_own, staged_outside;

  HaloArrays() = default;
  HaloArrays(const char* label, std::size_t n, bool directly) : HaloArrays(label, n, n, directly) {}
  HaloArrays(const char* label, std::size_t n, std::size_t n_outside, bool directly)
      : own(std::string(label) + "_own", n), outside(std::string(label) + "_outside", n_outside) {
    if (directly) return;
    staged_own = StagedArray("staged_own", n);
    staged_outside = StagedArray("staged_outside", n);
  }
  [[nodiscard]] DeviceVlasov::Halo seen() const {
    return is_staged() ? DeviceVlasov::Halo{staged_own.data(), staged_outside.data()}
                       : DeviceVlasov::Halo{own.data(), outside.data()};
  }
  /// Behind all that was asked for before: to, and from, where MPI finds it.
  void leave() const {
    if (is_staged()) Kokkos::deep_copy(Space(), staged_own, own);
  }
  void arrive() const {
    if (is_staged()) Kokkos::deep_copy(Space(), outside, staged_outside);
  }
  [[nodiscard]] bool is_staged() const { return staged_own.data() != nullptr; }
};

/// A plain struct, as it is.
template <class Plain>
ByteArray device_copy(const char* label, const Plain& plain) {
  ByteArray there(std::string(label), sizeof plain);
  const auto mirror = Kokkos::create_mirror_view(there);
  std::memcpy(mirror.data(), &plain, sizeof plain);
  Kokkos::deep_copy(there, mirror);
  return there;
}

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

#ifdef KOKKOS_ENABLE_CUDA
/// Teams of a kernel that a multiprocessor holds at a time, 0 where there is too little shared memory for
/// one. Where a kernel asks for room, the driver is told how much `Blocks` teams need; else it goes by what
/// one has.
template <int Threads, int Blocks, class Kernel>
int make_room_for_teams() {
  static const int n_teams = [] {
    constexpr int bytes = 8 * Kernel::scratch;
    constexpr auto run = run_teams<Threads, Blocks, Kernel>;
    int n = 0;
    bool ok = cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) == cudaSuccess;
    if constexpr (requires { Kernel::asks_for_room; }) {
      int device = 0, there = 1, reserved = 0;
      ok = ok && cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&there, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) ==
               cudaSuccess &&
           cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device) == cudaSuccess;
      const int percent = std::min(100, (100 * Blocks * (bytes + reserved) + there - 1) / there);
      ok = ok &&
           cudaFuncSetAttribute(run, cudaFuncAttributePreferredSharedMemoryCarveout, percent) == cudaSuccess;
    }
    ok = ok && cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, run, Threads, bytes) == cudaSuccess;
    if (!ok) static_cast<void>(cudaGetLastError());  // a refusal must not fail later calls
    return ok ? n : 0;
  }();
  return n_teams;
}
#endif

/// Whether `Blocks` teams of the kernel are at work on a multiprocessor at a time, as launch_teams() has
/// them.
template <int Threads, int Blocks, class Kernel>
bool teams_fit() {
#ifdef KOKKOS_ENABLE_CUDA
  return make_room_for_teams<Threads, Blocks, Kernel>() >= Blocks;
#else
  return true;
#endif
}

#ifndef KOKKOS_ENABLE_CUDA
/// Teams of one member each.
template <class Kernel>
void run_teams(const char* label, int league, const Kernel& kernel) {
  constexpr int bytes = 8 * Kernel::scratch, level = 1;  // of scratch: the larger one
  Kokkos::TeamPolicy<Space> policy(league, 1);
  policy.set_scratch_size(level, Kokkos::PerTeam(bytes + 64));
  Kokkos::parallel_for(
      label, policy, KOKKOS_LAMBDA(const typename Kokkos::TeamPolicy<Space>::member_type& member) {
        const auto barrier = [&member] { member.team_barrier(); };
        kernel(Team<decltype(barrier)>{member.league_rank(), member.team_rank(), member.team_size(),
                                       static_cast<double*>(member.team_scratch(level).get_shmem(bytes)),
                                       barrier});
      });
}
#endif

/// kernel(team) for `league` teams of `size` <= Threads threads with Kernel::scratch doubles; registers such
/// that `Blocks` teams fit on a multiprocessor.
///
/// CUDA is called by its own name because Kokkos grants a team 48 KB of shared memory of the 227 KB there
/// are.
template <int Threads, int Blocks, class Kernel>
void launch_teams(const char* label, int league, int size, const Kernel& kernel) {
#ifdef KOKKOS_ENABLE_CUDA
  static_cast<void>(label);
  if (make_room_for_teams<Threads, Blocks, Kernel>() == 0)
    Kokkos::abort("the device has too little shared memory for a kernel of the Vlasov equation");
  constexpr int bytes = 8 * Kernel::scratch;
  run_teams<Threads, Blocks, Kernel><<<league, size, bytes, Space().cuda_stream()>>>(kernel);
#else
  static_cast<void>(size);
  run_teams(label, league, kernel);
#endif
}

/// Sum of the members' values, in all that `team.scratch` holds team.size numbers of, to member 0. Teams have
/// a power of two of members, who all take part.
template <class Team>
KOKKOS_FORCEINLINE_FUNCTION double team_sum(const Team& team, double value) {
  team.barrier();
  team.scratch[team.rank] = value;
  team.barrier();
  for (int half = team.size / 2; half > 0; half /= 2) {
    if (team.rank < half) team.scratch[team.rank] += team.scratch[team.rank + half];
    team.barrier();
  }
  return team.scratch[0];
}

/// body(i) for i < n.
template <class Body>
void for_all(const char* label, std::ptrdiff_t n, const Body& body) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<std::ptrdiff_t>>(0, n), body);
}

/// A place in the order of what the device was asked for: the host may wait for it without waiting for what
/// was asked for later. Other spaces than CUDA's wait for all.
class Mark {
 public:
  Mark() = default;
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
#ifdef KOKKOS_ENABLE_CUDA
  ~Mark() {
    if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
  }
  /// Behind all that was asked for so far.
  void set() {
    if (event_ == nullptr) check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    check(cudaEventRecord(event_, Space().cuda_stream()));
  }
  /// Until the device has come there; at once where nothing was set.
  void wait() const {
    if (event_ != nullptr) check(cudaEventSynchronize(event_));
  }

 private:
  static void check(cudaError_t error) {
    if (error != cudaSuccess)
      throw std::runtime_error(std::string("CUDA, at an event: ") + cudaGetErrorString(error));
  }
  cudaEvent_t event_ = nullptr;
#else
  void set() {}
  void wait() const { Space().fence(); }
#endif
};

/// First n numbers of a View.
template <class View>
auto first_of(const View& view, std::size_t n) {
  return Kokkos::subview(view, std::pair<std::size_t, std::size_t>(0, n));
}

/// Numbers on their way between the host and an array of the device, by memory that the device copies by
/// itself.
class Passage {
 public:
  /// At most n numbers.
  void reserve(std::size_t n) {
    staged_ = StagedArray(Kokkos::view_alloc(std::string("passage"), Kokkos::WithoutInitializing), n);
  }

  /// to[i] = from[i], i < n. `from` has been read when this returns; the device goes on when it is there.
  void send(const DeviceArray& to, const double* from, std::size_t n) {
    mark_.wait();  // what was sent before has left
    std::memcpy(staged_.data(), from, n * sizeof(double));
    Kokkos::deep_copy(Space(), first_of(to, n), first_of(staged_, n));
    mark_.set();
  }
  /// Begin to bring the first n numbers.
  void fetch(const DeviceArray& from, std::size_t n) {
    n_ = n;
    Kokkos::deep_copy(Space(), first_of(staged_, n), first_of(from, n));
    mark_.set();
  }
  /// Numbers fetched last, valid until the next fetch(). Waits for them.
  [[nodiscard]] std::span<const double> fetched() const {
    mark_.wait();
    return {staged_.data(), n_};
  }

 private:
  StagedArray staged_;
  std::size_t n_ = 0;
  Mark mark_;
};

}  // namespace quintet::kinetics::device
