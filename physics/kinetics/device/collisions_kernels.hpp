#pragma once

#include <cmath>

#include "physics/kinetics/collisions/drag_face.hpp"
#include "physics/kinetics/device/collisions_device.hpp"
#include "physics/kinetics/device/sweeps/vlasov_force_kernels.hpp"
#include "physics/kinetics/device/vlasov_launch.hpp"

/// Kernels of DeviceCollisions, for N configuration modes; velocity groups, directions and degrees are looked
/// up, so that code is small and one for all bases. In sweeps a team makes 32 velocity cells of a
/// configuration cell, a warp one velocity group at a time: a thread holds the N modes of a group of a cell.
namespace quintet::kinetics::device {

/// Configuration modes of groups that lack some: 2^cdim, in serendipity bases of order 2 and 3 alone.
template <int N>
inline constexpr int n_lin_of = N >= 8 ? 4 : 2;

struct CollisionCells {
  int n_conf = 0, n_vel = 0, n_packs = 0, n_modes = 0, vdim = 0;
  int nv[3]{1, 1, 1};
  bool at_end[3][2]{};          ///< whether velocity space ends with the block
  const double* velocity[3]{};  ///< [cell][4]: lower and upper edge, centre, half width
  const double* volume[3]{};    ///< [cell]: int phi_0 dv_d
  const CollisionGroups* groups{};

  /// First mode of a velocity cell; mode m stands m * lanes further.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::ptrdiff_t place(int conf, int cell) const {
    return (std::int64_t{conf} * n_packs + cell / lanes) * (std::int64_t{n_modes} * lanes) + cell % lanes;
  }
};

/// The cells at one face of the block across v_d, [conf, number / 32, mode, 32]: numbers are row-major over
/// the other directions.
struct EdgeCells {
  int n_modes = 0, n_packs = 0;
  int n = 1, step = 1;  ///< cells along v_d; from one to the next of them

  EdgeCells() = default;
  EdgeCells(const CollisionCells& cells, int d) : n_modes(cells.n_modes), n(cells.nv[d]) {
    for (int e = d + 1; e < cells.vdim; ++e) step *= cells.nv[e];
    n_packs = (cells.n_vel / n + lanes - 1) / lanes;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::ptrdiff_t place(int conf, int cell) const {
    const int number = cell / (step * n) * step + cell % step;
    return (std::int64_t{conf} * n_packs + number / lanes) * (std::int64_t{n_modes} * lanes) + number % lanes;
  }
};

/// One thread a number of the edge's array.
struct CopyEdge {
  CollisionCells cells;
  EdgeCells edge;
  int side;
  const double* f;
  double* out;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t i) const {
    const int lane = i % lanes, mode = i / lanes % edge.n_modes;
    const auto pack = i / lanes / edge.n_modes;
    const int number = static_cast<int>(pack % edge.n_packs) * lanes + lane;
    const bool pads = number >= cells.n_vel / edge.n;
    const int cell = number / edge.step * (edge.step * edge.n) + number % edge.step +
                     (side == 0 ? 0 : edge.n - 1) * edge.step;
    out[i] = pads ? 0 : f[cells.place(pack / edge.n_packs, cell) + mode * lanes];
  }
};

/// q[a] += factor f[a] for the coefficients that there are.
template <int N>
KOKKOS_FORCEINLINE_FUNCTION void add_modes(double* q, double factor, const double* f, bool full) {
  constexpr int nl = n_lin_of<N>;
  unroll<nl>([&](auto a) QUINTET_DEVICE_INLINE { q[a.value] += factor * f[a.value * lanes]; });
  if constexpr (N > nl)
    if (full)
      unroll<N - nl>([&](auto a)
                         QUINTET_DEVICE_INLINE { q[nl + a.value] += factor * f[(nl + a.value) * lanes]; });
}

/// h[r] += sum_a matrix[r, a] q[a] for the first N or 2^cdim rows; matrices are symmetric.
template <int N>
KOKKOS_FORCEINLINE_FUNCTION void add_product(const double* matrix, const double* q, double* h, bool full) {
  constexpr int nl = n_lin_of<N>;
  unroll<N>([&](auto a) QUINTET_DEVICE_INLINE {
    unroll<nl>([&](auto r)
                   QUINTET_DEVICE_INLINE { h[r.value] += matrix[a.value * N + r.value] * q[a.value]; });
  });
  if constexpr (N > nl)
    if (full)
      unroll<N>([&](auto a) QUINTET_DEVICE_INLINE {
        unroll<N - nl>([&](auto r) QUINTET_DEVICE_INLINE {
          h[nl + r.value] += matrix[a.value * N + nl + r.value] * q[a.value];
        });
      });
}

