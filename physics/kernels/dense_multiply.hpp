#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <Kokkos_Core.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <cublas_v2.h>
#endif

/// The one place where device engines multiply matrices.
namespace quintet::device {

/// C = A B + keep C for row-major A `[m, k]` (stride lda), B `[k, n]` (stride n), C `[m, n]` (stride ldc).
template <class Real>
struct Product {
  const Real* a;
  int lda;
  const Real* b;
  Real* c;
  int ldc;
  int m, k, n;
  bool keep = false;  ///< add to what C holds
};

/// C_i = alpha A_i B_i + keep C_i for `count` row-major matrices [n, n], one after the other.
struct SquareProducts {
  const double *a, *b;
  double* c;
  int n, count;
  double alpha = 1;
  bool keep = false;  ///< add to what C holds
};

/// Four rows of one C_i at a time.
struct PlainSquareProducts {
  SquareProducts p;
  static constexpr int rows = 4;
  [[nodiscard]] int blocks() const { return (p.n + rows - 1) / rows; }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t n_blocks = (p.n + rows - 1) / rows;
    const std::int64_t start = item / n_blocks * p.n * p.n;
    const int first = static_cast<int>(item % n_blocks) * rows,
              last = first + rows < p.n ? first + rows : p.n;
    const auto row = [&](int i) { return start + std::int64_t{i} * p.n; };
    for (int i = first; i < last && !p.keep; ++i)
      for (int j = 0; j < p.n; ++j) p.c[row(i) + j] = 0;
    for (int l = 0; l < p.n; ++l) {
      const double* b = p.b + row(l);
      for (int i = first; i < last; ++i) {
        const double a = p.alpha * p.a[row(i) + l];
        double* c = p.c + row(i);
        for (int j = 0; j < p.n; ++j) c[j] += a * b[j];
      }
    }
  }
};

/// Four rows of C at a time, so that a row of B is read once for all of them.
template <class Real>
struct PlainProduct {
  Product<Real> p;
  static constexpr int rows = 4;
  KOKKOS_INLINE_FUNCTION void operator()(const int block) const {
    const int first = block * rows, last = first + rows < p.m ? first + rows : p.m;
    for (int i = first; i < last && !p.keep; ++i)
      for (int j = 0; j < p.n; ++j) p.c[std::int64_t{i} * p.ldc + j] = 0;
    for (int l = 0; l < p.k; ++l) {
      const Real* b = p.b + std::int64_t{l} * p.n;
      for (int i = first; i < last; ++i) {
        const Real a = p.a[std::int64_t{i} * p.lda + l];
        Real* c = p.c + std::int64_t{i} * p.ldc;
        if (a == 0) continue;  // moments of empty intervals
        for (int j = 0; j < p.n; ++j) c[j] += a * b[j];
      }
    }
  }
};

/// Multiplies on an execution space: a plain kernel, or the vendor's library where the space is a GPU.
template <class Space>
class DenseMultiplier {
 public:
  explicit DenseMultiplier(const Space&) {}
  template <class Real>
  void multiply(const Space& space, const Product<Real>& p) const {
    if (p.m <= 0) return;
    const int blocks = (p.m + PlainProduct<Real>::rows - 1) / PlainProduct<Real>::rows;
    Kokkos::parallel_for("device::dense_multiply", Kokkos::RangePolicy<Space>(space, 0, blocks),
                         PlainProduct<Real>{p});
  }
  void multiply(const Space& space, const SquareProducts& p) const {
    const PlainSquareProducts kernel{p};
    Kokkos::parallel_for("device::square_products",
                         Kokkos::RangePolicy<Space>(space, 0, std::int64_t{p.count} * kernel.blocks()),
                         kernel);
  }
};

#ifdef KOKKOS_ENABLE_CUDA
template <>
class DenseMultiplier<Kokkos::Cuda> {
 public:
  explicit DenseMultiplier(const Kokkos::Cuda& space) {
    check(cublasCreate(&handle_));
    check(cublasSetStream(handle_, space.cuda_stream()));
  }
  ~DenseMultiplier() { cublasDestroy(handle_); }
  DenseMultiplier(const DenseMultiplier&) = delete;
  DenseMultiplier& operator=(const DenseMultiplier&) = delete;

  // Row-major C = A B is column-major C^T = B^T A^T.
  void multiply(const Kokkos::Cuda&, const Product<double>& p) const {
    if (p.m <= 0) return;
    const double one = 1, kept = p.keep ? 1 : 0;
    check(cublasDgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.b, p.n, p.a, p.lda, &kept,
                      p.c, p.ldc));
  }
  void multiply(const Kokkos::Cuda&, const Product<float>& p) const {
    if (p.m <= 0) return;
    const float one = 1, kept = p.keep ? 1 : 0;
    check(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.b, p.n, p.a, p.lda, &kept,
                      p.c, p.ldc));
  }
  void multiply(const Kokkos::Cuda&, const SquareProducts& p) const {
    const long long stride = static_cast<long long>(p.n) * p.n;
    const double kept = p.keep ? 1 : 0;
    check(cublasDgemmStridedBatched(handle_, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.n, p.n, &p.alpha, p.b, p.n,
                                    stride, p.a, p.n, stride, &kept, p.c, p.n, stride, p.count));
  }

 private:
  static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
  }
  cublasHandle_t handle_{};
};
#endif

}  // namespace quintet::device
