#pragma once

#include "physics/kinetics/device/vlasov_force_kernels.hpp"

/// Large bases: a team makes 32 velocity cells of one configuration cell, a warp one velocity group at a
/// time. df lies in scratch, and code is a few loops over groups, directions and matrices: unrolled as in
/// vlasov_cell_kernels.hpp it would not fit into an instruction cache, which costs a factor of ten.
///
///   1. the force's matrices into scratch; weights of the faces across each v
///   2. groups: df of streaming
///   3. for each direction d
///        a. functions i of its faces: t_lower - t_upper and -(t_lower + t_upper), and from them what the
///        force
///           acts on for each degree k along d,
///           input_k = phi_k(1) t + int phi_k' phi_{k-1} f_{k-1} + int phi_k' phi_{k-3} f_{k-3}
///        b. groups: df += A_d input + sum_j B_dj (v_j input)
///   4. out = keep f_0 + advance (f + dt df)
///
/// Groups are looked up in tables; configuration modes are unrolled.
namespace quintet::kinetics::device {

/// How velocity groups lie beside each other: PhaseTraits' tables where kernels can read them.
template <class Tr>
struct GroupTables {
  static constexpr int n_groups = Tr::n_groups, n_faces = Tr::n_face_groups, vdim = Tr::vdim;
  static constexpr int n_degrees = Tr::velocity_order + 1;
  short offset[n_groups + 1], conf_face_offset[n_groups + 1], face_offset[n_faces + 1];
  signed char degree[vdim][n_groups], up[vdim][n_groups], down[vdim][n_groups], face[vdim][n_groups];
  signed char ladder[vdim][n_faces][n_degrees];
  signed char face_up[vdim][vdim][n_faces], face_down[vdim][vdim][n_faces];
  double end[max_degree + 2], shift[max_degree + 2];      ///< shift[k + 1] beyond the last degree is 0
  double slope1[max_degree + 1], slope3[max_degree + 1];  ///< int phi_k' phi_{k-1}, int phi_k' phi_{k-3}
};
template <class Tr>
[[nodiscard]] constexpr GroupTables<Tr> make_group_tables() {
  GroupTables<Tr> t{};
  for (int g = 0; g <= Tr::n_groups; ++g) {
    t.offset[g] = static_cast<short>(Tr::offset(g));
    t.conf_face_offset[g] = static_cast<short>(Tr::conf_face_offset(g));
  }
  for (int i = 0; i <= Tr::n_face_groups; ++i) t.face_offset[i] = static_cast<short>(Tr::face_offset(i));
  for (int d = 0; d < Tr::vdim; ++d) {
    for (int g = 0; g < Tr::n_groups; ++g) {
      t.degree[d][g] = static_cast<signed char>(Tr::groups.modes[g][d]);
      t.up[d][g] = static_cast<signed char>(Tr::neighbours.up[d][g]);
      t.down[d][g] = static_cast<signed char>(Tr::neighbours.down[d][g]);
    }
    for (int i = 0; i < Tr::n_face_groups; ++i) {
      for (int k = 0; k <= Tr::velocity_order; ++k) {
        const int g = Tr::faces.ladder[d][i][k];
        t.ladder[d][i][k] = static_cast<signed char>(g);
        if (g >= 0) t.face[d][g] = static_cast<signed char>(i);
      }
      for (int j = 0; j < Tr::vdim; ++j) {
        t.face_up[d][j][i] = static_cast<signed char>(Tr::faces.up[d][j][i]);
        t.face_down[d][j][i] = static_cast<signed char>(Tr::faces.down[d][j][i]);
      }
    }
  }
  for (int k = 0; k <= max_degree; ++k) {
    t.end[k] = legendre_tables.end[k];
    t.shift[k] = legendre_tables.shift[k];
    t.slope1[k] = k >= 1 ? legendre_tables.derivative[k][k - 1] : 0;
    t.slope3[k] = k >= 3 ? legendre_tables.derivative[k][k - 3] : 0;
  }
  return t;
}

/// One team's work; `lane` is its velocity cell.
template <class Tr>
struct GroupKernel {
  static constexpr int L = lanes, cdim = Tr::cdim, vdim = Tr::vdim, n_degrees = Tr::velocity_order + 1;
  static constexpr int nf = Tr::n_full, nl = Tr::n_lin, nfm = Tr::n_face_modes;
  static constexpr int ncf = Tr::n_conf_face_full;
  static constexpr bool all_full = Tr::n_full_groups == Tr::n_groups;
  using Places = ForcePlaces<Tr>;
  using Tables = GroupTables<Tr>;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static bool is_full(int g) {
    return all_full || g < Tr::n_full_groups;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static bool is_full_face(int i) {
    return all_full || i < Tr::n_full_face_groups;
  }

  /// q[a] += factor f[a] for the coefficients that there are.
  KOKKOS_FORCEINLINE_FUNCTION static void add(double* q, double factor, const double* f, bool full) {
    unroll<nl>([&](auto a) QUINTET_DEVICE_INLINE { q[a.value] += factor * f[a.value * L]; });
    if constexpr (nf > nl)
      if (full)
        unroll<nf - nl>([&](auto a)
                            QUINTET_DEVICE_INLINE { q[nl + a.value] += factor * f[(nl + a.value) * L]; });
  }

  /// Traces at x_I = +1 and -1.
  template <int I>
  KOKKOS_FORCEINLINE_FUNCTION static void traces(const double* q, double* high, double* low) {
    unroll<ncf>([&](auto fa) QUINTET_DEVICE_INLINE {
      double even = 0, odd = 0;
      unroll<Tr::order + 1>([&](auto k) QUINTET_DEVICE_INLINE {
        constexpr int A = Tr::conf_faces.ladder[I][fa.value][k.value];
        if constexpr (A >= 0) (k.value % 2 == 0 ? even : odd) += end_of<k.value> * q[A];
      });
      high[fa.value] = even + odd;
      low[fa.value] = even - odd;
    });
  }

  /// df += streaming along x_I of group g, for up to nf coefficients: those that a smaller group lacks come
  /// out as some number and are not kept.
  template <int I>
  KOKKOS_FORCEINLINE_FUNCTION static void streaming(const Tables& t, double v, double half_dv, double rdx,
                                                    const FaceWeights& w, int g, const double* own,
                                                    const double* lower, const double* upper, double* df) {
    const int k = t.degree[I][g], below = t.down[I][g], above = t.up[I][g];
    const double x = half_dv * t.shift[k], x1 = half_dv * t.shift[k + 1];
    const double penalty = w.penalty;
    double flux_low[ncf], flux_high[ncf];
    unroll<ncf>([&](auto fa) QUINTET_DEVICE_INLINE { flux_low[fa.value] = flux_high[fa.value] = 0; });
    for (int source = -1; source <= 1; ++source) {
      const double* const f = source < 0 ? lower : source > 0 ? upper : own;
      // f of the left cell enters a face by its upper trace, of the right cell by its lower one.
      const bool as_left = source <= 0 && w.left != 0, as_right = source >= 0 && w.right != 0;
      if (f == nullptr || (source != 0 && !as_left && !as_right)) continue;
      double q[nf];  // v f
      unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { q[a.value] = 0; });
      add(q, v, f + t.offset[g] * L, is_full(g));
      if (below >= 0) add(q, x, f + t.offset[below] * L, is_full(below));
      if (above >= 0) add(q, x1, f + t.offset[above] * L, is_full(above));
      if (source == 0) volume<I>(q, rdx, df);
      double high[ncf], low[ncf];
      traces<I>(q, high, low);
      const double to_low_high = source < 0 ? w.left : 0, to_low_low = source == 0 ? w.right : 0;
      const double to_high_high = source == 0 ? w.left : 0, to_high_low = source > 0 ? w.right : 0;
      unroll<ncf>([&](auto fa) QUINTET_DEVICE_INLINE {
        flux_low[fa.value] += to_low_high * high[fa.value] + to_low_low * low[fa.value];
        flux_high[fa.value] += to_high_high * high[fa.value] + to_high_low * low[fa.value];
      });
      if (penalty == 0) continue;
      unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { q[a.value] = 0; });
      add(q, penalty, f + t.offset[g] * L, is_full(g));
      traces<I>(q, high, low);
      const double a = source < 0 ? 1 : 0, b = source == 0 ? 1 : 0, c = source > 0 ? 1 : 0;
      unroll<ncf>([&](auto fa) QUINTET_DEVICE_INLINE {
        flux_low[fa.value] += a * high[fa.value] - b * low[fa.value];
        flux_high[fa.value] += b * high[fa.value] - c * low[fa.value];
      });
    }
    unroll<ncf>([&](auto fa) QUINTET_DEVICE_INLINE {
      unroll<Tr::order + 1>([&](auto k) QUINTET_DEVICE_INLINE {
        constexpr int A = Tr::conf_faces.ladder[I][fa.value][k.value];
        if constexpr (A >= 0)
          df[A] += rdx * end_of<k.value> *
                   ((k.value % 2 == 1 ? -flux_low[fa.value] : flux_low[fa.value]) - flux_high[fa.value]);
      });
    });
  }
  template <int I>
  KOKKOS_FORCEINLINE_FUNCTION static void volume(const double* q, double rdx, double* df) {
    unroll<ncf>([&](auto fa) QUINTET_DEVICE_INLINE {
      unroll<Tr::order>([&](auto k1) QUINTET_DEVICE_INLINE {
        constexpr int k = k1.value + 1, A = Tr::conf_faces.ladder[I][fa.value][k];
        if constexpr (A >= 0)
          unroll<(k + 1) / 2>([&](auto half) QUINTET_DEVICE_INLINE {
            constexpr int l = k - 1 - 2 * half.value, B = Tr::conf_faces.ladder[I][fa.value][l];
            df[A] += rdx * derivative_of<k, l> * q[B];
          });
      });
    });
  }

