#pragma once

#include <Kokkos_Core.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <cuda_pipeline.h>
#endif

#include "physics/kinetics/advection/flux.hpp"
#include "physics/kinetics/basis/phase_traits.hpp"

/// What all kernels of DeviceVlasov share: cells, forces, weights of a face. The formulas are those of
/// advection/vlasov_kernel.hpp, for one cell instead of a pack.

/// Lambdas of kernels that melt into their callers on a GPU, where a call would put registers into memory; on
/// the host, where these kernels only serve tests, they would take long to compile. QUINTET_DEVICE_LOOP: the
/// loop that follows stays one, so that code is small.
#ifdef __CUDACC__
#define QUINTET_DEVICE_INLINE __attribute__((always_inline))
#define QUINTET_DEVICE_LOOP _Pragma("unroll 1")
#else
#define QUINTET_DEVICE_INLINE
#define QUINTET_DEVICE_LOOP
#endif

namespace quintet::kinetics::device {

inline constexpr int lanes = 32;  ///< velocity cells that lie side by side

/// body(Int<0>{}), ..., body(Int<N - 1>{}).
template <int N, class Body>
KOKKOS_FORCEINLINE_FUNCTION constexpr void unroll(Body&& body) {
  [&]<int... I>(std::integer_sequence<int, I...>) QUINTET_DEVICE_INLINE { (body(Int<I>{}), ...); }
  (std::make_integer_sequence<int, N>{});
}

/// a b + c, rounded once where processors can. Compilers fuse as they see fit, which is not the same in each
/// kernel; what has to have the same bits in two of them is written with this.
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double fused(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(a, b, c);
#elif defined(__FMA__)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}
/// sum += a b, as fused().
KOKKOS_FORCEINLINE_FUNCTION void add_product(double& sum, double a, double b) { sum = fused(a, b, sum); }

/// 1-D tables, by template arguments alone: device code cannot index static tables.
template <int K>
inline constexpr double shift_of = K <= max_degree ? legendre_tables.shift[K <= max_degree ? K : 0] : 0;
template <int K>
inline constexpr double end_of = legendre_tables.end[K];
template <int K, int M>
inline constexpr double derivative_of = legendre_tables.derivative[K][M];

/// The cells of a block. A velocity cell's number is row-major over the directions.
template <class Tr>
struct Cells {
  int n_conf = 0, n_vel = 0, n_packs = 0;
  int nx[Tr::cdim]{}, nv[Tr::vdim]{};
  bool open[Tr::cdim][2]{};
  double rdx[Tr::cdim]{};              ///< 2/dx
  const double* velocity[Tr::vdim]{};  ///< [cell][4]: centre, half width, width over the mean, its inverse
  Flux flux = Flux::upwind;

  /// First mode of a velocity cell; mode m stands m * lanes further.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::ptrdiff_t place(int conf, int cell) const {
    return (std::int64_t{conf} * n_packs + cell / lanes) * (Tr::n_modes * lanes) + cell % lanes;
  }
  /// Configuration cell beside this one, -1 beyond an open edge.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int beside(int conf, int i, int side) const {
    int stride = 1, here = conf;
    for (int d = Tr::cdim - 1; d > i; --d) {
      stride *= nx[d];
      here /= nx[d];
    }
    here %= nx[i];
    if (here == (side < 0 ? 0 : nx[i] - 1))
      return open[i][side > 0] ? -1 : conf - side * (nx[i] - 1) * stride;
    return conf + side * stride;
  }
};

/// One velocity cell.
template <class Tr>
struct CellContext {
  int index[Tr::vdim], step[Tr::vdim];  ///< along each direction; to the next cell's number
  double v[Tr::vdim], half_dv[Tr::vdim], relative[Tr::vdim], stretch[Tr::vdim];

  KOKKOS_FORCEINLINE_FUNCTION CellContext(const Cells<Tr>& cells, int cell) {
    int rest = cell, s = 1;
    unroll<Tr::vdim>([&](auto from_last) QUINTET_DEVICE_INLINE {
      constexpr int d = Tr::vdim - 1 - from_last.value;
      index[d] = rest % cells.nv[d];
      rest /= cells.nv[d];
      step[d] = s;
      s *= cells.nv[d];
      const double* const of = cells.velocity[d] + 4 * index[d];
      v[d] = of[0];
      half_dv[d] = of[1];
      relative[d] = of[2];
      stretch[d] = of[3];
    });
  }
};

/// F = P[a (left f_L + right f_R)] - penalty (f_R - f_L).
struct FaceWeights {
  double left, right, penalty;
};
KOKKOS_FORCEINLINE_FUNCTION FaceWeights weights_of(Flux flux, double mean, double deviation) {
  const double magnitude = mean < 0 ? -mean : mean;
  if (flux == Flux::upwind) {
    const double bound = deviation * (1 - 1e-12);  // as face_weights()
    if (mean >= bound) return {1, 0, 0};
    if (mean <= -bound) return {0, 1, 0};
    return {0.5, 0.5, 0.5 * (magnitude + deviation)};
  }
  return {0.5, 0.5, flux == Flux::central ? 0 : 0.5 * (magnitude + deviation)};
}

