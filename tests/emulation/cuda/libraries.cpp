// cuBLAS and cuSOLVER as far as the engines call them, by the host's BLAS and
// LAPACK.
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "tests/emulation/cuda/stream.hpp"
#include "tests/emulation/run/memory.hpp"

using namespace quintet::emulation;

extern "C" {
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *);
void sgemm_(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
            const int *, const float *, const int *, const float *, float *, const int *);
void dsyev_(const char *, const char *, const int *, double *, const int *, double *, double *, const int *,
            int *);
}

struct cublasContext {
  cudaStream_t stream = nullptr;
};
struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};

namespace {
char letter(cublasOperation_t t) { return t == CUBLAS_OP_N ? 'N' : 'T'; }
/// n numbers of the device or of pinned memory, all there.
template <class T>
T *at(T *p, long long n) {
  const Allocation *a = find(reinterpret_cast<std::uint64_t>(p));
  if (n > 0 && (a == nullptr ||
                reinterpret_cast<std::uint64_t>(p) + static_cast<std::uint64_t>(n) * sizeof(T) > a->end)) {
    std::fprintf(stderr,
                 "emulation: a library is given %lld numbers at %p that are "
                 "not all there\n",
                 n, static_cast<const void *>(p));
    std::abort();
  }
  return static_cast<T *>(bytes_of(p));
}
/// Numbers of a matrix whose columns begin ld apart.
long long numbers(long long rows, long long columns, long long ld) {
  return columns > 0 ? (columns - 1) * ld + rows : 0;
}
/// Matrices `stride` apart, whose columns begin ld apart.
template <class T>
struct Matrices {
  T *first;
  int ld;
  long long stride;
};
/// C_i = alpha op(A_i) op(B_i) + beta C_i for `count` of them, when the stream
/// comes to it.
template <class Gemm, class Real>
cublasStatus_t multiply(Gemm *gemm, cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                        int n, int k, Real alpha, std::type_identity_t<Matrices<const Real>> a,
                        std::type_identity_t<Matrices<const Real>> b, Real beta,
                        std::type_identity_t<Matrices<Real>> c, int count) {
  enqueue(h->stream, [=] {
    const char p = letter(ta), q = letter(tb);
    for (int i = 0; i < count; ++i)
      gemm(&p, &q, &m, &n, &k, &alpha,
           at(a.first + i * a.stride, p == 'N' ? numbers(m, k, a.ld) : numbers(k, m, a.ld)), &a.ld,
           at(b.first + i * b.stride, q == 'N' ? numbers(k, n, b.ld) : numbers(n, k, b.ld)), &b.ld, &beta,
           at(c.first + i * c.stride, numbers(m, n, c.ld)), &c.ld);
  });
  return CUBLAS_STATUS_SUCCESS;
}
}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t *h) {
  *h = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t h) {
  delete h;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t h, cudaStream_t s) {
  h->stream = s;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void *, std::size_t) { return CUBLAS_STATUS_SUCCESS; }
const char *cublasGetStatusString(cublasStatus_t) { return "an error of cuBLAS"; }
cublasStatus_t cublasDgemm_v2(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                              int k, const double *alpha, const double *a, int lda, const double *b, int ldb,
                              const double *beta, double *c, int ldc) {
  return multiply(dgemm_, h, ta, tb, m, n, k, *alpha, {a, lda, 0}, {b, ldb, 0}, *beta, {c, ldc, 0}, 1);
}
cublasStatus_t cublasSgemm_v2(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                              int k, const float *alpha, const float *a, int lda, const float *b, int ldb,
                              const float *beta, float *c, int ldc) {
  return multiply(sgemm_, h, ta, tb, m, n, k, *alpha, {a, lda, 0}, {b, ldb, 0}, *beta, {c, ldc, 0}, 1);
}
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                                         int n, int k, const double *alpha, const double *a, int lda,
                                         long long sa, const double *b, int ldb, long long sb,
                                         const double *beta, double *c, int ldc, long long sc, int count) {
  return multiply(dgemm_, h, ta, tb, m, n, k, *alpha, {a, lda, sa}, {b, ldb, sb}, *beta, {c, ldc, sc}, count);
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *h) {
  *h = new cusolverDnContext;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t h) {
  delete h;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t h, cudaStream_t s) {
  h->stream = s;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *p) {
  *p = nullptr;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t) { return CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnXsyevBatched_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                                   cublasFillMode_t, std::int64_t, cudaDataType, const void *,
                                                   std::int64_t, cudaDataType, const void *, cudaDataType,
                                                   std::size_t *device, std::size_t *host, std::int64_t) {
  *device = 256;
  *host = 0;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXsyevBatched(cusolverDnHandle_t h, cusolverDnParams_t, cusolverEigMode_t mode,
                                        cublasFillMode_t fill, std::int64_t n, cudaDataType type, void *a,
                                        std::int64_t lda, cudaDataType, void *w, cudaDataType, void *,
                                        std::size_t, void *, std::size_t, int *info, std::int64_t count) {
  if (type != CUDA_R_64F) return CUSOLVER_STATUS_NOT_SUPPORTED;
  enqueue(h->stream, [=] {
    const char jobz = mode == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N',
               uplo = fill == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U';
    const int order = n, ld = lda, lwork = std::max(1, 34 * order);
    std::vector<double> work(lwork);
    for (std::int64_t i = 0; i < count; ++i)
      dsyev_(&jobz, &uplo, &order, at(static_cast<double *>(a) + i * lda * n, numbers(n, n, lda)), &ld,
             at(static_cast<double *>(w) + i * n, n), work.data(), &lwork, at(info + i, 1));
  });
  return CUSOLVER_STATUS_SUCCESS;
}

}  // extern "C"