  /// Weighted face values low = left f_below + right f_own, high = left f_own + right f_above of function i.
  KOKKOS_FORCEINLINE_FUNCTION static void face_values(const Tables& t, int D, int i, double left,
                                                      double right, const double* own, const double* below,
                                                      const double* above, double* low, double* high) {
    unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { low[a.value] = high[a.value] = 0; });
    for (int k = 0; k < n_degrees; ++k) {
      const int g = t.ladder[D][i][k];
      if (g < 0) continue;
      const double end = t.end[k], start = k % 2 == 1 ? -end : end;
      const int at = t.offset[g] * L;
      const bool full = is_full(g);
      if (below) add(low, right * start, own + at, full);
      if (above) add(high, left * end, own + at, full);
      if (below && left != 0) add(low, left * end, below + at, full);
      if (above && right != 0) add(high, right * start, above + at, full);
    }
  }

  /// to[a] += factor q[a] for the coefficients that there are.
  KOKKOS_FORCEINLINE_FUNCTION static void add_to(double* to, double factor, const double* q, bool full) {
    unroll<nl>([&](auto a) QUINTET_DEVICE_INLINE { to[a.value * L] += factor * q[a.value]; });
    if constexpr (nf > nl)
      if (full)
        unroll<nf - nl>([&](auto a)
                            QUINTET_DEVICE_INLINE { to[(nl + a.value) * L] += factor * q[nl + a.value]; });
  }

  /// h[r] += sum_a matrix[r, a] q[a]; matrices are symmetric.
  KOKKOS_FORCEINLINE_FUNCTION static void multiply(const double* matrix, const double* q, double* h) {
    unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE {
      unroll<nf>([&](auto r)
                     QUINTET_DEVICE_INLINE { h[r.value] += matrix[a.value * nf + r.value] * q[a.value]; });
    });
  }
};

