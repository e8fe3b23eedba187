#include "surrogates/sequence/reference/dense_algebra.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>

#include "io/log/error.hpp"

extern "C" {
void dgelsd_(const int* m, const int* n, const int* nrhs, double* a, const int* lda, double* b,
             const int* ldb, double* s, const double* rcond, int* rank, double* work, const int* lwork,
             int* iwork, int* info);
void dposv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda, double* b,
            const int* ldb, int* info);
void dgeev_(const char* jobvl, const char* jobvr, const int* n, double* a, const int* lda, double* wr,
            double* wi, double* vl, const int* ldvl, double* vr, const int* ldvr, double* work,
            const int* lwork, int* info);
void zgesv_(const int* n, const int* nrhs, double* a, const int* lda, int* ipiv, double* b, const int* ldb,
            int* info);
void dsyev_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
            double* work, const int* lwork, int* info);
}

namespace quintet::sequence {

namespace {

/// The other order of storage of a [rows, columns] matrix.
std::vector<double> transposed(const std::vector<double>& a, int rows, int columns) {
  std::vector<double> t(a.size());
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) t[std::int64_t{j} * rows + i] = a[std::int64_t{i} * columns + j];
  return t;
}

}  // namespace

std::vector<double> transposed_product(const std::vector<double>& a, const std::vector<double>& b, int n,
                                       int k, int m) {
  std::vector<double> c(std::int64_t{k} * m, 0.0);
  for (int i = 0; i < n; ++i)
    for (int p = 0; p < k; ++p) {
      const double value = a[std::int64_t{i} * k + p];
      for (int q = 0; q < m; ++q) c[std::int64_t{p} * m + q] += value * b[std::int64_t{i} * m + q];
    }
  return c;
}

std::vector<double> least_squares(std::vector<double> x, const std::vector<double>& y, int n, int k, int m,
                                  const char* what) {
  QUINTET_CHECK(n >= k, "{}: {} unknowns cannot be found from {} times; train on a longer period", what, k,
                n);
  // Columns of very different size say nothing of their dependence.
  std::vector<double> scale(k, 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < k; ++j) scale[j] = std::max(scale[j], std::abs(x[std::int64_t{i} * k + j]));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < k; ++j) x[std::int64_t{i} * k + j] /= scale[j] > 0 ? scale[j] : 1;
  auto a = transposed(x, n, k), b = transposed(y, n, m);
  std::vector<double> singular(k);
  const double tolerance = 1e-10;
  int rank = 0, info = 0, lwork = -1, iwork_size = 0;
  double size = 0;
  dgelsd_(&n, &k, &m, a.data(), &n, b.data(), &n, singular.data(), &tolerance, &rank, &size, &lwork,
          &iwork_size, &info);
  lwork = size;
  std::vector<double> work(lwork);
  std::vector<int> iwork(std::max(1, iwork_size));
  dgelsd_(&n, &k, &m, a.data(), &n, b.data(), &n, singular.data(), &tolerance, &rank, work.data(), &lwork,
          iwork.data(), &info);
  if (info != 0)
    throw NumericalError(fmt::format("{}: the singular value decomposition did not converge", what));
  QUINTET_CHECK(rank == k,
                "{}: the data determine {} of {} unknowns; give more of them, or ask for fewer unknowns",
                what, rank, k);
  std::vector<double> solution(std::int64_t{k} * m);
  for (int j = 0; j < k; ++j)
    for (int q = 0; q < m; ++q) solution[std::int64_t{j} * m + q] = b[std::int64_t{q} * n + j] / scale[j];
  return solution;
}

std::optional<std::vector<double>> solve_positive(std::vector<double> a, const std::vector<double>& right,
                                                  int k, int m) {
  auto columns = transposed(right, k, m);
  int info = 0;
  dposv_("L", &k, &m, a.data(), &k, columns.data(), &k, &info);
  if (info != 0) return std::nullopt;
  return transposed(columns, m, k);
}

std::vector<double> ridge(const std::vector<double>& x, const std::vector<double>& y,
                          const std::vector<double>& penalty, int n, int k, int m, const char* what) {
  auto matrix = transposed_product(x, x, n, k, k);
  for (int j = 0; j < k; ++j) matrix[std::int64_t{j} * (k + 1)] += penalty[j];
  auto solution = solve_positive(std::move(matrix), transposed_product(x, y, n, k, m), k, m);
  QUINTET_CHECK(
      solution,
      "{}: {} windows do not determine the regression, since their numbers depend on each other; train "
      "on a longer period, or give a shorter window.in",
      what, n);
  return *std::move(solution);
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int k, int n, int m) {
  return transposed_product(transposed(a, k, n), b, n, k, m);
}

