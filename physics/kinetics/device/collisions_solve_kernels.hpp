#pragma once

#include <cmath>

#include "physics/kinetics/collisions/bgk_cell.hpp"
#include "physics/kinetics/collisions/collision_tables.hpp"
#include "physics/kinetics/collisions/exchange_cell.hpp"
#include "physics/kinetics/device/sweeps/vlasov_force_kernels.hpp"
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
    const double* const of = sums + std::int64_t{conf} * n_moments * N;
    double* const field = fields + std::int64_t{conf} * (vdim + 2) * N;
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
      if (gain != nullptr) right[i] += gain[std::int64_t{conf} * size + i];
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

/// BgkTarget's two halves, one thread a configuration cell.
struct StartRelaxation {
  BgkCell formulas;
  int first;              ///< configuration cell, of the first of these
  const double* moments;  ///< [n_conf, moments_size]
  const double* gain;     ///< [n_conf, vdim + 1, n]; null: none
  const double* rate;     ///< [n_conf, n]
  std::ptrdiff_t moments_size;
  double relax_time;  ///< > 0: for so long
  BgkCell::Work* work;
  double* states;   ///< [.., n_nodes + 1, vdim + 1], drift and thermal speed
  double* refused;  ///< [n_conf]: 1 where M is not to be had

  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    const auto conf = first + i;
    const int n = formulas.n, n_gain = (formulas.vdim + 1) * n, n_states = formulas.n_nodes + 1;
    auto& cell = work[i];
    bool good = true;
    const bool collides = BgkCell::collides(rate + conf * n, n);
    if (collides)
      good = formulas.start(moments + conf * moments_size, gain != nullptr ? gain + conf * n_gain : nullptr,
                            rate + conf * n, relax_time, cell);
    double* to = states + i * n_states * (formulas.vdim + 1);
    for (int q = 0; q < n_states; ++q) {
      const bool any = !collides || !good;  // what is made of it is not used
      const auto& state = q < formulas.n_nodes ? cell.node[q] : cell.mean;
      for (int d = 0; d < formulas.vdim; ++d) *to++ = any ? 0 : state.drift[d];
      *to++ = any ? 1 : ::sqrt(state.thermal_square);
    }
    refused[conf] = good ? 0 : 1;
  }
};

struct FinishRelaxation {
  BgkCell formulas;
  int first;
  const double *rate, *table_moments;  ///< [n_conf, n], [.., n_nodes + 3, vdim, 3, 2]
  const BgkCell::Work* work;
  double *factors, *matrices, *refused;

  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    const auto conf = first + i;
    const int n = formulas.n, n_functions = formulas.n_nodes + formulas.n_moments;
    double* const to = factors + i * 2 * n_functions * n;
    double* const matrix = matrices + i * n * n;
    bool good = refused[conf] == 0 && BgkCell::collides(rate + conf * n, n);
    if (good && !formulas.finish(table_moments + i * (formulas.n_nodes + 3) * formulas.vdim * 6, work[i],
                                 [=](int linear, int function, int mode, double value) {
                                   to[(linear * n_functions + function) * n + mode] = value;
                                 })) {
      refused[conf] = 1;
      good = false;
    }
    for (int a = 0; a < n * n; ++a) matrix[a] = good ? work[i].matrix[a] : 0;
    for (int a = 0; a < 2 * n_functions * n && !good; ++a) to[a] = 0;
  }
};

/// Greatest upper bound of A, sum_n |A_n| max|w_n| about its mean, of the configuration cells.
struct GreatestRate {
  int n;
  const double *rate, *greatest;  ///< [n_conf, n], [n]
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t conf, double& most) const {
    const double* const a = rate + conf * n;
    double upper = greatest[0] * a[0];
    for (int m = 1; m < n; ++m) upper += greatest[m] * (a[m] < 0 ? -a[m] : a[m]);
    most = upper > most ? upper : most;
  }
};

}  // namespace quintet::kinetics::device
