#pragma once

#include "physics/kinetics/device/sweeps/vlasov_force_kernels.hpp"

/// Large bases: a team makes 32 velocity cells of one configuration cell, a warp one velocity group at a
/// time. df lies in scratch, and code is a few loops over groups, directions and matrices: unrolled as in
/// vlasov_cell_kernels.hpp it would not fit into an instruction cache, which costs a factor of ten.
///
///   1. the force's matrices into scratch; weights of the faces across each v
///   2. groups: df of streaming
///   3. for each direction d
///        a. functions i of its faces: t_lower - t_upper and -(t_lower + t_upper), and from them what the
///           force acts on for each degree k along d,
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
// The same tables as the host's traits, at compile time and in small integers: they travel as a kernel's
// argument.
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
    unroll<nl>([&](auto a) QUINTET_DEVICE_INLINE { add_product(q[a.value], factor, f[a.value * L]); });
    if constexpr (nf > nl)
      if (full)
        unroll<nf - nl>([&](auto a) QUINTET_DEVICE_INLINE {
          add_product(q[nl + a.value], factor, f[(nl + a.value) * L]);
        });
  }

  /// Sums over even and over odd degrees along x_I, of which traces are made.
  template <int I, int Fa>
  KOKKOS_FORCEINLINE_FUNCTION static void end_sums(const double* q, double& even, double& odd) {
    even = odd = 0;
    unroll<Tr::order + 1>([&](auto k) QUINTET_DEVICE_INLINE {
      constexpr int A = Tr::conf_faces.ladder[I][Fa][k.value];
      if constexpr (A >= 0) add_product(k.value % 2 == 0 ? even : odd, end_of<k.value>, q[A]);
    });
  }
  /// Traces at x_I = +1 and -1.
  template <int I>
  KOKKOS_FORCEINLINE_FUNCTION static void traces(const double* q, double* high, double* low) {
    unroll<ncf>([&](auto fa) QUINTET_DEVICE_INLINE {
      double even, odd;
      end_sums<I, fa.value>(q, even, odd);
      high[fa.value] = even + odd;
      low[fa.value] = even - odd;
    });
  }
  /// Fluxes of the lower and upper face += factors times the trace of q at x_I = side.
  template <int I>
  KOKKOS_FORCEINLINE_FUNCTION static void add_trace(const double* q, double side, double to_low,
                                                    double to_high, double* flux_low, double* flux_high) {
    unroll<ncf>([&](auto fa) QUINTET_DEVICE_INLINE {
      double even, odd;
      end_sums<I, fa.value>(q, even, odd);
      const double trace = fused(side, odd, even);
      add_product(flux_low[fa.value], to_low, trace);
      add_product(flux_high[fa.value], to_high, trace);
    });
  }

  /// df += streaming along x_I of group g, which is full or not, for up to nf coefficients: those that a
  /// smaller group lacks come out as some number and are not kept.
  template <int I>
  KOKKOS_FORCEINLINE_FUNCTION static void streaming(const Tables& t, double v, double half_dv, double rdx,
                                                    const FaceWeights& w, int g, bool full, const double* own,
                                                    const double* lower, const double* upper, double* df) {
    const int k = t.degree[I][g], below = t.down[I][g], above = t.up[I][g];
    const double x = half_dv * t.shift[k], x1 = half_dv * t.shift[k + 1];
    double q[nf], high[ncf], low[ncf], flux_low[ncf], flux_high[ncf];
    // v f of one cell; below a full group lies another one.
    const auto times_v = [&](const double* f) QUINTET_DEVICE_INLINE {
      unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { q[a.value] = 0; });
      add(q, v, f + t.offset[g] * L, full);
      if (below >= 0) add(q, x, f + t.offset[below] * L, full || is_full(below));
      if (above >= 0) add(q, x1, f + t.offset[above] * L, is_full(above));
    };
    const auto times_penalty = [&](const double* f) QUINTET_DEVICE_INLINE {
      unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { q[a.value] = 0; });
      add(q, w.penalty, f + t.offset[g] * L, full);
    };
    times_v(own);
    volume<I>(q, rdx, df);
    traces<I>(q, high, low);
    unroll<ncf>([&](auto fa) QUINTET_DEVICE_INLINE {
      flux_low[fa.value] = w.right * low[fa.value];
      flux_high[fa.value] = w.left * high[fa.value];
    });
    if (w.penalty != 0) {
      times_penalty(own);
      traces<I>(q, high, low);
      unroll<ncf>([&](auto fa) QUINTET_DEVICE_INLINE {
        flux_low[fa.value] -= low[fa.value];
        flux_high[fa.value] += high[fa.value];
      });
    }
    // The cell upwind, and where both sides count the other one: lanes of different signs read different
    // cells at the same time. An upper trace goes to a face that the cell lies below of, a lower one to a
    // face that it lies above of.
    const bool from_left = w.left != 0, both = from_left && w.right != 0;
    QUINTET_DEVICE_LOOP
    for (int source = 0; source < (both ? 2 : 1); ++source) {
      const bool is_left = source == 0 && from_left;
      const double* const f = is_left ? lower : upper;
      if (f == nullptr) continue;
      const double side = is_left ? 1 : -1;
      times_v(f);
      add_trace<I>(q, side, is_left ? w.left : 0, is_left ? 0 : w.right, flux_low, flux_high);
      if (w.penalty == 0) continue;
      times_penalty(f);
      add_trace<I>(q, side, is_left ? 1 : 0, is_left ? 0 : -1, flux_low, flux_high);
    }
    unroll<ncf>([&](auto fa) QUINTET_DEVICE_INLINE {
      unroll<Tr::order + 1>([&](auto k) QUINTET_DEVICE_INLINE {
        constexpr int A = Tr::conf_faces.ladder[I][fa.value][k.value];
        if constexpr (A >= 0)
          add_product(df[A], rdx * end_of<k.value>,
                      (k.value % 2 == 1 ? -flux_low[fa.value] : flux_low[fa.value]) - flux_high[fa.value]);
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
            add_product(df[A], rdx * derivative_of<k, l>, q[B]);
          });
      });
    });
  }

  /// Weighted face values low = left f_below + right f_own, high = left f_own + right f_above of function i.
  KOKKOS_FORCEINLINE_FUNCTION static void face_values(const Tables& t, int D, int i, double left,
                                                      double right, const double* own, const double* below,
                                                      const double* above, double* low, double* high) {
    double beyond[nf];
    unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { low[a.value] = high[a.value] = beyond[a.value] = 0; });
    // As in streaming(): the cell of one side, and where both count that of the other.
    const FaceSides sides(left, right, below != nullptr, above != nullptr);
    const double* const first = sides.from_below ? below : above;
    QUINTET_DEVICE_LOOP
    for (int k = 0; k < n_degrees; ++k) {
      const int g = t.ladder[D][i][k];
      if (g < 0) continue;
      const double end = t.end[k], start = k % 2 == 1 ? -end : end;
      const int at = t.offset[g] * L;
      const bool full = is_full(g);
      add_both(low, start, high, end, own + at, full);
      if (sides.from_below || sides.from_above) add(beyond, sides.from_below ? end : start, first + at, full);
    }
    unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE {
      sides.weigh(low[a.value], high[a.value], beyond[a.value], low[a.value], high[a.value]);
      beyond[a.value] = 0;
    });
    if (sides.above == 0) return;
    QUINTET_DEVICE_LOOP
    for (int k = 0; k < n_degrees; ++k) {
      const int g = t.ladder[D][i][k];
      if (g < 0) continue;
      const double start = k % 2 == 1 ? -t.end[k] : t.end[k];
      add(beyond, start, above + t.offset[g] * L, is_full(g));
    }
    unroll<nf>([&](auto a)
                   QUINTET_DEVICE_INLINE { add_product(high[a.value], sides.above, beyond[a.value]); });
  }

  /// low[a] += to_low f[a], high[a] += to_high f[a].
  KOKKOS_FORCEINLINE_FUNCTION static void add_both(double* low, double to_low, double* high, double to_high,
                                                   const double* f, bool full) {
    const auto add_one = [&](auto a) QUINTET_DEVICE_INLINE {
      const double x = f[a.value * L];
      add_product(low[a.value], to_low, x);
      add_product(high[a.value], to_high, x);
    };
    unroll<nl>([&](auto a) QUINTET_DEVICE_INLINE { add_one(a); });
    if constexpr (nf > nl)
      if (full) unroll<nf - nl>([&](auto a) QUINTET_DEVICE_INLINE { add_one(Int<nl + a.value>{}); });
  }

  /// to[a] += factor q[a] for the coefficients that there are.
  KOKKOS_FORCEINLINE_FUNCTION static void add_to(double* to, double factor, const double* q, bool full) {
    unroll<nl>([&](auto a) QUINTET_DEVICE_INLINE { add_product(to[a.value * L], factor, q[a.value]); });
    if constexpr (nf > nl)
      if (full)
        unroll<nf - nl>([&](auto a) QUINTET_DEVICE_INLINE {
          add_product(to[(nl + a.value) * L], factor, q[nl + a.value]);
        });
  }

  /// h[r] += sum_a matrix[r, a] q[a] for the first N rows; matrices are symmetric.
  template <int N>
  KOKKOS_FORCEINLINE_FUNCTION static void multiply(const double* matrix, const double* q, double* h) {
    unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE {
#ifdef __CUDA_ARCH__
      if constexpr (nf % 2 == 0) {  // two numbers a load
        const double2* const pairs = reinterpret_cast<const double2*>(matrix + a.value * nf);
        unroll<N / 2>([&](auto r) QUINTET_DEVICE_INLINE {
          const double2 pair = pairs[r.value];
          add_product(h[2 * r.value], pair.x, q[a.value]);
          add_product(h[2 * r.value + 1], pair.y, q[a.value]);
        });
        return;
      }
#endif
      unroll<N>([&](auto r) QUINTET_DEVICE_INLINE {
        add_product(h[r.value], matrix[a.value * nf + r.value], q[a.value]);
      });
    });
  }

  /// h += A_D input + sum_j B_Dj v_j input of group g, which is full or not, over the relative width.
  KOKKOS_FORCEINLINE_FUNCTION static void accelerate(const Tables& t, int D, int g, bool full,
                                                     const double* force, bool magnetic,
                                                     const double* of_lane, const double* input, double* h) {
    const int i = t.face[D][g];
    const double* const in = input + t.degree[D][g] * nfm * L;
    const double stretch = of_lane[(D * 7 + 3) * L];
    double q[nf];
    QUINTET_DEVICE_LOOP
    for (int j = magnetic ? vdim - 1 : -1; j >= -1; --j) {
      if (j == D) continue;
      unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { q[a.value] = 0; });
      const double* matrix = force + Places::a + D * nf * nf;
      double v = stretch;
      if (j >= 0) {
        matrix = force + Places::b + Places::pair(D, j) * nf * nf;
        v = of_lane[j * 7 * L] * stretch;
        const double half_dv = of_lane[(j * 7 + 1) * L] * stretch;
        const int kj = t.degree[j][g], below = t.face_down[D][j][i], above = t.face_up[D][j][i];
        if (below >= 0) add(q, half_dv * t.shift[kj], in + t.face_offset[below] * L, is_full_face(below));
        if (above >= 0) add(q, half_dv * t.shift[kj + 1], in + t.face_offset[above] * L, is_full_face(above));
      }
      add(q, v, in + t.face_offset[i] * L, is_full_face(i));
      if (full)
        multiply<nf>(matrix, q, h);
      else
        multiply<nl>(matrix, q, h);
    }
  }
};

