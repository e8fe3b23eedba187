#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <cusolverDn.h>
#endif

/// The one place where device engines diagonalise matrices.
namespace quintet::device {

/// `count` symmetric matrices [n, n], one after the other. Eigenvectors take their places, n numbers each:
/// number c of matrix i is a[(i n + c) n ...], with the eigenvalue value[i n + c].
struct SymmetricMatrices {
  double *a, *value;
  int* failed;  ///< [count] not 0: not found
  int n, count;
};

/// Jacobi rotations of columns (Hestenes 1958; here as in Brent & Luk, SIAM J. Sci. Stat. Comput. 6, 69
/// (1985)): a team a matrix, pairs of columns as in a tournament, each pair once a sweep and all pairs of a
/// round side by side. Eigenvalues come in no order.
///
/// A + s is positive definite for s = 2 |A|_1 and has W = (A + s) V with orthogonal columns: for
/// A + s = V L V^T they are V L, so that no V is kept besides. Columns are orthogonal when
/// |w_p.w_q| <= tolerance |w_p| |w_q|.
template <class Space>
struct Jacobi {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  static constexpr int most_sweeps = 40;
  SymmetricMatrices m;

  /// Columns of pair k of a round among `even` of them.
  KOKKOS_INLINE_FUNCTION static void pair_of(int k, int round, int even, int& p, int& q) {
    p = k == 0 ? even - 1 : (round + k) % (even - 1);
    q = (round - k + even - 1) % (even - 1);
  }

  KOKKOS_INLINE_FUNCTION static double dot(const Team& team, int n, const double* u, const double* v) {
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, n), [&](const int r, double& part) { part += u[r] * v[r]; }, sum);
    return sum;
  }

  /// Make two columns orthogonal; how far they were from that.
  KOKKOS_INLINE_FUNCTION static double rotate(const Team& team, int n, double tolerance, double* u,
                                              double* v) {
    const double uu = dot(team, n, u, u), vv = dot(team, n, v, v), uv = dot(team, n, u, v);
    const double cosine = ::fabs(uv) / ::sqrt(uu * vv);
    if (cosine <= tolerance) return cosine;
    const double zeta = (vv - uu) / (2 * uv);
    const double t = (zeta < 0 ? -1 : 1) / (::fabs(zeta) + ::sqrt(1 + zeta * zeta));
    const double c = 1 / ::sqrt(1 + t * t), s = c * t;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](const int r) {
      const double before = u[r];
      u[r] = c * before - s * v[r];
      v[r] = s * before + c * v[r];
    });
    return cosine;
  }

  /// Rows += s on the diagonal, s = 2 |A|_1 or, of zeros, 1.
  KOKKOS_INLINE_FUNCTION static double shift(const Team& team, int n, double* a) {
    double norm = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, n),
        [&](const int c, double& most) {
          double sum = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, n),
              [&](const int r, double& part) { part += ::fabs(a[std::int64_t{c} * n + r]); }, sum);
          if (sum > most) most = sum;
        },
        Kokkos::Max<double>(norm));
    const double s = norm > 0 ? 2 * norm : 1;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](const int c) {
      Kokkos::single(Kokkos::PerThread(team), [&]() { a[std::int64_t{c} * n + c] += s; });
    });
    team.team_barrier();
    return s;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int matrix = team.league_rank(), n = m.n, even = n + n % 2;
    const double tolerance = 2.3e-16 * (4 + ::sqrt(n));
    double* const w = m.a + std::int64_t{matrix} * n * n;
    const auto column = [&](int c) { return w + std::int64_t{c} * n; };
    const double s = shift(team, n, w);
    int sweep = 0;
    for (double worst = 1; !(worst <= tolerance) && sweep <= most_sweeps; ++sweep) {
      worst = 0;
      for (int round = 0; round + 1 < even; ++round) {
        double of_round = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, even / 2),
            [&](const int k, double& most) {
              int p, q;
              pair_of(k, round, even, p, q);
              if (p >= n || q >= n) return;  // the odd one rests
              const double cosine = rotate(team, n, tolerance, column(p), column(q));
              if (!(cosine <= most)) most = cosine;
            },
            Kokkos::Max<double>(of_round));
        team.team_barrier();
        if (!(of_round <= worst)) worst = of_round;
      }
    }
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](const int c) {
      double* const v = column(c);
      const double length = ::sqrt(dot(team, n, v, v));
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](const int r) { v[r] /= length; });
      Kokkos::single(Kokkos::PerThread(team), [&]() { m.value[std::int64_t{matrix} * n + c] = length - s; });
    });
    Kokkos::single(Kokkos::PerTeam(team), [&]() { m.failed[matrix] = sweep > most_sweeps ? 1 : 0; });
  }
};

