#include "physics/kinetics/basis/banded_solver.hpp"

#include <algorithm>

#include "io/log/error.hpp"

extern "C" {
void dpbtrf_(const char* uplo, const int* n, const int* kd, double* ab, const int* ldab, int* info);
}

namespace quintet::kinetics {

BandedCholesky::BandedCholesky(int n, int half_width)
    : n_(n), half_width_(half_width), band_(std::int64_t{n} * (half_width + 1)), inverse_diagonal_(n) {}

void BandedCholesky::factorise() {
  if (n_ == 0) return;
  const int leading = half_width_ + 1;
  int info = 0;
  dpbtrf_("L", &n_, &half_width_, band_.data(), &leading, &info);
  if (info < 0) throw InternalError(fmt::format("dpbtrf: argument {} is wrong", -info));
  if (info > 0)
    throw NumericalError(
        fmt::format("the matrix of the Poisson equation is not positive definite (row {} of {})", info, n_));
  for (int j = 0; j < n_; ++j) inverse_diagonal_[j] = 1 / entry(j, j);
}

// By hand, not dpbtrs: the bands are narrow in 1-D, where a call of BLAS for each column costs more than its
// work, and in 2-D and 3-D both are limited by reading the factor.
void BandedCholesky::solve(std::span<double> x) const {
  const auto width = half_width_ + 1;
  double* const values = x.data();
  for (int j = 0; j < n_; ++j) {  // L y = x, column by column
    const double* const column = band_.data() + std::int64_t{j} * width;
    const int below = std::min(half_width_, n_ - 1 - j);
    const double y = values[j] *= inverse_diagonal_[j];
    double* const rest = values + j;
    for (int i = 1; i <= below; ++i) rest[i] -= column[i] * y;
  }
  for (int j = n_ - 1; j >= 0; --j) {  // L^T x = y
    const double* const column = band_.data() + std::int64_t{j} * width;
    const int below = std::min(half_width_, n_ - 1 - j);
    const double* const rest = values + j;
    double sum = 0;
    for (int i = 1; i <= below; ++i) sum += column[i] * rest[i];
    values[j] = (values[j] - sum) * inverse_diagonal_[j];
  }
}

}  // namespace quintet::kinetics