/// A team: 32 velocity cells of a configuration cell.
template <class Tr>
struct GroupSweep {
  using Kernel = GroupKernel<Tr>;
  using Places = ForcePlaces<Tr>;
  static constexpr int L = lanes, vdim = Tr::vdim, cdim = Tr::cdim, nfm = Tr::n_face_modes;
  static constexpr int nf = Tr::n_full, nl = Tr::n_lin, n_degrees = Tr::velocity_order + 1;
  /// Numbers of a lane in each direction: v, dv/2, whether there are cells below and above (bits), inverse
  /// relative width; weights of the faces.
  static constexpr int n_lane = 7 * vdim;
  /// Force, lanes [n_lane, 32], f and df [n_modes, 32], input [degree, face mode, 32].
  static constexpr int scratch = Places::size + (n_lane + 2 * Tr::n_modes + n_degrees * nfm) * L;
  Cells<Tr> cells;
  GroupTables<Tr> tables;
  const double* forces;
  Update update;
  static constexpr GroupTables<Tr> make_tables() { return make_group_tables<Tr>(); }

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int conf = team.league / cells.n_packs, pack = team.league % cells.n_packs;
    double* const force = team.scratch;
    double* const of_lane = force + Places::size;
    double* const mine = of_lane + n_lane * L;
    double* const df = mine + Tr::n_modes * L;
    double* const input = df + Tr::n_modes * L;
    const GroupTables<Tr>& t = tables;
    // Cells that only pad are worked on as copies of the last one, and not written.
    const auto cell_of = [&](int lane) QUINTET_DEVICE_INLINE {
      const int cell = pack * L + lane;
      return cell < cells.n_vel ? cell : cells.n_vel - 1;
    };

