#include "physics/electronic/submatrix/submatrix_dense.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/ranges.h>

#include "io/log/error.hpp"

extern "C" {
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
}

namespace quintet::electronic {

namespace {

/// C [m, n] = alpha A [m, k] B [k, n] + beta C, column-major.
void multiply_dense(int m, int n, int k, double alpha, const double* a, const double* b, double beta,
                    double* c) {
  dgemm_("N", "N", &m, &n, &k, &alpha, a, &m, b, &k, &beta, c, &m);
}

}  // namespace

std::vector<double> own_weights(std::span<const double> vectors, std::span<const int> own) {
  const std::size_t n = std::lround(std::sqrt(vectors.size()));
  std::vector<double> weight(n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (const int row : own) {
      const double component = vectors[i * n + row];
      weight[i] += component * component;
    }
  return weight;
}

Eigenpairs eigenpairs_of(std::vector<double>&& matrix, std::span<const int> own) {
  Eigenpairs pairs;
  pairs.vector = std::move(matrix);
  const int n = std::lround(std::sqrt(pairs.vector.size()));
  pairs.value.resize(n);
  int info = 0, query = -1, integer_size = 0;
  double size = 0;
  dsyevd_("V", "U", &n, pairs.vector.data(), &n, pairs.value.data(), &size, &query, &integer_size, &query,
          &info);
  const int n_work = size;
  std::vector<double> work(n_work);
  std::vector<int> integers(integer_size);
  dsyevd_("V", "U", &n, pairs.vector.data(), &n, pairs.value.data(), work.data(), &n_work, integers.data(),
          &integer_size, &info);
  if (info != 0)
    throw NumericalError(fmt::format("dsyevd failed on a submatrix of {} rows (info {})", n, info));
  pairs.weight = own_weights(pairs.vector, own);
  return pairs;
}

void transform_columns(const Eigenpairs& pairs, std::span<const int> own,
                       const std::function<double(double)>& f, std::vector<double>& columns) {
  const int n = pairs.value.size(), n_own = own.size();
  std::vector<double> right(n * own.size());  // f(lambda) Q^T, columns `own`
  for (std::int64_t i = 0; i < n; ++i) {
    const double occupation = f(pairs.value[i]);
    for (std::size_t c = 0; c < own.size(); ++c) right[c * n + i] = occupation * pairs.vector[i * n + own[c]];
  }
  columns.resize(right.size());
  multiply_dense(n, n_own, n, 1, pairs.vector.data(), right.data(), 0, columns.data());
}

void throw_not_converged(int n, double mu, std::span<const double> history) {
  throw NumericalError(fmt::format(
      "Newton-Schulz did not converge on a submatrix of {} rows: ||X X - 1||_F = {:.2e}; has it an "
      "eigenvalue at mu = {}? Take the eigen kernel",
      n, fmt::join(history, ", "), mu));
}

void newton_schulz_columns(const std::vector<double>& matrix, int n, double mu, std::span<const int> own,
                           double error, int order, std::vector<double>& columns) {
  constexpr int max_iterations = 60;
  constexpr double coefficient[] = {1, 1.0 / 2, 3.0 / 8, 5.0 / 16};
  std::vector<double> x = matrix, residual(x.size()), factor(x.size()), next(x.size());
  double norm = 0;
  for (std::int64_t c = 0; c < n; ++c) {
    x[c * n + c] -= mu;
    double sum = 0;
    for (std::int64_t r = 0; r < n; ++r) sum += std::abs(x[c * n + r]);
    norm = std::max(norm, sum);
  }
  for (double& value : x) value /= norm;
  const auto add_to_diagonal = [n](std::vector<double>& a, double value) {
    for (std::int64_t c = 0; c < n; ++c) a[c * n + c] += value;
  };
  std::vector<double> history;
  while (history.empty() || !(history.back() <= error * std::sqrt(n))) {
    if (history.size() == max_iterations) throw_not_converged(n, mu, history);
    multiply_dense(n, n, n, -1, x.data(), x.data(), 0, residual.data());
    add_to_diagonal(residual, 1);
    double squares = 0;
    for (const double value : residual) squares += value * value;
    history.push_back(std::sqrt(squares));
    // Horner: c_0 + R (c_1 + R (c_2 + ...))
    for (std::size_t i = 0; i < x.size(); ++i) factor[i] = coefficient[order - 1] * residual[i];
    for (int k = order - 2; k > 0; --k) {
      add_to_diagonal(factor, coefficient[k]);
      multiply_dense(n, n, n, 1, residual.data(), factor.data(), 0, next.data());
      factor.swap(next);
    }
    next = x;
    multiply_dense(n, n, n, 1, x.data(), factor.data(), 1, next.data());
    x.swap(next);
  }
  columns.resize(n * own.size());
  for (std::size_t c = 0; c < own.size(); ++c)
    for (std::int64_t r = 0; r < n; ++r)
      columns[c * n + r] = 0.5 * ((r == own[c] ? 1 : 0) - x[std::int64_t{own[c]} * n + r]);
}

}  // namespace quintet::electronic