/// to[a] += factor q[a] for the coefficients that there are.
template <int N>
KOKKOS_FORCEINLINE_FUNCTION void store_modes(double* to, double factor, const double* q, bool full) {
  constexpr int nl = n_lin_of<N>;
  unroll<nl>([&](auto a) QUINTET_DEVICE_INLINE { to[a.value * lanes] += factor * q[a.value]; });
  if constexpr (N > nl)
    if (full)
      unroll<N - nl>([&](auto a)
                         QUINTET_DEVICE_INLINE { to[(nl + a.value) * lanes] += factor * q[nl + a.value]; });
}

template <int N>
KOKKOS_FORCEINLINE_FUNCTION void set_zero(double* q) {
  unroll<N>([&](auto a) QUINTET_DEVICE_INLINE { q[a.value] = 0; });
}

// --- moments

/// Sums of one part of a configuration cell's velocity cells, to be added up by AddParts.
template <int N>
struct SumMoments {
  static constexpr int threads = 64, scratch = threads, most = 16;
  CollisionCells cells;
  int n_moments;
  int weight_at[most][3];  ///< where the weights of a moment along v_d begin; -1: none
  const double* weights;   ///< [degree, cell], over the volume
  const double* f;
  double* parts;  ///< [n_conf, n_parts, n_moments, N]
  int n_parts, part;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int conf = team.league / n_parts, first = team.league % n_parts * part;
    const int end = first + part < cells.n_vel ? first + part : cells.n_vel;
    double* const out = parts + std::int64_t{team.league} * n_moments * N;
    QUINTET_DEVICE_LOOP
    for (int c = 0; c < n_moments; ++c) {
      double sum[N];
      set_zero<N>(sum);
      QUINTET_DEVICE_LOOP
      for (int cell = first + team.rank; cell < end; cell += team.size) add(c, conf, cell, sum);
      QUINTET_DEVICE_LOOP
      for (int i = 0; i < N; ++i) {
        double value = 0;
        unroll<N>([&](auto a) QUINTET_DEVICE_INLINE { value = a.value == i ? sum[a.value] : value; });
        value = team_sum(team, value);
        if (team.rank == 0) out[c * N + i] = value;
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void add(int c, int conf, int cell, double* sum) const {
    const CollisionGroups& t = *cells.groups;
    const double* const own = f + cells.place(conf, cell);
    double volume = 1;
    for (int d = cells.vdim - 1, rest = cell; d >= 0; --d) {
      volume *= cells.volume[d][rest % cells.nv[d]];
      rest /= cells.nv[d];
    }
    int rest = cell;
    QUINTET_DEVICE_LOOP
    for (int d = cells.vdim - 1; d >= 0; --d) {
      const int n = cells.nv[d], i = rest % n;
      rest /= n;
      if (weight_at[c][d] < 0) continue;
      const double* const weight = weights + weight_at[c][d] + i;
      QUINTET_DEVICE_LOOP
      for (int k = 0; k < CollisionGroups::n && t.axis[d][k] >= 0; ++k) {
        const double w = weight[k * n];
        if (w != 0) add_modes<N>(sum, w * volume, own + t.axis[d][k] * lanes, t.axis_n_conf[d][k] == N);
      }
    }
  }
};

// --- drag and diffusion

/// A, B and D of one configuration cell: what faces and rates are made from.
template <int N>
struct DragField {
  const double* of;        ///< [vdim + 2, N]
  const double* greatest;  ///< max |w_n|

  struct Bounds {
    double lower, upper;
  };
  /// Bounds of factor field_c - field_e (e < 0: of the first term alone).
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION Bounds bounds(int c, double factor, int e) const {
    double mean = 0, deviation = 0;
    unroll<N>([&](auto n) QUINTET_DEVICE_INLINE {
      double value = factor * of[c * N + n.value];
      if (e >= 0) value -= of[e * N + n.value];
      value *= greatest[n.value];
      if (n.value == 0)
        mean = value;
      else
        deviation += value < 0 ? -value : value;
    });
    return {mean - deviation, mean + deviation};
  }
  /// The face at velocity v of direction d; rate: bounds of A.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION lenard_bernstein::DragFace face(int d, double v,
                                                                            const Bounds& rate,
                                                                            bool end) const {
    const Bounds speed = bounds(0, v, 1 + d);
    return lenard_bernstein::drag_face(v, speed.lower, speed.upper, 0.5 * (rate.lower + rate.upper),
                                       rate.upper, end);
  }
};

/// f_to += weight C(f), LenardBernstein's scheme: for a group of degree k along v_d, over the degrees l of
/// its line and with all sums over below, own and above,
///
///     C_k += B_d sum f_l drag + A sum f_l drag_v,   D sum f_l diffusion.
template <int N>
struct AddDragDiffusion {
  static constexpr int L = lanes, nl = n_lin_of<N>, n_degrees = CollisionGroups::n;
  /// Numbers of a lane in each direction: left, right, v_left and v_right of the lower face and of the upper
  /// one, centre, inverse half width.
  static constexpr int n_lane = 10;
  static constexpr int scratch = 5 * N * N + 3 * n_lane * L;
  static constexpr int threads = 128, blocks = N >= 8 ? 3 : 4;  // without spills
  CollisionCells cells;
  const double* fields;        ///< [n_conf, vdim + 2, N]
  const double* triple;        ///< [N, N, N]
  const double* greatest;      ///< [N]
  const double* diffusion[3];  ///< DeviceCollisionOptions
  EdgeCells edge[3];
  const double* beyond[3][2];  ///< cells of other blocks at the faces; null: velocity space ends
  bool uniform_rate;
  const double* f;
  double* out;
  double weight;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int conf = team.league / cells.n_packs, pack = team.league % cells.n_packs;
    const double* const field = fields + std::int64_t{conf} * (cells.vdim + 2) * N;
    QUINTET_DEVICE_LOOP
    for (int i = team.rank; i < (cells.vdim + 2) * N * N; i += team.size) {
      const double* const of = field + i / (N * N) * N;
      double value = 0;
      unroll<N>([&](auto m)
                    QUINTET_DEVICE_INLINE { value += triple[i % (N * N) * N + m.value] * of[m.value]; });
      team.scratch[i] = value;
    }
    double* const of_lane = team.scratch + 5 * N * N;
    QUINTET_DEVICE_LOOP
    for (int i = team.rank; i < cells.vdim * L; i += team.size)
      if (const int cell = pack * L + i % L; cell < cells.n_vel)
        make_faces(i / L, cell, {field, greatest}, of_lane + i / L * (n_lane * L) + i % L);
    team.barrier();
    QUINTET_DEVICE_LOOP
    for (int i = team.rank; i < cells.groups->n_groups * L; i += team.size)
      if (const int cell = pack * L + i % L; cell < cells.n_vel)
        update(conf, cell, i / L, team.scratch, of_lane + i % L);
  }