    const double* const own = update.f + cells.place(conf, pack * L);  // 32 cells
    const double* beside[cdim][2];                                     // the same 32 in the cells of x around
    if (update.keep != 0) fetch(team, update.f0 + cells.place(conf, pack * L));
    unroll<cdim>([&](auto d) QUINTET_DEVICE_INLINE {
      for (int side = 0; side < 2; ++side) {
        const int there = cells.beside(conf, d.value, 2 * side - 1);
        beside[d.value][side] = there < 0 ? nullptr : update.f + cells.place(there, pack * L);
        if (there >= 0) fetch(team, beside[d.value][side]);
      }
    });
    for (int i = team.rank; i < Tr::n_modes * L; i += team.size) mine[i] = own[i];
    for (int i = team.rank; i < Places::size; i += team.size)
      force[i] = forces[std::int64_t{conf} * Places::size + i];
    team.barrier();
    const bool magnetic = vdim > 1 && force[Places::magnetic] != 0;
    for (int lane = team.rank; lane < L; lane += team.size) {
      const CellContext<Tr> c(cells, cell_of(lane));
      unroll<vdim>([&](auto d) QUINTET_DEVICE_INLINE {
        make_lane<d.value>(c, cells, force, magnetic, of_lane + lane);
      });
    }
    team.barrier();

