#pragma once

#include "physics/kinetics/device/sweeps/vlasov_group_kernels.hpp"
#include "physics/kinetics/device/vlasov_launch.hpp"

/// Kernels of DeviceVlasov besides the sweep: layouts, moments, the edges of x and v. One thread a cell,
/// loops.
namespace quintet::kinetics::device {

/// Between the host's layout [conf][row][pack][mode][host lane] and the device's [conf][cell / 32][mode][32].
struct Relayout {
  int n_modes, n_rows, n_last, host_lanes, host_packs, n_packs, n_vel;
  bool to_host;
  double *host, *device;

  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    const int lane = i % lanes;
    const int mode = i / lanes % n_modes;
    const auto pack = i / lanes / n_modes;
    const auto conf = pack / n_packs;
    const int cell = static_cast<int>(pack % n_packs) * lanes + lane;
    if (cell >= n_vel) {
      if (!to_host) device[i] = 0;
      return;
    }
    const int row = cell / n_last, last = cell % n_last;
    const auto there =
        (((conf * n_rows + row) * host_packs + last / host_lanes) * n_modes + mode) * host_lanes +
        last % host_lanes;
    if (to_host)
      host[there] = device[i];
    else
      device[i] = host[there];
  }
};

/// out[i] = sum of the members' sums[i].
template <class Team, int N>
KOKKOS_FORCEINLINE_FUNCTION void write_sums(const Team& team, const double (&sums)[N], double* out) {
  for (int i = 0; i < N; ++i) {
    double value = 0;
    unroll<N>([&](auto k) { value = k.value == i ? sums[k.value] : value; });
    value = team_sum(team, value);
    if (team.rank == 0) out[i] = value;
  }
}

/// Sums of M0, M1 (and M2) of one part of a configuration cell's velocity cells, to be added up by AddParts.
template <class Tr>
struct PartialMoments {
  static constexpr int n = Tr::n_full, vdim = Tr::vdim, n_sums = (2 + vdim) * n;
  static constexpr int threads = 64;
  static constexpr int scratch = threads;
  Cells<Tr> cells;
  double factor;  ///< int phi_0 over a mean velocity cell
  const double* f;
  double* parts;  ///< [n_conf, n_parts, (2 + vdim) n]
  int n_parts, part;
  bool with_m2;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int conf = team.league / n_parts, first = team.league % n_parts * part;
    const int end = first + part < cells.n_vel ? first + part : cells.n_vel;
    double sum[n_sums]{};
    for (int cell = first + team.rank; cell < end; cell += team.size) {
      const CellContext<Tr> c(cells, cell);
      const double* const own = f + cells.place(conf, cell);
      double volume = factor;
      unroll<vdim>([&](auto d) { volume *= c.relative[d.value]; });
      double square = 0;
      unroll<vdim>([&](auto d) {
        square += c.v[d.value] * c.v[d.value] + c.half_dv[d.value] * c.half_dv[d.value] / 3;
      });
      unroll<n>([&](auto a) {
        constexpr int A = a.value;
        const double zeroth = volume * own[A * lanes];
        sum[A] += zeroth;
        double second = square * zeroth;
        unroll<vdim>([&](auto d) {
          constexpr int D = d.value, up = Tr::neighbours.up[D][0], up2 = Tr::neighbours.up[D][up];
          // int xi phi_1 and int xi^2 phi_2 relative to int phi_0
          constexpr double first_order = legendre_tables.shift[1];
          constexpr double second_order = constant_sqrt(5) * 2 / 15;
          const double h = c.half_dv[D];
          const double slope = volume * h * first_order * own[(Tr::offset(up) + A) * lanes];
          sum[(1 + D) * n + A] += c.v[D] * zeroth + slope;
          second += 2 * c.v[D] * slope;
          if constexpr (up2 >= 0)
            if constexpr (A < Tr::n_conf(up2))
              if (with_m2) second += volume * h * h * second_order * own[(Tr::offset(up2) + A) * lanes];
        });
        sum[(1 + vdim) * n + A] += second;
      });
    }
    write_sums(team, sum, parts + (std::int64_t{conf} * n_parts + team.league % n_parts) * n_sums);
  }
};