/// Sides from which the values on the two faces of a cell across v are made: its own traces and the trace of
/// one cell beside it, the lower one or, where that does not count, the upper; then that of the upper one
/// where both count. Cells that are not there have weight 0.
struct FaceSides {
  bool from_below, from_above;
  double own_low, own_high, first_low, first_high, above;  ///< weights

  KOKKOS_FORCEINLINE_FUNCTION FaceSides(double left, double right, bool has_below, bool has_above)
      : from_below(left != 0 && has_below),
        from_above(right != 0 && has_above),
        own_low(has_below ? right : 0),
        own_high(has_above ? left : 0),
        first_low(from_below ? left : 0),
        first_high(!from_below && from_above ? right : 0),
        above(from_below && from_above ? right : 0) {}
  /// Without that of the upper cell where both count.
  KOKKOS_FORCEINLINE_FUNCTION void weigh(double own_lower, double own_upper, double first, double& low,
                                         double& high) const {
    double lower = 0, upper = 0;
    add_product(lower, own_low, own_lower);
    add_product(lower, first_low, first);
    add_product(upper, own_high, own_upper);
    add_product(upper, first_high, first);
    low = lower;
    high = upper;
  }
};

/// Where the parts of one configuration cell's force stand in an array of doubles: the members of Force
/// (vlasov_kernel.hpp), B only for j != d.
template <class Tr>
struct ForcePlaces {
  static constexpr int n = Tr::n_full, n_b = Tr::vdim * (Tr::vdim - 1);
  static constexpr int a = 0, b = a + Tr::vdim * n * n;  // matrices
  static constexpr int a_mode = b + n_b * n * n;         // for bounds
  static constexpr int b_mode = a_mode + Tr::vdim * n;
  static constexpr int b_spread = b_mode + n_b * n;
  static constexpr int magnetic = b_spread + n_b;
  static constexpr int size = (magnetic + 2) / 2 * 2;  // whole pairs
  /// Number of the pair d, j != d.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static constexpr int pair(int d, int j) {
    return d * (Tr::vdim - 1) + (j < d ? j : j - 1);
  }
};

/// Forces of all configuration cells, one thread a cell and number.
template <class Tr>
struct MakeForces {
  using Places = ForcePlaces<Tr>;
  static constexpr int n = Tr::n_full, vdim = Tr::vdim;
  double rdv[Tr::vdim], half_dv[Tr::vdim];  ///< 2/dv and dv/2 of the mean width
  const double* triple;                     ///< [n, n, n], then greatest [n]
  const double* acceleration;               ///< [n_conf, 6, n]
  double* forces;                           ///< [n_conf, Places::size]

  /// Coefficient m of part p: A_d for p = d < vdim, else the factor of v_j in (v x B)_d.
  KOKKOS_FORCEINLINE_FUNCTION double mode(const double* of, int p, int m) const {
    if (p < vdim) return rdv[p] * of[p * n + m];
    if constexpr (vdim > 1) {
      const int d = (p - vdim) / (vdim - 1), jj = (p - vdim) % (vdim - 1), j = jj < d ? jj : jj + 1;
      // (v x B)_d = v_{d+1} B_{d+2} - v_{d+2} B_{d+1}
      const bool next = (d + 1) % 3 == j;
      return rdv[d] * (next ? 1.0 : -1.0) * of[(3 + (next ? (d + 2) % 3 : (d + 1) % 3)) * n + m];
    }
    return 0;
  }
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    const auto conf = i / Places::size;
    const int k = i % Places::size;
    const double* const of = acceleration + conf * 6 * n;
    double value = 0;
    if (k < Places::a_mode) {
      const int p = k / (n * n), entry = k % (n * n);
      for (int m = 0; m < n; ++m) value += triple[entry * n + m] * mode(of, p, m);
    } else if (k < Places::b_spread) {
      value = mode(of, (k - Places::a_mode) / n, (k - Places::a_mode) % n);
    } else if (k < Places::magnetic) {
      if constexpr (vdim > 1) {
        const int p = k - Places::b_spread, d = p / (vdim - 1), jj = p % (vdim - 1), j = jj < d ? jj : jj + 1;
        for (int m = 0; m < n; ++m) {
          const double x = mode(of, vdim + p, m);
          value += (x < 0 ? -x : x) * triple[n * n * n + m];
        }
        value *= half_dv[j];
      }
    } else {
      for (int m = 3 * n; m < 6 * n; ++m) value = of[m] != 0 ? 1 : value;
    }
    forces[i] = value;
  }
};