    for (int i = team.rank; i < Tr::n_groups * L; i += team.size) {
      const int g = i / L, lane = i % L;
      double sum[nf];
      unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { sum[a.value] = 0; });
      unroll<cdim>([&](auto d) QUINTET_DEVICE_INLINE {
        constexpr int I = d.value;
        const double v = of_lane[I * 7 * L + lane], half_dv = of_lane[(I * 7 + 1) * L + lane];
        Kernel::template streaming<I>(t, v, half_dv, cells.rdx[I], weights_of(cells.flux, v, half_dv), g,
                                      Kernel::is_full(g), mine + lane,
                                      beside[I][0] ? beside[I][0] + lane : nullptr,
                                      beside[I][1] ? beside[I][1] + lane : nullptr, sum);
      });
      keep(df + t.offset[g] * L + lane, sum, Kernel::is_full(g));
    }

    int step = 1;
    QUINTET_DEVICE_LOOP
    for (int D = vdim - 1; D >= 0; --D) {
      team.barrier();
      for (int i = team.rank; i < Tr::n_face_groups * L; i += team.size) {
        const int face = i / L, lane = i % L, cell = cell_of(lane);
        const double* const lane_d = of_lane + D * 7 * L + lane;
        const int has = lane_d[2 * L];
        const double* const below = has & 1 ? update.f + cells.place(conf, cell - step) : nullptr;
        const double* const above = has & 2 ? update.f + cells.place(conf, cell + step) : nullptr;
        make_inputs(t, D, face, lane_d, mine + lane, below, above, df + lane, input + lane);
      }
      step *= number_of(cells, D);
      team.barrier();
      for (int i = team.rank; i < Tr::n_groups * L; i += team.size) {
        const int g = i / L, lane = i % L;
        double* const of_group = df + t.offset[g] * L + lane;
        double h[nf];
        unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE { h[a.value] = 0; });
        Kernel::add(h, 1, of_group, Kernel::is_full(g));
        Kernel::accelerate(t, D, g, Kernel::is_full(g), force, magnetic, of_lane + lane, input + lane, h);
        keep(of_group, h, Kernel::is_full(g));
      }
    }
    team.barrier();

    for (int i = team.rank; i < Tr::n_modes * L; i += team.size) {
      if (pack * L + i % L >= cells.n_vel) continue;
      const std::ptrdiff_t at = cells.place(conf, pack * L) + i;
      update.out[at] = update.value(mine[i], df[i], update.f0 + at);
    }
  }

  /// Rows of direction D of one lane.
  template <int D>
  KOKKOS_FORCEINLINE_FUNCTION static void make_lane(const CellContext<Tr>& c, const Cells<Tr>& cells,
                                                    const double* force, bool magnetic, double* of_lane) {
    const FaceWeights w = force_weights<Tr>(c, cells.flux, force, magnetic, D);
    double* const to = of_lane + D * 7 * L;
    to[0] = c.v[D];
    to[L] = c.half_dv[D];
    to[2 * L] = (c.index[D] > 0 ? 1 : 0) + (c.index[D] + 1 < cells.nv[D] ? 2 : 0);
    to[3 * L] = c.stretch[D];
    to[4 * L] = w.left;
    to[5 * L] = w.right;
    to[6 * L] = w.penalty;
  }

  /// Ask for 32 cells before they are needed.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION static void fetch(const Team& team, const double* f) {
#ifdef __CUDA_ARCH__
    constexpr int line = 16;  // numbers
    for (int i = team.rank; i < Tr::n_modes * L / line; i += team.size) fetch_line(f + i * line);
#else
    static_cast<void>(team), static_cast<void>(f);
#endif
  }

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static int number_of(const Cells<Tr>& cells, int D) {
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
    QUINTET_DEVICE_LOOP
    for (int pass = penalty != 0 ? 0 : 1; pass < 2; ++pass) {
      const double left = pass == 0 ? penalty : of_lane[4 * L], right = pass == 0 ? -penalty : of_lane[5 * L];
      Kernel::face_values(t, D, i, left, right, own, below, above, low, high);
      QUINTET_DEVICE_LOOP
      for (int k = 0; k < n_degrees; ++k) {
        const int g = t.ladder[D][i][k];
        const double end = t.end[k];
        unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE {
          q[a.value] = fused(end, (k % 2 == 0 ? low[a.value] : -low[a.value]) - high[a.value], 0);
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
};

}  // namespace quintet::kinetics::device