struct AddParts {
  int n_parts, n_sums, n_out;
  const double* parts;
  double* out;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    const auto conf = i / n_out;
    double sum = 0;
    for (int p = 0; p < n_parts; ++p) sum += parts[(conf * n_parts + p) * n_sums + i % n_out];
    out[i] = sum;
  }
};

/// The edge of a block at side -1 or +1 of direction I, and traces there in the host's layout.
template <class Tr>
struct Edge {
  Cells<Tr> cells;
  int direction, side;
  int n_last, host_lanes, host_packs;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int conf(int number) const {
    int of = 0, stride = 1;
    for (int d = Tr::cdim - 1; d >= 0; --d) {
      int here = side < 0 ? 0 : cells.nx[d] - 1;
      if (d != direction) {
        here = number % cells.nx[d];
        number /= cells.nx[d];
      }
      of += here * stride;
      stride *= cells.nx[d];
    }
    return of;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::ptrdiff_t place(int number, int cell) const {
    const int row = cell / n_last, last = cell % n_last, n_rows = cells.n_vel / n_last;
    return ((std::int64_t{number} * n_rows + row) * host_packs + last / host_lanes) *
               (Tr::n_conf_face_modes * host_lanes) +
           last % host_lanes;
  }
};

template <class Tr>
struct MakeTrace {
  Edge<Tr> edge;
  const double* f;
  double* out;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    unroll<Tr::cdim>([&](auto d) {
      if (d.value == edge.direction) make<d.value>(i);
    });
  }
  template <int I>
  KOKKOS_FORCEINLINE_FUNCTION void make(std::ptrdiff_t i) const {
    const int number = i / edge.cells.n_vel, cell = i % edge.cells.n_vel;
    const double* const own = f + edge.cells.place(edge.conf(number), cell);
    double* const to = out + edge.place(number, cell);
    for (int g = 0; g < Tr::n_groups; ++g) {
      const int width = g < Tr::n_full_groups ? Tr::n_full : Tr::n_lin, first = Tr::offset(g);
      unroll<Tr::n_conf_face_full>([&](auto fa) {
        constexpr int least = Tr::conf_faces.ladder[I][fa.value][0];
        if (least >= width) return;
        double s = 0;
        unroll<Tr::order + 1>([&](auto k) {
          constexpr int A = Tr::conf_faces.ladder[I][fa.value][k.value];
          constexpr double end = end_of<k.value>;
          if (A >= 0 && A < width)
            s += (edge.side < 0 && k.value % 2 == 1 ? -end : end) * own[(first + A) * lanes];
        });
        to[(Tr::conf_face_offset(g) + fa.value) * edge.host_lanes] = s;
      });
    }
  }
};

