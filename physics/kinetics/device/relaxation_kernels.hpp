#pragma once

#include <cmath>

#include "physics/kinetics/device/collisions_kernels.hpp"

/// Kernels of DeviceCollisions that relax f to Maxwellians: tables of these along each direction, their
/// moments, and the sweep.
namespace quintet::kinetics::device {

/// Tables of one-dimensional Maxwellians (MaxwellianTables): [conf, table, direction, degree, cell].
struct Maxwellians {
  int vdim, n_nodes, n_degrees, n_points;
  int cells[3], begin[3];  ///< of the grid; where the block begins
  const double *centre[3], *half[3], *power[3];
  const double *point, *point_weight;
  const double* states;  ///< [conf, n_nodes + 1, vdim + 1]
  double* values;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int n_tables() const { return n_nodes + 3; }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int n_cells() const { return cells[0] + cells[1] + cells[2]; }
  /// Size of one table, all directions.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::ptrdiff_t table_size() const {
    return std::int64_t{n_degrees} * n_cells();
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::ptrdiff_t place(int conf, int table, int d,
                                                                 int degree) const {
    const int before = d > 1 ? cells[0] + cells[1] : d > 0 ? cells[0] : 0;
    return (std::int64_t{conf} * n_tables() + table) * table_size() + std::int64_t{n_degrees} * before +
           std::int64_t{degree} * cells[d];
  }
};

/// One thread a cell of a direction.
struct MakeMaxwellians {
  Maxwellians m;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    int cell = i % m.n_cells(), d = 0;
    const int table = i / m.n_cells() % m.n_tables();
    const int conf = i / m.n_cells() / m.n_tables();
    while (cell >= m.cells[d]) cell -= m.cells[d++];
    const bool mean = table >= m.n_nodes;
    const double* const state =
        m.states + (std::int64_t{conf} * (m.n_nodes + 1) + (mean ? m.n_nodes : table)) * (m.vdim + 1);
    const double inverse = 1 / state[m.vdim], norm = inverse * 0.3989422804014326779;  // 1/sqrt(2 pi)
    const double from_drift = m.centre[d][cell] - state[d], half = m.half[d][cell];
    double sum[max_degree + 1]{};
    for (int q = 0; q < m.n_points; ++q) {
      const double w = (from_drift + half * m.point[q]) * inverse, square = 0.5 * w * w;
      const double g = norm * ::exp(-(square < 690 ? square : 690));
      const double s = table == m.n_nodes + 1 ? g * w : table == m.n_nodes + 2 ? g * (w * w - 1) : g;
      unroll<max_degree + 1>([&](auto k) {
        if (k.value < m.n_degrees) sum[k.value] += m.point_weight[q * m.n_degrees + k.value] * s;
      });
    }
    double* const to = m.values + m.place(conf, table, d, 0) + cell;
    unroll<max_degree + 1>([&](auto k) {
      if (k.value < m.n_degrees) to[std::int64_t{k.value} * m.cells[d]] = sum[k.value];
    });
  }
};

/// Moments of a table in one direction: a team each.
struct MaxwellianMoments {
  static constexpr int threads = 64, scratch = threads;
  Maxwellians m;
  double* out;  ///< [conf, table, direction, 3, 2]

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int d = team.league % m.vdim, table = team.league / m.vdim % m.n_tables();
    const double* const h = m.values + m.place(team.league / m.vdim / m.n_tables(), table, d, 0);
    const int n_cells = m.cells[d];
    QUINTET_DEVICE_LOOP
    for (int power = 0; power < 3; ++power) {
      double low = 0, high = 0;
      for (int k = 0; k < m.n_degrees && k <= power; ++k) {
        const double* const weight = m.power[d] + (std::int64_t{power} * m.n_degrees + k) * n_cells;
        const double* const of = h + std::int64_t{k} * n_cells;
        double sum = 0;
        for (int i = team.rank; i < n_cells; i += team.size) sum += weight[i] * of[i];
        (k < 2 ? low : high) += sum;
      }
      low = team_sum(team, low);
      high = team_sum(team, high);
      if (team.rank == 0) {
        double* const to = out + std::int64_t{team.league} * 6 + power * 2;
        to[0] = low + high;
        to[1] = low;
      }
    }
  }
};