/// A team: 32 velocity cells of a configuration cell.
template <class Tr>
struct GroupSweep {
  using Kernel = GroupKernel<Tr>;
  using Places = ForcePlaces<Tr>;
  static constexpr int L = lanes, vdim = Tr::vdim, cdim = Tr::cdim, nfm = Tr::n_face_modes;
  static constexpr int nf = Tr::n_full, nl = Tr::n_lin, n_degrees = Tr::velocity_order + 1;
  /// Of a lane: v, dv/2, relative width, its inverse in each direction; weights of the faces.
  static constexpr int n_lane = 7 * vdim;
  /// Force, lanes [n_lane, 32], df [n_modes, 32], input [degree, face mode, 32].
  static constexpr int scratch = Places::size + (n_lane + Tr::n_modes + n_degrees * nfm) * L;
  Cells<Tr> cells;
  const GroupTables<Tr>* tables;
  const double* forces;
  Update update;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int conf = team.league / cells.n_packs, pack = team.league % cells.n_packs;
    double* const force = team.scratch;
    double* const of_lane = force + Places::size;
    double* const df = of_lane + n_lane * L;
    double* const input = df + Tr::n_modes * L;
    const GroupTables<Tr>& t = *tables;
    // Cells that only pad are worked on as copies of the last one, and not written.
    const auto cell_of = [&](int lane) QUINTET_DEVICE_INLINE {
      const int cell = pack * L + lane;
      return cell < cells.n_vel ? cell : cells.n_vel - 1;
    };