/// out += rate times the flux from outside, lifted.
template <class Tr>
struct AddExterior {
  Edge<Tr> edge;
  const GroupTables<Tr>* tables;
  const double* outside;
  double* out;
  double rate;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    unroll<Tr::cdim>([&](auto d) {
      if (d.value == edge.direction) add<d.value>(i);
    });
  }
  template <int I>
  KOKKOS_FORCEINLINE_FUNCTION void add(std::ptrdiff_t i) const {
    const int number = i / edge.cells.n_vel, cell = i % edge.cells.n_vel;
    const CellContext<Tr> c(edge.cells, cell);
    const FaceWeights w = weights_of(edge.cells.flux, c.v[I], c.half_dv[I]);
    // Outside lies left of the lower edge and right of the upper one.
    const double weight = edge.side < 0 ? w.left : w.right, penalty = edge.side < 0 ? w.penalty : -w.penalty;
    if (weight == 0) return;
    const double rdx = edge.cells.rdx[I], v = c.v[I] * rdx, half_dv = c.half_dv[I] * rdx;
    const double* const t = outside + edge.place(number, cell);
    double* const to = out + edge.cells.place(edge.conf(number), cell);
    const int L = edge.host_lanes;
    const auto width = [](int g) { return g < Tr::n_full_groups ? Tr::n_full : Tr::n_lin; };
    const auto face_width = [](int g) {
      return g < Tr::n_full_groups ? Tr::n_conf_face_full : Tr::n_conf_face_lin;
    };
    for (int g = 0; g < Tr::n_groups; ++g) {
      const int k = tables->degree[I][g], below = tables->down[I][g], above = tables->up[I][g];
      unroll<Tr::n_conf_face_full>([&](auto fa) {
        constexpr int A = fa.value;
        if (A >= face_width(g)) return;
        const double own = t[(tables->conf_face_offset[g] + A) * L];
        double s = v * own;
        if (below >= 0 && A < face_width(below))
          s += half_dv * tables->shift[k] * t[(tables->conf_face_offset[below] + A) * L];
        if (above >= 0 && A < face_width(above))
          s += half_dv * tables->shift[k + 1] * t[(tables->conf_face_offset[above] + A) * L];
        const double flux = weight * s + penalty * rdx * own;
        unroll<Tr::order + 1>([&](auto kx) {
          constexpr int M = Tr::conf_faces.ladder[I][A][kx.value];
          constexpr double end = end_of<kx.value>;
          if (M >= 0 && M < width(g))
            to[(tables->offset[g] + M) * lanes] += rate *
                                                   (edge.side > 0       ? -end
                                                    : kx.value % 2 == 1 ? -end
                                                                        : end) *
                                                   flux;
        });
      });
    }
  }
};

/// The velocity cells of a block at side -1 or +1 of direction v_d, and traces there in the host's layout.
template <class Tr>
struct VelocityEdge {
  Cells<Tr> cells;
  int direction, side;  ///< d, counted from 0
  int n_last, host_lanes, host_packs;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int n_cells() const {
    int n = cells.n_vel;
    unroll<Tr::vdim>([&](auto d) { n = d.value == direction ? n / cells.nv[d.value] : n; });
    return n;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int cell(int number) const {
    int of = 0, stride = 1;
    unroll<Tr::vdim>([&](auto from_last) {
      constexpr int d = Tr::vdim - 1 - from_last.value;
      int here = side < 0 ? 0 : cells.nv[d] - 1;
      if (d != direction) {
        here = number % cells.nv[d];
        number /= cells.nv[d];
      }
      of += here * stride;
      stride *= cells.nv[d];
    });
    return of;
  }
  /// Mode m stands at first + m * stride.
  struct Place {
    std::ptrdiff_t first;
    int stride;
  };
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION Place place(int conf, int number) const {
    constexpr int n = Tr::n_face_modes;
    if (direction == Tr::vdim - 1) return {(std::int64_t{conf} * n_cells() + number) * n, 1};
    const auto row = std::int64_t{conf} * (n_cells() / n_last) + number / n_last;
    const int last = number % n_last;
    return {(row * host_packs + last / host_lanes) * (n * host_lanes) + last % host_lanes, host_lanes};
  }
};

/// Coefficient a of function i of the face at side -1 or +1 of a cell across v_d.
template <class Tr>
KOKKOS_FORCEINLINE_FUNCTION double velocity_trace(const GroupTables<Tr>& t, int d, int side, int i, int a,
                                                  const double* f) {
  double sum = 0;
  for (int k = 0; k < GroupTables<Tr>::n_degrees; ++k) {
    const int g = t.ladder[d][i][k];
    if (g < 0 || a >= (g < Tr::n_full_groups ? Tr::n_full : Tr::n_lin)) continue;
    sum += (side < 0 && k % 2 == 1 ? -t.end[k] : t.end[k]) * f[(t.offset[g] + a) * lanes];
  }
  return sum;
}

template <class Tr>
struct MakeVelocityTrace {
  VelocityEdge<Tr> edge;
  const GroupTables<Tr>* tables;
  const double* f;
  double* out;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    const int n = edge.n_cells(), conf = i / n, number = i % n;
    const double* const own = f + edge.cells.place(conf, edge.cell(number));
    const auto place = edge.place(conf, number);
    for (int face = 0; face < Tr::n_face_groups; ++face)
      for (int m = tables->face_offset[face]; m < tables->face_offset[face + 1]; ++m)
        out[place.first + m * place.stride] =
            velocity_trace<Tr>(*tables, edge.direction, edge.side, face, m - tables->face_offset[face], own);
  }
};