/// f_to += weight (factors times functions - matrix f).
template <int N>
struct AddRelaxation {
  static constexpr int L = lanes, nl = n_lin_of<N>, most_functions = 9 + 5;
  static constexpr int scratch = 2 * most_functions * N + N * N;
  static constexpr int threads = 128, blocks = 4;
  CollisionCells cells;
  Maxwellians m;
  const double *factors, *matrices;
  bool uniform_rate;
  int first;  ///< configuration cell, of the first that has tables
  const double* f;
  double* out;
  double weight;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int number = team.league / cells.n_packs, pack = team.league % cells.n_packs;
    const int n_factors = 2 * (m.n_nodes + cells.vdim + 2) * N;
    double* const matrix = team.scratch + n_factors;
    for (int i = team.rank; i < n_factors; i += team.size)
      team.scratch[i] = factors[std::int64_t{number} * n_factors + i];
    for (int i = team.rank; i < N * N; i += team.size)
      matrix[i] = matrices[std::int64_t{number} * (N * N) + i];
    team.barrier();
    QUINTET_DEVICE_LOOP
    for (int i = team.rank; i < cells.groups->n_groups * L; i += team.size)
      if (const int cell = pack * L + i % L; cell < cells.n_vel)
        update(number, cell, i / L, team.scratch, matrix);
  }

  KOKKOS_FORCEINLINE_FUNCTION void update(int number, int cell, int g, const double* of_groups,
                                          const double* matrix) const {
    const CollisionGroups& t = *cells.groups;
    const bool full = t.n_conf[g] == N;
    const int n_functions = m.n_nodes + cells.vdim + 2;
    const double* const factor = of_groups + (full ? 0 : n_functions * N);
    // The own cell's place in the tables of each direction.
    const double* row[3]{};
    int rest = cell;
    unroll<3>([&](auto from_last) QUINTET_DEVICE_INLINE {
      constexpr int d = 2 - from_last.value;
      if (d >= cells.vdim) return;
      row[d] = m.values + m.place(number, 0, d, t.degree[d][g]) + m.begin[d] + rest % cells.nv[d];
      rest /= cells.nv[d];
    });
    const std::ptrdiff_t table = m.table_size();
    double sum[N], own[N];
    set_zero<N>(sum);
    const auto add = [&](int function, double p) QUINTET_DEVICE_INLINE {
      unroll<N>([&](auto a) QUINTET_DEVICE_INLINE { sum[a.value] += p * factor[function * N + a.value]; });
    };
    // The product of one table along each v but `direction`, and of another there.
    const auto product = [&](int number_of_table, int direction, int other) QUINTET_DEVICE_INLINE {
      double p = 1;
      unroll<3>([&](auto d) QUINTET_DEVICE_INLINE {
        if (d.value < cells.vdim) p *= row[d.value][(d.value == direction ? other : number_of_table) * table];
      });
      return p;
    };
    QUINTET_DEVICE_LOOP
    for (int q = 0; q < m.n_nodes; ++q) add(q, product(q, -1, 0));
    add(m.n_nodes, product(m.n_nodes, -1, 0));
    double squared = 0;
    QUINTET_DEVICE_LOOP
    for (int d = 0; d < cells.vdim; ++d) {
      add(m.n_nodes + 1 + d, product(m.n_nodes, d, m.n_nodes + 1));
      squared += product(m.n_nodes, d, m.n_nodes + 2);
    }
    add(m.n_nodes + 1 + cells.vdim, squared);
    const std::ptrdiff_t place = cells.place(first + number, cell) + t.offset[g] * L;
    set_zero<N>(own);
    add_modes<N>(own, uniform_rate ? -matrix[0] : -1, f + place, full);
    if (uniform_rate)
      unroll<N>([&](auto a) QUINTET_DEVICE_INLINE { sum[a.value] += own[a.value]; });
    else
      add_product<N>(matrix, own, sum, full);
    store_modes<N>(out + place, weight, sum, full);
  }
};

}  // namespace quintet::kinetics::device