/// Weights of the faces across v_D: bounds of a_D there, scaled by 2/dv_D.
template <class Tr>
KOKKOS_FORCEINLINE_FUNCTION FaceWeights force_weights(const CellContext<Tr>& c, Flux flux,
                                                      const double* force, bool magnetic, int D) {
  using Places = ForcePlaces<Tr>;
  double mean = 0, deviation = 0;
  unroll<Tr::n_full>([&](auto m) QUINTET_DEVICE_INLINE {
    double value = force[Places::a_mode + D * Tr::n_full + m.value];
    if (magnetic)
      unroll<Tr::vdim>([&](auto j) QUINTET_DEVICE_INLINE {
        if (j.value != D)
          add_product(value, c.v[j.value],
                      force[Places::b_mode + Places::pair(D, j.value) * Tr::n_full + m.value]);
      });
    constexpr double greatest = Tr::triple.greatest[m.value];
    value *= greatest;
    if constexpr (m.value == 0)
      mean = value;
    else
      deviation += value < 0 ? -value : value;
  });
  if (magnetic)
    unroll<Tr::vdim>([&](auto j) QUINTET_DEVICE_INLINE {
      if (j.value != D)
        add_product(deviation, c.relative[j.value], force[Places::b_spread + Places::pair(D, j.value)]);
    });
  return weights_of(flux, mean, deviation);
}

#ifdef __CUDA_ARCH__
/// Ask for the line of memory that holds *f, into the GPU's last cache.
KOKKOS_FORCEINLINE_FUNCTION void fetch_line(const double* f) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(f));
}
/// Begin to copy two numbers, on a multiple of 16 bytes, into scratch.
KOKKOS_FORCEINLINE_FUNCTION void copy_pair(const double* from, double* to) {
  __pipeline_memcpy_async(to, from, 2 * sizeof(double));
}
#endif
/// Wait for the copies that this thread has begun; those of others are complete after a barrier.
KOKKOS_FORCEINLINE_FUNCTION void wait_for_copies() {
#ifdef __CUDA_ARCH__
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

/// Begin to copy N numbers into scratch, on a GPU by a team of Threads.
template <int N, int Threads, class Team>
KOKKOS_FORCEINLINE_FUNCTION void copy(const Team& team, const double* from, double* to) {
  static_assert(N % 2 == 0);
#ifdef __CUDA_ARCH__
  unroll<(N / 2 + Threads - 1) / Threads>([&](auto part) QUINTET_DEVICE_INLINE {
    const int i = 2 * (part.value * Threads + team.rank);
    if ((part.value + 1) * Threads <= N / 2 || i < N) copy_pair(from + i, to + i);
  });
#else
  for (int i = team.rank; i < N; i += team.size) to[i] = from[i];
#endif
}
/// A warp asks for N numbers before they are needed.
template <int N>
KOKKOS_FORCEINLINE_FUNCTION void fetch(const double* f, int lane) {
#ifdef __CUDA_ARCH__
  constexpr int line = 16, n = N / line;
  unroll<(n + lanes - 1) / lanes>([&](auto part) QUINTET_DEVICE_INLINE {
    const int i = part.value * lanes + lane;
    if ((part.value + 1) * lanes <= n || i < n) fetch_line(f + i * line);
  });
#else
  static_cast<void>(f), static_cast<void>(lane);
#endif
}
/// Whether one of 32 numbers, which all of a warp's lanes ask for, is not 0.
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool is_any(const double* row) {
#ifdef __CUDA_ARCH__
  return __any_sync(0xffffffffU, row[threadIdx.x % lanes] != 0) != 0;
#else
  bool any = false;
  for (int lane = 0; lane < lanes; ++lane) any = any || row[lane] != 0;
  return any;
#endif
}

/// What has been read from memory is read once more after this. Kept in registers from one part of a sweep to
/// the next, as compilers like to, it would push out what the parts have to keep.
KOKKOS_FORCEINLINE_FUNCTION void forget_what_was_read() {
#ifdef __CUDA_ARCH__
  asm volatile("" ::: "memory");
#endif
}

/// An index or a pointer that is taken as it is: compilers like to add parts of it to what it has in common
/// with other addresses, once more for each load.
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int as_it_is(int index) {
#ifdef __CUDA_ARCH__
  asm("" : "+r"(index));
#endif
  return index;
}
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION const double* as_it_is(const double* f) {
#ifdef __CUDA_ARCH__
  asm("" : "+l"(f));
#endif
  return f;
}
/// A number in the device's memory that no one writes as long as the kernel runs.
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double read_only(const double* f) {
#ifdef __CUDA_ARCH__
  return __ldg(f);
#else
  return *f;
#endif
}

/// out = keep f_0 + advance (f + dt df).
struct Update {
  double keep, advance, rate;  ///< rate = advance dt
  const double *f, *f0;
  double* out;
  /// @param f_0 read where keep != 0
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double value(double own, double df, const double* f_0) const {
    double sum = fused(rate, df, advance * own);
    if (keep != 0) add_product(sum, keep, *f_0);
    return sum;
  }
};

}  // namespace quintet::kinetics::device