  KOKKOS_FORCEINLINE_FUNCTION void make_faces(int d, int cell, const DragField<N>& field, double* to) const {
    for (int e = cells.vdim - 1; e > d; --e) cell /= cells.nv[e];
    const int n = cells.nv[d], i = cell % n;
    const double* const v = cells.velocity[d] + 4 * i;
    const auto rate = field.bounds(0, 1, -1);
    QUINTET_DEVICE_LOOP
    for (int side = 0; side < 2; ++side) {
      const bool end = i == (side == 0 ? 0 : n - 1) && cells.at_end[d][side];
      const auto face = field.face(d, v[side], rate, end);
      double* const of = to + 4 * side * L;
      of[0] = face.left;
      of[L] = face.right;
      of[2 * L] = face.v_left;
      of[3 * L] = face.v_right;
    }
    to[8 * L] = v[2];
    to[9 * L] = 1 / v[3];
  }

  /// The cell beside one. Beyond the ends of velocity space all weights are zero: any will do.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION const double* neighbour(int d, int side, bool is_here, int conf,
                                                                    int cell, int there) const {
    if (is_here) return f + cells.place(conf, there);
    return beyond[d][side] ? beyond[d][side] + edge[d].place(conf, cell) : f + cells.place(conf, cell);
  }

  KOKKOS_FORCEINLINE_FUNCTION void update(int conf, int cell, int g, const double* matrices,
                                          const double* of_lane) const {
    const CollisionGroups& t = *cells.groups;
    const bool full = t.n_conf[g] == N;
    const double* const own = f + cells.place(conf, cell);
    double sum[N], drag[N], drag_v[N], spread[N];
    set_zero<N>(sum);
    set_zero<N>(drag_v);
    set_zero<N>(spread);
    int rest = cell, step = 1;
    QUINTET_DEVICE_LOOP
    for (int d = cells.vdim - 1; d >= 0; --d) {
      const int n = cells.nv[d], i = rest % n;
      rest /= n;
      const double* const lower = of_lane + d * (n_lane * L);  // left, right, v_left, v_right
      const double* const upper = lower + 4 * L;
      const double centre = lower[8 * L], inverse = lower[9 * L];
      const double* const below = neighbour(d, 0, i > 0, conf, cell, cell - step);
      const double* const above = neighbour(d, 1, i < n - 1, conf, cell, cell + step);
      step *= n;
      const int k = t.degree[d][g], n_line = t.n_line[d][g], n_full = t.n_full[d][g];
      const double high = inverse * t.end[k], low = k % 2 == 1 ? -high : high;  // phi_k at the ends
      const double* line = diffusion[d] + ((n_line - 1) * n_degrees + k) * (n_degrees * 3 * n) + i;
      const double* rest_line =
          diffusion[d] + ((n_full - (n_full > 0)) * n_degrees + k) * (n_degrees * 3 * n) + i;
      set_zero<N>(drag);
      QUINTET_DEVICE_LOOP
      for (int l = 0; l < n_line; ++l, line += 3 * n, rest_line += 3 * n) {
        const double end = t.end[l], start = l % 2 == 1 ? -end : end;
        const double volume = inverse * t.derivative[k][l];
        const double of_drag[3] = {low * lower[0] * end,
                                   volume + low * lower[L] * start - high * upper[0] * end,
                                   -high * upper[L] * start};
        const double of_drag_v[3] = {
            -low * lower[2 * L] * end,
            high * upper[2 * L] * end - low * lower[3 * L] * start - centre * volume - t.weighted[k][l],
            high * upper[3 * L] * start};
        const int at = t.line[d][g][l] * L;
        const auto add = [&](auto first, auto count, const double* of_spread) QUINTET_DEVICE_INLINE {
          const double s0 = of_spread[0], s1 = of_spread[n], s2 = of_spread[2 * n];
          unroll<count.value>([&](auto a) QUINTET_DEVICE_INLINE {
            constexpr int A = first.value + a.value;
            const double x0 = below[at + A * L], x1 = own[at + A * L], x2 = above[at + A * L];
            drag[A] += of_drag[0] * x0 + of_drag[1] * x1 + of_drag[2] * x2;
            drag_v[A] += of_drag_v[0] * x0 + of_drag_v[1] * x1 + of_drag_v[2] * x2;
            spread[A] += s0 * x0 + s1 * x1 + s2 * x2;
          });
        };
        add(Int<0>{}, Int<nl>{}, line);
        if constexpr (N > nl)
          if (l < n_full) add(Int<nl>{}, Int<N - nl>{}, rest_line);
      }
      add_product<N>(matrices + (1 + d) * N * N, drag, sum, full);
    }
    add_product<N>(matrices + (1 + cells.vdim) * N * N, spread, sum, full);
    if (uniform_rate)
      unroll<N>([&](auto a) QUINTET_DEVICE_INLINE { sum[a.value] += matrices[0] * drag_v[a.value]; });
    else
      add_product<N>(matrices, drag_v, sum, full);
    store_modes<N>(out + cells.place(conf, cell) + t.offset[g] * L, weight, sum, full);
  }
};