MatrixPowers::MatrixPowers(const std::vector<double>& g, int n)
    : n_(n), real_(n), imaginary_(n), v_(2 * std::int64_t{n} * n, 0.0), inverse_(v_.size(), 0.0) {
  auto a = transposed(g, n, n);
  std::vector<double> vectors(a.size());
  const int one = 1, lwork = 8 * n + 16;
  std::vector<double> work(lwork);
  int info = 0;
  dgeev_("N", "V", &n, a.data(), &n, real_.data(), imaginary_.data(), nullptr, &one, vectors.data(), &n,
         work.data(), &lwork, &info);
  if (info != 0) throw NumericalError("eigenvalues of a propagator did not converge");
  using Complex = std::complex<double>;
  std::vector<Complex> v(a.size()), unit(a.size(), 0.0);  // column-major
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const auto at = [&](int column) { return vectors[std::int64_t{column} * n + i]; };
      const bool first = imaginary_[j] > 0, second = imaginary_[j] < 0;  // of a conjugate pair
      v[std::int64_t{j} * n + i] = first    ? Complex(at(j), at(j + 1))
                                   : second ? Complex(at(j - 1), -at(j))
                                            : Complex(at(j), 0);
    }
  for (int i = 0; i < n; ++i) unit[std::int64_t{i} * (n + 1)] = 1.0;
  auto factors = v;
  std::vector<int> pivots(n);
  zgesv_(&n, &n, reinterpret_cast<double*>(factors.data()), &n, pivots.data(),
         reinterpret_cast<double*>(unit.data()), &n, &info);
  if (info != 0) throw NumericalError("a propagator cannot be diagonalised");
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const std::size_t row = 2 * (std::int64_t{i} * n + j), column = std::int64_t{j} * n + i;
      v_[row] = v[column].real(), v_[row + 1] = v[column].imag();
      inverse_[row] = unit[column].real(), inverse_[row + 1] = unit[column].imag();
    }
}

std::vector<double> MatrixPowers::power(double p) const {
  using Complex = std::complex<double>;
  const auto entry = [&](const std::vector<double>& a, int i, int j) {
    const auto at = 2 * (std::int64_t{i} * n_ + j);
    return Complex(a[at], a[at + 1]);
  };
  std::vector<Complex> lambda(n_);
  for (int i = 0; i < n_; ++i) {
    const bool has_power = imaginary_[i] != 0 || real_[i] > 0 || p == std::round(p);
    QUINTET_CHECK(has_power,
                  "the propagator has the eigenvalue {:.3g}, of which there is no real power {:.3g}: another "
                  "lag is needed",
                  real_[i], p);
    lambda[i] = std::pow(Complex(real_[i], imaginary_[i]), p);
  }
  std::vector<double> result(std::int64_t{n_} * n_);
  for (int i = 0; i < n_; ++i)
    for (int j = 0; j < n_; ++j) {
      Complex sum = 0;
      for (int k = 0; k < n_; ++k) sum += entry(v_, i, k) * lambda[k] * entry(inverse_, k, j);
      result[std::int64_t{i} * n_ + j] = sum.real();
    }
  return result;
}

bool MatrixPowers::has_real_powers() const {
  for (int i = 0; i < n_; ++i)
    if (imaginary_[i] == 0 && real_[i] <= 0) return false;
  return true;
}

std::vector<double> MatrixPowers::moduli() const {
  std::vector<double> values(n_);
  for (int i = 0; i < n_; ++i) values[i] = std::hypot(real_[i], imaginary_[i]);
  std::sort(values.rbegin(), values.rend());
  return values;
}

std::vector<double> left_singular_vectors(const std::vector<double>& x, int n, int k, int r) {
  QUINTET_CHECK(r >= 1 && r <= std::min(n, k), "{} singular vectors of a matrix of {} x {}", r, n, k);
  const auto t = transposed(x, n, k);
  auto gram = transposed_product(t, t, k, n, n);  // X X^T: n is small
  std::vector<double> values(n);
  const int lwork = 8 * n;
  std::vector<double> work(lwork);
  int info = 0;
  dsyev_("V", "L", &n, gram.data(), &n, values.data(), work.data(), &lwork, &info);
  if (info != 0) throw NumericalError("the singular value decomposition of delayed states did not converge");
  std::vector<double> u(std::int64_t{n} * r);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < r; ++j) u[std::int64_t{i} * r + j] = gram[std::int64_t{n - 1 - j} * n + i];
  return u;
}

SymmetricEigen symmetric_eigen(const std::vector<double>& a, int n) {
  SymmetricEigen result{std::vector<double>(n), {}};
  auto matrix = a;
  const int lwork = 8 * n;
  std::vector<double> work(lwork);
  int info = 0;
  dsyev_("V", "L", &n, matrix.data(), &n, result.values.data(), work.data(), &lwork, &info);
  if (info != 0) throw NumericalError("the eigenvalues of a covariance did not converge");
  result.vectors = transposed(matrix, n, n);
  return result;
}

}  // namespace quintet::sequence
