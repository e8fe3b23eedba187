#pragma once

#include <cmath>

#include "physics/kinetics/collisions/drag_places.hpp"
#include "physics/kinetics/collisions/exchange_cell.hpp"
#include "physics/kinetics/device/vlasov_force_kernels.hpp"
#include "physics/kinetics/device/vlasov_launch.hpp"

/// The small systems of equations of collisions, one a configuration cell, a team each.
namespace quintet::kinetics::device {

/// A x = b in place by Gauss elimination with row pivoting, as lu_factorise() and lu_solve() (dense_lu.hpp)
/// with one right-hand side; `a` [n, n] and `b` [n] are the team's, `factor` [n] is work. Returns false where
/// lu_factorise() does; the same for all members.
template <class Team>
KOKKOS_FORCEINLINE_FUNCTION bool solve_by_team(const Team& team, double* a, double* b, double* factor, int n,
                                               double least = 1e-15) {
  double scale = 0;
  for (int i = 0; i < n * n; ++i) scale = ::fmax(scale, ::fabs(a[i]));
  QUINTET_DEVICE_LOOP
  for (int k = 0; k < n; ++k) {
    int p = k;
    for (int i = k + 1; i < n; ++i)
      if (::fabs(a[i * n + k]) > ::fabs(a[p * n + k])) p = i;
    if (!(::fabs(a[p * n + k]) > least * scale)) return false;
    team.barrier();
    if (p != k)
      for (int j = k + team.rank; j <= n; j += team.size) {  // n: of b
        double* const upper = j < n ? a + k * n + j : b + k;
        double* const lower = j < n ? a + p * n + j : b + p;
        const double value = *upper;
        *upper = *lower;
        *lower = value;
      }
    team.barrier();
    for (int i = k + 1 + team.rank; i < n; i += team.size) factor[i] = a[i * n + k] / a[k * n + k];
    team.barrier();
    const int rows = n - k - 1, columns = n - k;
    for (int e = team.rank; e < rows * columns; e += team.size) {
      const int i = k + 1 + e / columns, j = k + 1 + e % columns;
      if (j < n)
        a[i * n + j] -= factor[i] * a[k * n + j];
      else
        b[i] -= factor[i] * b[k];
    }
    team.barrier();
  }
  QUINTET_DEVICE_LOOP
  for (int i = n - 1; i >= 0; --i) {
    if (team.rank == 0) b[i] /= a[i * n + i];
    team.barrier();
    for (int j = team.rank; j < i; j += team.size) b[j] -= a[j * n + i] * b[i];
    team.barrier();
  }
  return true;
}

/// CollisionMoments::solve_cell(): B and D from the moments and A.
template <int N>
struct SolveDragDiffusion {
  static constexpr int threads = 64, most = 4 * N, scratch = most * (most + 2);
  int vdim, n_moments;
  DragPlaces places;
  const double* triple;  ///< [N, N, N]
  const double* sums;    ///< [n_conf, n_moments, N]
  const double* gain;    ///< [n_conf, vdim + 1, N]; null: none
  double* fields;        ///< [n_conf, vdim + 2, N]
  double* refused;       ///< [n_conf]: 1 where density or vth^2 are not positive, else 0

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int conf = team.league, size = (vdim + 1) * N;
    const double* const of = sums + static_cast<std::ptrdiff_t>(conf) * n_moments * N;
    double* const field = fields + static_cast<std::ptrdiff_t>(conf) * (vdim + 2) * N;
    double *const matrix = team.scratch, *const right = matrix + size * size, *const work = right + size;
    bool collides = false;
    for (int a = 0; a < N; ++a) collides = collides || field[a] != 0;
    if (!collides) {
      for (int i = team.rank; i < size; i += team.size) field[N + i] = 0;
      if (team.rank == 0) refused[conf] = 0;
      return;
    }
    for (int i = team.rank; i < size * size; i += team.size) matrix[i] = entry(of, i / size, i % size);
    for (int i = team.rank; i < size; i += team.size) {
      right[i] = of_rate(field, of + (i / N < vdim ? 1 + i / N : places.energy) * N, i % N);
      if (gain != nullptr) right[i] += gain[static_cast<std::ptrdiff_t>(conf) * size + i];
    }
    team.barrier();
    const bool solved = solve_by_team(team, matrix, right, work, size);
    if (solved)
      for (int i = team.rank; i < size; i += team.size) field[N + i] = right[i];
    if (team.rank == 0) refused[conf] = solved && of[0] > 0 && right[vdim * N] > 0 ? 0 : 1;
  }

 private:
  /// Row and column are those of the whole matrix.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double entry(const double* of, int row, int column) const {
    const int r = row / N, c = column / N, place = row % N * N + column % N;
    if (r < vdim && c < vdim) return r == c ? product(of, place) : 0;
    if (r < vdim) return -product(of + (places.end + r) * N, place);
    if (c < vdim) return product(of + (places.drag + c) * N, place);
    const double spread = product(of + places.spread * N, place);
    return places.star ? spread : vdim * product(of, place) - spread;
  }
  /// An entry of the matrix of the weak product with a.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double product(const double* a, int place) const {
    double sum = 0;
    for (int m = 0; m < N; ++m) sum += triple[place * N + m] * a[m];
    return sum;
  }
  /// Mode l of the weak product of a and b.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double of_rate(const double* a, const double* b, int l) const {
    double sum = 0;
    for (int k = 0; k < N; ++k) sum += product(a, l * N + k) * b[k];
    return sum;
  }
};

/// Rates and gains of all species, one thread a configuration cell.
struct Exchange {
  ExchangeCell cell;
  double* refused;  ///< [n_conf]: 1 where the cell is
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t conf) const { refused[conf] = cell(conf) ? 0 : 1; }
};

}  // namespace quintet::kinetics::device
