#include "physics/ocean/svd/tall_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kernels/gemm.hpp"

extern "C" void dsyrk_(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
                       const double* a, const int* lda, const double* beta, double* c, const int* ldc);

namespace quintet::ocean {
namespace {

/// Columns from which the library's product of a matrix with itself is faster than ours: it computes one
/// triangle.
constexpr int many_columns = 64;
/// Rows of X that stay in the second-level cache between the two products of X^T (X B), of two thousand
/// columns.
constexpr int strip_rows = 64, streams = 8;

/// R of the Cholesky factorisation A = R^T R; false if A is not positive to round-off.
bool cholesky(SmallMatrix& a) {
  const int n = a.rows;
  for (int j = 0; j < n; ++j) {
    const double scale = a.at(j, j);
    for (int k = 0; k < j; ++k) a.at(j, j) -= a.at(k, j) * a.at(k, j);
    if (!(a.at(j, j) > 1e-15 * n * scale)) return false;
    a.at(j, j) = std::sqrt(a.at(j, j));
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) a.at(j, i) -= a.at(k, j) * a.at(k, i);
      a.at(j, i) /= a.at(j, j);
    }
  }
  return true;
}

/// Each row x of X becomes x R^-1.
void solve_rows(TallMatrix& x, const SmallMatrix& r) {
  for (int p = 0; p < x.rows(); ++p) {
    double* row = x.row(p);
    for (int j = 0; j < r.rows; ++j) {
      row[j] /= r.at(j, j);
      for (int i = j + 1; i < r.rows; ++i) row[i] -= row[j] * r.at(j, i);
    }
  }
}

}  // namespace

TallMatrix::TallMatrix(int rows, int columns)
    : rows_(rows), columns_(columns), stride_(padded(columns, pack_width<double>)) {
  values_.resize(std::int64_t{rows} * stride_);
}

SmallMatrix gram(const Comm& comm, const TallMatrix& x) {
  const int n = x.columns(), stride = x.stride(), rows = x.rows();
  AlignedVector<double> sums(std::int64_t{stride} * stride);
  const double one = 1, zero = 0;
  if (n >= many_columns)  // to BLAS X is its transpose, and our upper triangle the lower one
    dsyrk_("L", "N", &n, &rows, &one, x.row(0), &stride, &zero, sums.data(), &stride);
  else if (rows > 0)
    add_transposed_products<double>({{x.row(0), stride, x.row(0), stride}}, rows, n, stride, sums.data(),
                                    stride);
  SmallMatrix result(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) result.at(i, j) = sums[std::int64_t{i} * stride + j];
  comm.reduce(std::span<double>(result.values), Comm::Reduction::sum);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) result.at(i, j) = result.at(j, i);
  return result;
}

SmallMatrix gram_product(const Comm& comm, const TallMatrix& x, const SmallMatrix& b) {
  QUINTET_ASSERT(x.columns() == b.rows, "{} columns, {} rows", x.columns(), b.rows);
  const PackedMatrix<double> packed(b.values.data(), b.rows, b.columns);
  const int ld = packed.stride(), stride = x.stride();
  AlignedVector<double> some(std::int64_t{strip_rows} * ld), sums(std::int64_t{b.columns} * stride);
  for (int first = 0; first < x.rows(); first += strip_rows) {
    const int n = std::min(strip_rows, x.rows() - first);
    // A few rows at a time: whole rows stream from memory.
    for (int i = 0; i < n; i += streams)
      multiply(x.row(first + i), stride, std::min(streams, n - i), packed,
               some.data() + std::ptrdiff_t{i} * ld, ld);
    add_transposed_products<double>({{some.data(), ld, x.row(first), stride}}, n, b.columns, stride,
                                    sums.data(), stride);
  }
  SmallMatrix transposed(b.columns, b.rows), result(b.rows, b.columns);
  for (int j = 0; j < b.columns; ++j)
    std::copy_n(sums.data() + std::int64_t{j} * stride, b.rows, &transposed.at(j, 0));
  comm.reduce(std::span<double>(transposed.values), Comm::Reduction::sum);
  for (int i = 0; i < b.rows; ++i)
    for (int j = 0; j < b.columns; ++j) result.at(i, j) = transposed.at(j, i);
  return result;
}

SmallMatrix transposed_product(const Comm& comm, const TallMatrix& a, const TallMatrix& b) {
  QUINTET_ASSERT(a.rows() == b.rows(), "{} and {} rows", a.rows(), b.rows());
  AlignedVector<double> sums(std::int64_t{a.columns()} * b.stride());
  if (a.rows() > 0)
    add_transposed_products<double>({{a.row(0), a.stride(), b.row(0), b.stride()}}, a.rows(), a.columns(),
                                    b.stride(), sums.data(), b.stride());
  SmallMatrix result(a.columns(), b.columns());
  for (int i = 0; i < a.columns(); ++i)
    std::copy_n(sums.data() + std::int64_t{i} * b.stride(), b.columns(), &result.at(i, 0));
  comm.reduce(std::span<double>(result.values), Comm::Reduction::sum);
  return result;
}

SmallMatrix small_copy(const TallMatrix& x) {
  SmallMatrix copy(x.rows(), x.columns());
  for (int i = 0; i < x.rows(); ++i) std::copy_n(x.row(i), x.columns(), &copy.at(i, 0));
  return copy;
}

TallMatrix tall_copy(const SmallMatrix& x) {
  TallMatrix copy(x.rows, x.columns);
  for (int i = 0; i < x.rows; ++i)
    std::copy_n(&x.values[std::int64_t{i} * x.columns], x.columns, copy.row(i));
  return copy;
}

TallMatrix product(const TallMatrix& x, const SmallMatrix& b) {
  QUINTET_ASSERT(x.columns() == b.rows, "{} columns, {} rows", x.columns(), b.rows);
  TallMatrix result(x.rows(), b.columns);
  const PackedMatrix<double> packed(b.values.data(), b.rows, b.columns);
  if (x.rows() > 0) multiply(x.row(0), x.stride(), x.rows(), packed, result.row(0), result.stride());
  return result;
}

bool orthonormalise(const Comm& comm, TallMatrix& x) {
  for (int round = 0; round < 4; ++round) {
    auto g = gram(comm, x);
    double worst = 0;
    for (int i = 0; i < g.rows; ++i)
      for (int j = 0; j < g.rows; ++j) worst = std::max(worst, std::abs(g.at(i, j) - (i == j ? 1 : 0)));
    if (round > 0 && worst < 1e-14) return true;
    // Columns of very unlike lengths first become alike.
    if (round == 0)
      for (int i = 0; i < g.rows; ++i) {
        const double length = std::sqrt(g.at(i, i));
        if (!(length > 0) || !std::isfinite(length)) return false;
        for (int p = 0; p < x.rows(); ++p) x.row(p)[i] /= length;
      }
    if (round == 0) g = gram(comm, x);
    if (!cholesky(g)) return false;
    solve_rows(x, g);
  }
  return true;
}

double sum_of_squares(const Comm& comm, const TallMatrix& x) {
  double sum = 0;
  for (int p = 0; p < x.rows(); ++p)
    for (int j = 0; j < x.columns(); ++j) sum += x.row(p)[j] * x.row(p)[j];
  return comm.sum(sum);
}

}  // namespace quintet::ocean
