#include "physics/solvers/sparse_newton_schulz.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <petscmat.h>

#include "physics/solvers/petsc_error.hpp"
#include "physics/solvers/petsc_matrix.hpp"

namespace quintet {

namespace {

PetscMatrix product(const PetscMatrix& a, const PetscMatrix& b, double threshold) {
  Mat made = nullptr;
  check_petsc(MatMatMult(a.get(), b.get(), MAT_INITIAL_MATRIX, PETSC_DEFAULT, &made), "MatMatMult");
  return filtered(PetscMatrix(made), threshold);
}

void shift_diagonal(const PetscMatrix& a, double shift) { check_petsc(MatShift(a.get(), shift), "MatShift"); }

void scale(const PetscMatrix& a, double factor) { check_petsc(MatScale(a.get(), factor), "MatScale"); }

double frobenius_norm(const PetscMatrix& a) {
  PetscReal norm = 0;
  check_petsc(MatNorm(a.get(), NORM_FROBENIUS, &norm), "MatNorm");
  return norm;
}

}  // namespace

electronic::GlobalSign petsc_newton_schulz(const electronic::BlockMatrix& a, double mu, double threshold,
                                           int max_iterations) {
  const auto start = std::chrono::steady_clock::now();
  electronic::GlobalSign result(a);
  filter(result.p, threshold);
  const auto bounds = spectrum_bounds(result.p);
  PetscMatrix x = to_petsc(result.p);
  shift_diagonal(x, -mu);
  scale(x, 1 / std::max(std::abs(bounds.lower - mu), std::abs(bounds.upper - mu)));
  const double n = std::sqrt(a.blocking->n_rows());
  for (;;) {
    PetscMatrix y = product(x, x, threshold);
    shift_diagonal(y, -1);
    result.history.push_back(frobenius_norm(y) / n);
    if (electronic::newton_schulz_ends(result.history, threshold, max_iterations)) break;
    shift_diagonal(y, -2);  // X X - 3
    scale(y, -0.5);
    x = product(x, y, threshold);
    ++result.iterations;
  }
  scale(x, -0.5);
  shift_diagonal(x, 0.5);
  result.p = from_petsc(x, a);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace quintet