/// Diagonalises on an execution space: by rotations, or by the vendor's library where the space is a GPU
/// (cuSOLVER 11.7.1, of CUDA 12.6.2, or newer).
template <class Space>
class DenseEigensolver {
 public:
  explicit DenseEigensolver(const Space&) {}
  /// @param bytes of memory at most, where that is enough for one matrix at a time. Matrices are finite.
  void solve(const Space& space, const SymmetricMatrices& m, std::size_t bytes) {
    static_cast<void>(bytes);
#ifdef KOKKOS_ENABLE_CUDA
    constexpr int threads = 16, lanes = 32;
#else
    constexpr int threads = 1, lanes = 1;
#endif
    Kokkos::parallel_for("device::jacobi", Kokkos::TeamPolicy<Space>(space, m.count, threads, lanes),
                         Jacobi<Space>{m});
  }
  /// Give memory back that the next solve() takes again.
  void give_back() {}
};

#if defined(KOKKOS_ENABLE_CUDA) && CUSOLVER_VERSION >= 11701
template <>
class DenseEigensolver<Kokkos::Cuda> {
 public:
  explicit DenseEigensolver(const Kokkos::Cuda& space) {
    check(cusolverDnCreate(&handle_));
    check(cusolverDnSetStream(handle_, space.cuda_stream()));
    check(cusolverDnCreateParams(&parameters_));
  }
  ~DenseEigensolver() {
    cusolverDnDestroyParams(parameters_);
    cusolverDnDestroy(handle_);
  }
  DenseEigensolver(const DenseEigensolver&) = delete;
  DenseEigensolver& operator=(const DenseEigensolver&) = delete;

  void solve(const Kokkos::Cuda&, const SymmetricMatrices& m, std::size_t bytes) {
    const std::int64_t n = m.n;
    int at_a_time = m.count;
    Work work = work_of(m, at_a_time);
    while (at_a_time > 1 && work.device > bytes) work = work_of(m, at_a_time = (at_a_time + 1) / 2);
    if (work.device > work_.extent(0)) {
      work_ = {};
      work_ = Kokkos::View<char*, Kokkos::CudaSpace>(
          Kokkos::view_alloc(std::string("eigensolver"), Kokkos::WithoutInitializing), work.device);
    }
    on_host_.resize(work.host);
    for (int first = 0; first < m.count; first += at_a_time) {
      double* const a = m.a + first * n * n;
      double* const value = m.value + first * n;
      check(cusolverDnXsyevBatched(handle_, parameters_, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                                   CUDA_R_64F, a, n, CUDA_R_64F, value, CUDA_R_64F, work_.data(), work.device,
                                   on_host_.data(), work.host, m.failed + first,
                                   std::min(at_a_time, m.count - first)));
    }
  }
  void give_back() { work_ = {}; }

 private:
  struct Work {
    std::size_t device = 0, host = 0;
  };
  [[nodiscard]] Work work_of(const SymmetricMatrices& m, int count) const {
    Work work;
    check(cusolverDnXsyevBatched_bufferSize(handle_, parameters_, CUSOLVER_EIG_MODE_VECTOR,
                                            CUBLAS_FILL_MODE_LOWER, m.n, CUDA_R_64F, m.a, m.n, CUDA_R_64F,
                                            m.value, CUDA_R_64F, &work.device, &work.host, count));
    return work;
  }
  static void check(cusolverStatus_t status) {
    if (status != CUSOLVER_STATUS_SUCCESS)
      throw std::runtime_error("cuSOLVER: status " + std::to_string(static_cast<int>(status)));
  }
  cusolverDnHandle_t handle_{};
  cusolverDnParams_t parameters_{};
  Kokkos::View<char*, Kokkos::CudaSpace> work_;
  std::vector<char> on_host_;  // read until the stream has come that far
};
#endif

}  // namespace quintet::device