    for (int i = team.rank; i < Places::size; i += team.size)
      force[i] = forces[static_cast<std::ptrdiff_t>(conf) * Places::size + i];
    team.barrier();
    const bool magnetic = vdim > 1 && force[Places::magnetic] != 0;
    for (int lane = team.rank; lane < L; lane += team.size) {
      const CellContext<Tr> c(cells, cell_of(lane));
      unroll<vdim>([&](auto d) QUINTET_DEVICE_INLINE {
        constexpr int D = d.value;
        const FaceWeights w = force_weights<Tr>(c, cells.flux, force, magnetic, D);
        double* const to = of_lane + D * 7 * L + lane;
        to[0] = c.v[D];
        to[L] = c.half_dv[D];
        to[2 * L] = c.relative[D];
        to[3 * L] = c.stretch[D];
        to[4 * L] = w.left;
        to[5 * L] = w.right;
        to[6 * L] = w.penalty;
      });
    }
    team.barrier();

    for (int i = team.rank; i < Tr::n_groups * L; i += team.size) {
      const int g = i / L, lane = i % L, cell = cell_of(lane);
      double sum[nf];
      unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { sum[a.value] = 0; });
      unroll<cdim>([&](auto d) QUINTET_DEVICE_INLINE {
        constexpr int I = d.value;
        const double v = of_lane[I * 7 * L + lane], half_dv = of_lane[(I * 7 + 1) * L + lane];
        const int lower = cells.beside(conf, I, -1), upper = cells.beside(conf, I, 1);
        Kernel::template streaming<I>(t, v, half_dv, cells.rdx[I], weights_of(cells.flux, v, half_dv), g,
                                      update.f + cells.place(conf, cell),
                                      lower < 0 ? nullptr : update.f + cells.place(lower, cell),
                                      upper < 0 ? nullptr : update.f + cells.place(upper, cell), sum);
      });
      keep(df + t.offset[g] * L + lane, sum, Kernel::is_full(g));
    }

    int step = 1;
    for (int D = vdim - 1; D >= 0; --D) {
      team.barrier();
      const int n = number_of(D);
      for (int i = team.rank; i < Tr::n_face_groups * L; i += team.size) {
        const int face = i / L, lane = i % L, cell = cell_of(lane), index = cell / step % n;
        const double* const own = update.f + cells.place(conf, cell);
        const double* const below = index > 0 ? update.f + cells.place(conf, cell - step) : nullptr;
        const double* const above = index + 1 < n ? update.f + cells.place(conf, cell + step) : nullptr;
        make_inputs(t, D, face, of_lane + D * 7 * L + lane, own, below, above, df + lane, input + lane);
      }
      step *= n;
      team.barrier();
      for (int i = team.rank; i < Tr::n_groups * L; i += team.size)
        accelerate(t, D, i / L, force, magnetic, of_lane + i % L, input + i % L, df + i % L);
    }
    team.barrier();

    for (int i = team.rank; i < Tr::n_modes * L; i += team.size) {
      if (pack * L + i % L >= cells.n_vel) continue;
      const std::ptrdiff_t at = cells.place(conf, pack * L) + i;
      const double value = update.advance * update.f[at] + update.rate * df[i];
      update.out[at] = update.keep == 0 ? value : update.keep * update.f0[at] + value;
    }
  }

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int number_of(int D) const {
    int n = 1;
    unroll<vdim>([&](auto d) QUINTET_DEVICE_INLINE { n = d.value == D ? cells.nv[d.value] : n; });
    return n;
  }

  /// to[a] = q[a] for the coefficients that there are.
  KOKKOS_FORCEINLINE_FUNCTION static void keep(double* to, const double* q, bool full) {
    unroll<nl>([&](auto a) QUINTET_DEVICE_INLINE { to[a.value * L] = q[a.value]; });
    if constexpr (nf > nl)
      if (full)
        unroll<nf - nl>([&](auto a) QUINTET_DEVICE_INLINE { to[(nl + a.value) * L] = q[nl + a.value]; });
  }

  /// Inputs of all degrees along D with face function i; what a penalty brings goes to df at once.
  KOKKOS_FORCEINLINE_FUNCTION static void make_inputs(const GroupTables<Tr>& t, int D, int i,
                                                      const double* of_lane, const double* own,
                                                      const double* below, const double* above, double* df,
                                                      double* input) {
    double low[nf], high[nf], q[nf];
    const double penalty = of_lane[6 * L];
    for (int pass = penalty != 0 ? 0 : 1; pass < 2; ++pass) {
      const double left = pass == 0 ? penalty : of_lane[4 * L], right = pass == 0 ? -penalty : of_lane[5 * L];
      Kernel::face_values(t, D, i, left, right, own, below, above, low, high);
      for (int k = 0; k < n_degrees; ++k) {
        const int g = t.ladder[D][i][k];
        const double end = t.end[k];
        unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE {
          q[a.value] = end * ((k % 2 == 0 ? low[a.value] : -low[a.value]) - high[a.value]);
        });
        if (pass == 0) {
          if (g >= 0) Kernel::add_to(df + t.offset[g] * L, of_lane[3 * L], q, Kernel::is_full(g));
          continue;
        }
        if (k >= 1)
          if (const int g1 = t.ladder[D][i][k - 1]; g1 >= 0)
            Kernel::add(q, t.slope1[k], own + t.offset[g1] * L, Kernel::is_full(g1));
        if (k >= 3)
          if (const int g3 = t.ladder[D][i][k - 3]; g3 >= 0)
            Kernel::add(q, t.slope3[k], own + t.offset[g3] * L, Kernel::is_full(g3));
        keep(input + (k * nfm + t.face_offset[i]) * L, q, Kernel::is_full_face(i));
      }
    }
  }

  /// df of group g += (A_D input + sum_j B_Dj v_j input).
  KOKKOS_FORCEINLINE_FUNCTION static void accelerate(const GroupTables<Tr>& t, int D, int g,
                                                     const double* force, bool magnetic,
                                                     const double* of_lane, const double* input, double* df) {
    const int i = t.face[D][g];
    const double* const in = input + t.degree[D][g] * nfm * L;
    double h[nf], q[nf];
    unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { h[a.value] = 0; });
    for (int j = magnetic ? vdim - 1 : -1; j >= -1; --j) {
      if (j == D) continue;
      unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { q[a.value] = 0; });
      const double* matrix = force + Places::a + D * nf * nf;
      double v = 1;
      if (j >= 0) {
        matrix = force + Places::b + Places::pair(D, j) * nf * nf;
        v = of_lane[j * 7 * L];
        const double half_dv = of_lane[(j * 7 + 1) * L];
        const int kj = t.degree[j][g], below = t.face_down[D][j][i], above = t.face_up[D][j][i];
        if (below >= 0)
          Kernel::add(q, half_dv * t.shift[kj], in + t.face_offset[below] * L, Kernel::is_full_face(below));
        if (above >= 0)
          Kernel::add(q, half_dv * t.shift[kj + 1], in + t.face_offset[above] * L,
                      Kernel::is_full_face(above));
      }
      Kernel::add(q, v, in + t.face_offset[i] * L, Kernel::is_full_face(i));
      Kernel::multiply(matrix, q, h);
    }
    Kernel::add_to(df + t.offset[g] * L, of_lane[(D * 7 + 3) * L], h, Kernel::is_full(g));
  }
};

}  // namespace quintet::kinetics::device
