#pragma once

#include <cmath>

#include <Kokkos_Core.hpp>

/// Small dense systems of equations, one a cell.
namespace quintet::kinetics {

KOKKOS_INLINE_FUNCTION void swap_numbers(double& a, double& b) {
  const double value = a;
  a = b;
  b = value;
}

/// L U = P A in place by Gauss elimination with row pivoting; a [n, n] row by row, pivot [n]. Returns false
/// if a pivot is not a number or less than `least` times the greatest entry of a: the factors must not be
/// used then. Takes 2 n^3/3 flops; callable inside kernels.
KOKKOS_INLINE_FUNCTION bool lu_factorise(double* a, int* pivot, int n, double least = 1e-15) {
  double scale = 0;
  for (int i = 0; i < n * n; ++i) scale = ::fmax(scale, ::fabs(a[i]));
  for (int k = 0; k < n; ++k) {
    int p = k;
    for (int i = k + 1; i < n; ++i)
      if (::fabs(a[i * n + k]) > ::fabs(a[p * n + k])) p = i;
    pivot[k] = p;
    if (!(::fabs(a[p * n + k]) > least * scale)) return false;
    if (p != k)
      for (int j = 0; j < n; ++j) swap_numbers(a[k * n + j], a[p * n + j]);
    for (int i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return true;
}

/// b := A^-1 b with the result of lu_factorise.
KOKKOS_INLINE_FUNCTION void lu_solve(const double* lu, const int* pivot, double* b, int n) {
  for (int k = 0; k < n; ++k) swap_numbers(b[k], b[pivot[k]]);
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < i; ++j) b[i] -= lu[i * n + j] * b[j];
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) b[i] -= lu[i * n + j] * b[j];
    b[i] /= lu[i * n + i];
  }
}

}  // namespace quintet::kinetics
