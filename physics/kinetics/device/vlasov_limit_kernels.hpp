#pragma once

#include "physics/kinetics/device/sweeps/vlasov_force_kernels.hpp"
#include "physics/kinetics/device/vlasov_device.hpp"
#include "physics/kinetics/device/vlasov_launch.hpp"

/// Sources and the limiter of DeviceVlasov, one thread a cell, loops; and what observers ask about f, without
/// f leaving the device: summaries (DeviceVlasov::Summary), a team a part of a configuration cell.
namespace quintet::kinetics::device {

/// to = sum of factor from.
struct CombineDistributions {
  double* to;
  const double* from[DeviceVlasov::most_terms];
  double factor[DeviceVlasov::most_terms];
  int n;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    double sum = 0;
    unroll<DeviceVlasov::most_terms>([&](auto k) QUINTET_DEVICE_INLINE {
      if (k.value < n) sum += factor[k.value] * from[k.value][i];
    });
    to[i] = sum;
  }
};

/// Positivity::limit_cell() of one cell; what v_i f and v.v f change by is summed.
template <class Tr>
struct LimitCell {
  using value_type = double[];
  unsigned value_count = 4;
  Cells<Tr> cells;
  const double* nodes;  ///< [n_nodes, n_modes]
  int n_nodes;
  double mean;  ///< value of the constant basis function
  double* f;

  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i, double* change) const {
    const int conf = i / cells.n_vel, cell = i % cells.n_vel;
    double* const there = f + cells.place(conf, cell);
    double own[Tr::n_modes], least = 0;
    for (int m = 0; m < Tr::n_modes; ++m) own[m] = there[m * lanes];
    for (int node = 0; node < n_nodes; ++node) {
      const double* const value = nodes + std::int64_t{node} * Tr::n_modes;
      double x = 0;
      for (int m = 0; m < Tr::n_modes; ++m) x += value[m] * own[m];
      least = x < least ? x : least;
    }
    if (!(least < 0)) return;
    const double positive = mean * own[0] > 0 ? mean * own[0] : 0, theta = positive / (positive - least);
    const CellContext<Tr> c(cells, cell);
    double loss = theta - 1;
    unroll<Tr::vdim>([&](auto d) { loss *= c.relative[d.value]; });
    unroll<Tr::vdim>([&](auto d) {
      constexpr int D = d.value, up = Tr::neighbours.up[D][0], up2 = Tr::neighbours.up[D][up];
      // int xi phi_1 and int xi^2 phi_2 relative to int phi_0
      constexpr double first_order = legendre_tables.shift[1], second_order = constant_sqrt(5) * 2 / 15;
      const double h = c.half_dv[D], first = h * first_order * loss * own[Tr::offset(up)];
      change[D] += first;
      change[3] += 2 * c.v[D] * first;
      if constexpr (up2 >= 0) change[3] += h * h * second_order * loss * own[Tr::offset(up2)];
    });
    for (int m = 1; m < Tr::n_modes; ++m) there[m * lanes] = theta * own[m];
  }
};

/// The least cell mean and where it is.
template <class Tr>
struct LeastMean {
  using Found = Kokkos::MinLoc<double, std::ptrdiff_t>::value_type;
  Cells<Tr> cells;
  double mean;
  const double* f;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i, Found& least) const {
    const double here =
        mean * f[cells.place(static_cast<int>(i / cells.n_vel), static_cast<int>(i % cells.n_vel))];
    if (here < least.val) {
      least.val = here;
      least.loc = i;
    }
  }
};

/// The members' values joined, to member 0; as team_sum().
template <class Team, class Join>
KOKKOS_FORCEINLINE_FUNCTION double team_join(const Team& team, double value, const Join& join) {
  team.barrier();
  team.scratch[team.rank] = value;
  team.barrier();
  for (int half = team.size / 2; half > 0; half /= 2) {
    if (team.rank < half)
      team.scratch[team.rank] = join(team.scratch[team.rank], team.scratch[team.rank + half]);
    team.barrier();
  }
  return team.scratch[0];
}

/// Takes the lesser; once NaN it stays NaN.
struct Least {
  KOKKOS_FORCEINLINE_FUNCTION double operator()(double a, double b) const { return b < a || b != b ? b : a; }
};
struct Greatest {
  KOKKOS_FORCEINLINE_FUNCTION double operator()(double a, double b) const { return b > a || a != a ? b : a; }
};

/// a: of what both are of.
inline void join(DeviceVlasov::Summary& a, const DeviceVlasov::Summary& b) {
  a.square += b.square;
  a.negative += b.negative;
  a.least = Least()(a.least, b.least);
  a.greatest = Greatest()(a.greatest, b.greatest);
  for (std::size_t i = 0; i < a.at_ends.size(); ++i) a.at_ends[i] += b.at_ends[i];
}

/// Summarises one part of a configuration cell's velocity cells.
template <class Tr>
struct PartialSummary {
  static constexpr int threads = 64, scratch = threads, n_numbers = DeviceVlasov::Summary::n_numbers;
  Cells<Tr> cells;
  const double *nodes, *weights;  ///< [n_nodes, n_modes], [n_nodes]
  int n_nodes;
  const double* f;
  double* parts;  ///< [n_conf, n_parts, n_numbers]
  int n_parts, part;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int conf = team.league / n_parts, first = team.league % n_parts * part;
    const int end = first + part < cells.n_vel ? first + part : cells.n_vel;
    double square = 0, negative = 0, least = HUGE_VAL, greatest = -HUGE_VAL, ends[6]{};
    for (int cell = first + team.rank; cell < end; cell += team.size) {
      const CellContext<Tr> c(cells, cell);
      const double* const own = f + cells.place(conf, cell);
      double volume = 1;
      unroll<Tr::vdim>([&](auto d) QUINTET_DEVICE_INLINE { volume *= c.relative[d.value]; });
      double sum = 0;
      for (int m = 0; m < Tr::n_modes; ++m) sum += own[m * lanes] * own[m * lanes];
      square += volume * sum;
      negative += volume * negative_part(own);
      const double mean = own[0], held = volume * (mean < 0 ? -mean : mean);
      least = Least()(least, mean);
      greatest = Greatest()(greatest, mean);
      unroll<Tr::vdim>([&](auto d) QUINTET_DEVICE_INLINE {
        if (c.index[d.value] == 0) ends[2 * d.value] += held;
        if (c.index[d.value] == cells.nv[d.value] - 1) ends[2 * d.value + 1] += held;
      });
    }
    double* const out = parts + std::int64_t{team.league} * n_numbers;
    write(team, team_sum(team, square), out);
    write(team, team_sum(team, negative), out + 1);
    write(team, team_join(team, least, Least()), out + 2);
    write(team, team_join(team, greatest, Greatest()), out + 3);
    unroll<6>([&](auto i)
                  QUINTET_DEVICE_INLINE { write(team, team_sum(team, ends[i.value]), out + 4 + i.value); });
  }

 private:
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write(const Team& team, double value, double* to) const {
    if (team.rank == 0) *to = value;
  }
  /// -sum of weights min(f, 0) over the nodes of one cell.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double negative_part(const double* own) const {
    double sum = 0;
    QUINTET_DEVICE_LOOP
    for (int node = 0; node < n_nodes; ++node) {
      const double* const value = nodes + std::int64_t{node} * Tr::n_modes;
      double x = 0;
      for (int m = 0; m < Tr::n_modes; ++m) x += value[m] * own[m * lanes];
      sum -= weights[node] * (x < 0 ? x : 0);
    }
    return sum;
  }
};

}  // namespace quintet::kinetics::device