/// Greatest rate of the configuration cells: sum_d drag_rate max|A v - B|/dv + diffusion_rate max|D|.
template <int N>
struct DragDiffusionRate {
  CollisionCells cells;
  const double *fields, *greatest;
  double drag_rate[3], diffusion_rate[3];

  KOKKOS_FUNCTION void operator()(std::ptrdiff_t conf, double& most) const {
    const DragField<N> field{fields + conf * (cells.vdim + 2) * N, greatest};
    const auto rate = field.bounds(0, 1, -1), spread = field.bounds(1 + cells.vdim, 1, -1);
    double sum = 0;
    QUINTET_DEVICE_LOOP
    for (int d = 0; d < cells.vdim; ++d) {
      double fastest = 0;
      const double* const v = cells.velocity[d];
      const int n = cells.nv[d];
      QUINTET_DEVICE_LOOP
      for (int j = 0; j <= n; ++j) {
        const int below = j > 0 ? j - 1 : 0, above = j < n ? j : n - 1;
        const bool end = (j == 0 && cells.at_end[d][0]) || (j == n && cells.at_end[d][1]);
        const double half = v[4 * below + 3] < v[4 * above + 3] ? v[4 * below + 3] : v[4 * above + 3];
        const double speed =
            field.face(d, j < n ? v[4 * j] : v[4 * (n - 1) + 1], rate, end).speed / (2 * half);
        fastest = speed > fastest ? speed : fastest;
      }
      const double widest = spread.upper > -spread.lower ? spread.upper : -spread.lower;
      sum += drag_rate[d] * fastest + diffusion_rate[d] * widest;
    }
    most = sum > most ? sum : most;
  }
};

}  // namespace quintet::kinetics::device