/// out += rate times the flux of the face between an edge's cells and those outside, which the sweep takes
/// for closed; one thread a cell and group.
template <class Tr>
struct AddVelocityExterior {
  using Places = ForcePlaces<Tr>;
  static constexpr int nf = Tr::n_full;
  VelocityEdge<Tr> edge;
  const GroupTables<Tr>* tables;
  const double *forces, *inside, *outside;
  double* out;
  double rate;

  KOKKOS_FUNCTION void operator()(std::ptrdiff_t thread) const {
    const GroupTables<Tr>& t = *tables;
    const int n = edge.n_cells(), number = thread % n, d = edge.direction;
    const int g = thread / n % Tr::n_groups, conf = thread / n / Tr::n_groups;
    const int cell = edge.cell(number), face = t.face[d][g], k = t.degree[d][g];
    const CellContext<Tr> c(edge.cells, cell);
    const double* const force = forces + std::int64_t{conf} * Places::size;
    const bool magnetic = Tr::vdim > 1 && force[Places::magnetic] != 0;
    const FaceWeights w = force_weights<Tr>(c, edge.cells.flux, force, magnetic, d);
    const double* const own = inside + edge.cells.place(conf, cell);
    const auto place = edge.place(conf, number);
    const double own_weight = edge.side > 0 ? w.left : w.right,
                 other_weight = edge.side > 0 ? w.right : w.left;
    // q[a] += factor times (of_own f inside + of_other f outside) in function i of the face
    const auto add = [&](double* q, double factor, int i, double of_own, double of_other) {
      for (int a = 0; a < t.face_offset[i + 1] - t.face_offset[i]; ++a)
        q[a] += factor * (of_own * velocity_trace<Tr>(t, d, edge.side, i, a, own) +
                          of_other * outside[place.first + (t.face_offset[i] + a) * place.stride]);
    };
    double h[nf]{};
    for (int j = magnetic ? Tr::vdim - 1 : -1; j >= -1; --j) {
      if (j == d) continue;
      double q[nf]{}, v = 1, half_dv = 0;
      unroll<Tr::vdim>([&](auto of) {
        if (of.value != j) return;
        v = c.v[of.value];
        half_dv = c.half_dv[of.value];
      });
      if (j >= 0) {
        const int kj = t.degree[j][g], below = t.face_down[d][j][face], above = t.face_up[d][j][face];
        if (below >= 0) add(q, half_dv * t.shift[kj], below, own_weight, other_weight);
        if (above >= 0) add(q, half_dv * t.shift[kj + 1], above, own_weight, other_weight);
      }
      add(q, v, face, own_weight, other_weight);
      const double* const matrix =
          force + (j < 0 ? Places::a + d * nf * nf : Places::b + Places::pair(d, j) * nf * nf);
      for (int r = 0; r < nf; ++r)
        for (int a = 0; a < nf; ++a) h[r] += matrix[a * nf + r] * q[a];
    }
    // - penalty (f_R - f_L)
    add(h, edge.side * w.penalty, face, 1, -1);
    double stretch = 1;
    unroll<Tr::vdim>([&](auto of) { stretch = of.value == d ? c.stretch[of.value] : stretch; });
    const double lift = rate * stretch * (edge.side < 0 && k % 2 == 0 ? t.end[k] : -t.end[k]);
    double* const to = out + edge.cells.place(conf, cell) + t.offset[g] * lanes;
    for (int a = 0; a < (g < Tr::n_full_groups ? Tr::n_full : Tr::n_lin); ++a) to[a * lanes] += lift * h[a];
  }
};

}  // namespace quintet::kinetics::device
