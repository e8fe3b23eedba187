#pragma once

#include <Kokkos_Core.hpp>

/// Lanes that share the work on one atom: the lanes of a warp on a GPU, the one thread of a core elsewhere.
namespace quintet::device {

/// How a kernel is cut for an execution space: `lanes` share an atom, `teams` atoms share a block.
template <class Space>
struct Cut {
  static constexpr int lanes = 1, team = 1;
};
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct Cut<Kokkos::Cuda> {
  static constexpr int lanes = 32, team = 4;
};
#endif

/// *to += value, by whoever comes first. (Kokkos 4.6 makes a loop of comparisons of it on GPUs: five times
/// the time of a whole kernel.)
template <class T>
KOKKOS_INLINE_FUNCTION void add_atomically(T* to, T value) {
#ifdef __CUDA_ARCH__
  atomicAdd(to, value);
#else
  Kokkos::atomic_add(to, value);
#endif
}

/// The lanes at work on one atom. Members must be called by all of them alike.
template <int width>
struct Lanes {
  /// Index of this lane.
  KOKKOS_INLINE_FUNCTION static int own() {
#ifdef __CUDA_ARCH__
    if constexpr (width > 1) return threadIdx.x;
#endif
    return 0;
  }
  /// Make what lanes wrote before visible to all.
  KOKKOS_INLINE_FUNCTION static void sync() {
#ifdef __CUDA_ARCH__
    if constexpr (width > 1) __syncwarp();
#endif
  }
  /// Sum over the lanes, on all of them; the same order always.
  template <class T>
  KOKKOS_INLINE_FUNCTION static T sum(T value) {
#ifdef __CUDA_ARCH__
    if constexpr (width > 1)
      for (int step = width / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
#endif
    return value;
  }
  /// Sum over lanes 2 k and 2 k + 1, on both.
  template <class T>
  KOKKOS_INLINE_FUNCTION static T sum_of_pair(T value) {
#ifdef __CUDA_ARCH__
    if constexpr (width > 1) value += __shfl_xor_sync(0xffffffffu, value, 1);
#endif
    return value;
  }
  /// Bit c is whether lane c's value is true.
  KOKKOS_INLINE_FUNCTION static unsigned which(bool value) {
#ifdef __CUDA_ARCH__
    if constexpr (width > 1) return __ballot_sync(0xffffffffu, value);
#endif
    return value ? 1u : 0u;
  }
  /// The lowest bit of a set that is not empty.
  KOKKOS_INLINE_FUNCTION static int first(unsigned set) {
#ifdef __CUDA_ARCH__
    return __ffs(static_cast<int>(set)) - 1;
#else
    return __builtin_ffs(set) - 1;
#endif
  }
  /// keep(c, place) for those c of [0, n) with test(c), place counting them in order; returns their number.
  template <class Test, class Keep>
  KOKKOS_INLINE_FUNCTION static int select(int n, const Test& test, const Keep& keep) {
    int found = 0;
#ifdef __CUDA_ARCH__
    if constexpr (width > 1) {
      const int lane = own();
      for (int base = 0; base < n; base += width) {
        const int c = base + lane;
        const bool stays = c < n && test(c);
        const unsigned all = __ballot_sync(0xffffffffu, stays);
        if (stays) keep(c, found + __popc(all & ((1u << lane) - 1)));
        found += __popc(all);
      }
      __syncwarp();
    } else
#endif
      for (int c = 0; c < n; ++c)
        if (test(c)) keep(c, found++);
    return found;
  }
};

/// Most scratch of a block (bytes): what every GPU has without being asked for more.
inline constexpr int scratch_limit = 48 * 1024 - 512;

/// Run kernel(i) with all lanes for i in [0, n). The kernel has `scratch_bytes()` and
/// `operator()(int i, char* scratch)`; scratch is the atom's own.
template <class Space, class Kernel>
struct ByAtomFunctor {
  using Member = typename Kokkos::TeamPolicy<Space>::member_type;
  Kernel kernel;
  int n;
  int bytes, level;  ///< of scratch
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int i = member.league_rank() * member.team_size() + member.team_rank();
    char* scratch =
        bytes == 0 ? nullptr : static_cast<char*>(member.thread_scratch(level).get_shmem_aligned(bytes, 16));
    if (i < n) kernel(i, scratch);
  }
};

template <class Space, class Kernel>
void for_each_atom(const Space& space, const char* label, int n, const Kernel& kernel,
                   int team = Cut<Space>::team) {
  if (n <= 0) return;
  using Policy = Kokkos::TeamPolicy<Space>;
  const int bytes = (kernel.scratch_bytes() + 15) / 16 * 16;
  // Level 0 is a GPU's on-chip memory, taken if one atom's scratch fits. A host has none, and its level may
  // be smaller.
  const int level = Cut<Space>::lanes > 1 && bytes + 16 <= scratch_limit ? 0 : 1;
  while (level == 0 && team > 1 && team * (bytes + 16) > scratch_limit) --team;
  Policy policy(space, (n + team - 1) / team, team, Cut<Space>::lanes);
  if (bytes > 0) policy.set_scratch_size(level, Kokkos::PerThread(bytes + 16));
  Kokkos::parallel_for(label, policy, ByAtomFunctor<Space, Kernel>{kernel, n, bytes, level});
}

}  // namespace quintet::device
