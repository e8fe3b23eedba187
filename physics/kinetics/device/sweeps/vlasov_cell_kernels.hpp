#pragma once

#include <algorithm>

#include "physics/kinetics/device/sweeps/vlasov_force_kernels.hpp"

/// Small bases: a thread makes a whole cell, everything unrolled, df in registers.
///
/// Across v_d what enters through the lower face and leaves through the upper one is df_k += phi_k(-1)
/// F_lower
/// - phi_k(1) F_upper. As phi_k(-1) = (-1)^k phi_k(1) and products with the force are linear, each output
/// group takes one product with the force,
///
///     df_g += P[a (phi_k(1) t + int phi_k' phi_{k-1} f_{g-1} + ...)],
///
/// t = t_lower - t_upper for even k and -(t_lower + t_upper) for odd ones: fewer than the volume and two
/// faces one by one. The magnetic force, which not all have, comes after the electric one of all groups:
/// a branch in each of them holds more registers.
///
/// The threads of a team wait for one another between the parts of a cell: what one part has read is then
/// read once more rather than kept, and more teams find registers on a multiprocessor.
namespace quintet::kinetics::device {

template <class Tr>
struct CellKernel {
  static constexpr int L = lanes, cdim = Tr::cdim, vdim = Tr::vdim;
  static constexpr int nf = Tr::n_full, nl = Tr::n_lin, nfm = Tr::n_face_modes, ncf = Tr::n_conf_face_modes;
  using Context = CellContext<Tr>;
  using Places = ForcePlaces<Tr>;

  template <int G>
  static constexpr int width = G < 0                   ? 0
                               : G < Tr::n_full_groups ? nf
                                                       : nl;
  template <int G>
  static constexpr int offset = Tr::offset(G < 0 ? 0 : G);
  template <int I>
  static constexpr int face_width = I < 0                        ? 0
                                    : I < Tr::n_full_face_groups ? nf
                                                                 : nl;
  template <int I>
  static constexpr int face_offset = Tr::face_offset(I < 0 ? 0 : I);
  template <int G>
  static constexpr int conf_face_width = G < 0                   ? 0
                                         : G < Tr::n_full_groups ? Tr::n_conf_face_full
                                                                 : Tr::n_conf_face_lin;
  template <int G>
  static constexpr int conf_face_offset = Tr::conf_face_offset(G < 0 ? 0 : G);
  template <int D, int G>
  static constexpr int up = G < 0 ? -1 : Tr::neighbours.up[D][G < 0 ? 0 : G];
  template <int D, int G>
  static constexpr int down = G < 0 ? -1 : Tr::neighbours.down[D][G < 0 ? 0 : G];
  template <int D, int G>
  static constexpr int degree = Tr::groups.modes[G][D];
  template <int D, int J, int I>
  static constexpr int face_up = I < 0 ? -1 : Tr::faces.up[D][J][I < 0 ? 0 : I];
  template <int D, int J, int I>
  static constexpr int face_down = I < 0 ? -1 : Tr::faces.down[D][J][I < 0 ? 0 : I];
  /// The face group on which group G lies.
  static constexpr int face_group(int D, int G) {
    for (int i = 0; i < Tr::n_face_groups; ++i)
      for (int k = 0; k <= Tr::velocity_order; ++k)
        if (Tr::faces.ladder[D][i][k] == G) return i;
    return -1;
  }

  // --- streaming

  template <int I>
  KOKKOS_FORCEINLINE_FUNCTION static void streaming_volume(const Context& c, double rdx, const double* f,
                                                           double* df) {
    const double v = c.v[I] * rdx, half_dv = c.half_dv[I] * rdx;
    unroll<Tr::n_groups>([&](auto g) QUINTET_DEVICE_INLINE {
      constexpr int G = g.value, N = width<G>, U = up<I, G>, W = down<I, G>, K = degree<I, G>;
      double h[N];
      unroll<N>([&](auto a) QUINTET_DEVICE_INLINE {
        constexpr int A = a.value;
        double s = v * f[(offset<G> + A) * L];
        if constexpr (A < width<W>) s += half_dv * shift_of<K> * f[(offset<W> + A) * L];
        if constexpr (A < width<U>) s += half_dv * shift_of<K + 1> * f[(offset<U> + A) * L];
        h[A] = s;
      });
      unroll<Tr::n_conf_face_full>([&](auto fa) QUINTET_DEVICE_INLINE {
        unroll<Tr::order>([&](auto k1) QUINTET_DEVICE_INLINE {
          constexpr int k = k1.value + 1, A = Tr::conf_faces.ladder[I][fa.value][k];
          if constexpr (A >= 0 && A < N)
            unroll<(k + 1) / 2>([&](auto half) QUINTET_DEVICE_INLINE {
              constexpr int l = k - 1 - 2 * half.value, B = Tr::conf_faces.ladder[I][fa.value][l];
              df[offset<G> + A] += derivative_of<k, l> * h[B];
            });
        });
      });
    });
  }

  /// trace (+)= weight times the trace of f at x_I = +1 (Side 1) or -1.
  template <int I, int Side, bool Add>
  KOKKOS_FORCEINLINE_FUNCTION static void conf_trace(const double* f, double* trace, double weight) {
    unroll<Tr::n_groups>([&](auto g) QUINTET_DEVICE_INLINE {
      constexpr int G = g.value;
      unroll<conf_face_width<G>>([&](auto fa) QUINTET_DEVICE_INLINE {
        double s = 0;
        unroll<Tr::order + 1>([&](auto k) QUINTET_DEVICE_INLINE {
          constexpr int A = Tr::conf_faces.ladder[I][fa.value][k.value];
          constexpr double end = (Side < 0 && k.value % 2 == 1 ? -1 : 1) * end_of<k.value>;
          if constexpr (A >= 0 && A < width<G>) s += end * f[(offset<G> + A) * L];
        });
        double& t = trace[conf_face_offset<G> + fa.value];
        t = Add ? t + weight * s : weight * s;
      });
    });
  }

  /// df += what the flux P[v_I t] (Jump: -t alone, scaled by 2/dx) brings through the face at Side.
  template <int I, int Side, bool Jump>
  KOKKOS_FORCEINLINE_FUNCTION static void streaming_lift(const Context& c, double rdx, const double* t,
                                                         double* df) {
    const double v = c.v[I] * rdx, half_dv = c.half_dv[I] * rdx;
    unroll<Tr::n_groups>([&](auto g) QUINTET_DEVICE_INLINE {
      [[maybe_unused]] constexpr int G = g.value, U = up<I, G>, W = down<I, G>, K = degree<I, G>;
      unroll<conf_face_width<G>>([&](auto fa) QUINTET_DEVICE_INLINE {
        constexpr int A = fa.value;
        double s = 0;
        if constexpr (Jump) {
          s = -rdx * t[conf_face_offset<G> + A];
        } else {
          s = v * t[conf_face_offset<G> + A];
          if constexpr (A < conf_face_width<W>) s += half_dv * shift_of<K> * t[conf_face_offset<W> + A];
          if constexpr (A < conf_face_width<U>) s += half_dv * shift_of<K + 1> * t[conf_face_offset<U> + A];
        }
        unroll<Tr::order + 1>([&](auto k) QUINTET_DEVICE_INLINE {
          constexpr int M = Tr::conf_faces.ladder[I][A][k.value];
          constexpr double end = (Side > 0 ? -1 : (k.value % 2 == 1 ? -1 : 1)) * end_of<k.value>;
          if constexpr (M >= 0 && M < width<G>) df[offset<G> + M] += end * s;
        });
      });
    });
  }

  /// One face across x_I; a null side counts as zero.
  template <int I, int Side>
  KOKKOS_FORCEINLINE_FUNCTION static void streaming_face(const Context& c, double rdx, const FaceWeights& w,
                                                         const double* left, const double* right,
                                                         double* df) {
    double t[ncf];
    const bool from_left = w.left != 0 && left != nullptr, from_right = w.right != 0 && right != nullptr;
    if (!from_left && !from_right) return;
    if (from_left)
      conf_trace<I, 1, false>(left, t, w.left);
    else
      unroll<ncf>([&](auto m) QUINTET_DEVICE_INLINE { t[m.value] = 0; });
    if (from_right) conf_trace<I, -1, true>(right, t, w.right);
    streaming_lift<I, Side, false>(c, rdx, t, df);
    if (w.penalty == 0) return;
    unroll<ncf>([&](auto m) QUINTET_DEVICE_INLINE { t[m.value] = 0; });
    if (left) conf_trace<I, 1, true>(left, t, -w.penalty);
    if (right) conf_trace<I, -1, true>(right, t, w.penalty);
    streaming_lift<I, Side, true>(c, rdx, t, df);
  }

  // --- acceleration

  /// even = lower - upper, odd = -(lower + upper) of the face values left f_L + right f_R across v_D.
  template <int D>
  KOKKOS_FORCEINLINE_FUNCTION static void face_sums(double left, double right, const double* own,
                                                    const double* below, const double* above, double* even,
                                                    double* odd) {
    unroll<Tr::n_face_groups>([&](auto i) QUINTET_DEVICE_INLINE {
      constexpr int I = i.value;
      unroll<face_width<I>>([&](auto a) QUINTET_DEVICE_INLINE {
        double s[2]{};  // of even and of odd degree
        unroll<Tr::velocity_order + 1>([&](auto k) QUINTET_DEVICE_INLINE {
          constexpr int G = Tr::faces.ladder[D][I][k.value];
          if constexpr (a.value < width<G>)
            s[k.value % 2] += end_of<k.value> * own[(offset<G> + a.value) * L];
        });
        const double lower = below ? right * (s[0] - s[1]) : 0, upper = above ? left * (s[0] + s[1]) : 0;
        even[face_offset<I> + a.value] = lower - upper;
        odd[face_offset<I> + a.value] = -(lower + upper);
      });
    });
    // The cell of one side, and where both count that of the other: lanes of different signs read different
    // cells at the same time.
    const bool from_below = left != 0 && below != nullptr, from_above = right != 0 && above != nullptr;
    if (!from_below && !from_above) return;
    add_beyond<D>(from_below ? 1 : -1, from_below ? left : right, from_below ? below : above, even, odd);
    if (from_below && from_above) add_beyond<D>(-1, right, above, even, odd);
  }
  /// Add the contribution of the cell below (side 1: by its upper trace) or above (-1).
  template <int D>
  KOKKOS_FORCEINLINE_FUNCTION static void add_beyond(double side, double weight, const double* f,
                                                     double* even, double* odd) {
    unroll<Tr::n_face_groups>([&](auto i) QUINTET_DEVICE_INLINE {
      constexpr int I = i.value;
      unroll<face_width<I>>([&](auto a) QUINTET_DEVICE_INLINE {
        double s[2]{};
        unroll<Tr::velocity_order + 1>([&](auto k) QUINTET_DEVICE_INLINE {
          constexpr int G = Tr::faces.ladder[D][I][k.value];
          if constexpr (a.value < width<G>) s[k.value % 2] += end_of<k.value> * f[(offset<G> + a.value) * L];
        });
        const double value = weight * (s[0] + side * s[1]);
        even[face_offset<I> + a.value] += side * value;
        odd[face_offset<I> + a.value] -= value;
      });
    });
  }

  /// Input of the force for an output group of degree K: a face value and the volume's f.
  template <int K, int I, int G1, int G3>
  struct Input {
    static constexpr int n = face_width<I> > width<G1> ? face_width<I> : width<G1>;
    template <int A>
    KOKKOS_FORCEINLINE_FUNCTION static double get(const double* face, const double* f) {
      double q = 0;
      if constexpr (A < face_width<I>) q = end_of<K> * face[face_offset<I> + A];
      if constexpr (K >= 1) {
        if constexpr (A < width<G1>) q += derivative_of<K, K - 1> * f[(offset<G1> + A) * L];
      }
      if constexpr (K >= 3) {
        if constexpr (A < width<G3>) q += derivative_of<K, K - 3> * f[(offset<G3> + A) * L];
      }
      return q;
    }
  };

  /// Output group G of direction D: its degree K, face group I, and the groups of degree K - 1 and K - 3.
  template <int D, int G>
  struct Out {
    static constexpr int k = degree<D, G>, face = face_group(D, G);
    static constexpr int g1 = k >= 1 ? down<D, G> : -1;
    static constexpr int g3 = k >= 3 ? down<D, down<D, g1>> : -1;
    using Own = Input<k, face, g1, g3>;
    template <int J>
    using Below = Input<k, face_down<D, J, face>, down<J, g1>, down<J, g3>>;
    template <int J>
    using Above = Input<k, face_up<D, J, face>, up<J, g1>, up<J, g3>>;
    template <int J>
    static constexpr int n_columns = std::max({Own::n, Below<J>::n, Above<J>::n});
  };

  /// h += matrix q, column A of a symmetric matrix.
  template <int A, int N>
  KOKKOS_FORCEINLINE_FUNCTION static void add_column(const double* matrix, double q, double* h) {
    unroll<N>([&](auto r) QUINTET_DEVICE_INLINE { h[r.value] += matrix[A * nf + r.value] * q; });
  }

  /// df_G += what the electric force, or the magnetic one (which other directions mix), makes of the inputs.
  template <int D, int G, bool Magnetic>
  KOKKOS_FORCEINLINE_FUNCTION static void times_force(const Context& c, const double* force,
                                                      const double* own, const double* face, double* df) {
    using Own = typename Out<D, G>::Own;
    constexpr int N = width<G>;
    double h[N];
    unroll<N>([&](auto r) QUINTET_DEVICE_INLINE { h[r.value] = 0; });
    if constexpr (Magnetic)
      unroll<vdim>([&](auto j) QUINTET_DEVICE_INLINE {
        if constexpr (j.value != D) add_magnetic<D, j.value, G>(c, force, own, face, h);
      });
    else
      unroll<Own::n>([&](auto a) QUINTET_DEVICE_INLINE {
        add_column<a.value, N>(force + Places::a + D * nf * nf, Own::template get<a.value>(face, own), h);
      });
    unroll<N>([&](auto r) QUINTET_DEVICE_INLINE { df[offset<G> + r.value] += c.stretch[D] * h[r.value]; });
  }
  template <int D, int J, int G>
  KOKKOS_FORCEINLINE_FUNCTION static void add_magnetic(const Context& c, const double* force,
                                                       const double* own, const double* face, double* h) {
    using O = Out<D, G>;
    using Own = typename O::Own;
    using Below = typename O::template Below<J>;
    using Above = typename O::template Above<J>;
    constexpr int K = degree<J, G>;
    const double v = c.v[J], x = c.half_dv[J] * shift_of<K>, x1 = c.half_dv[J] * shift_of<K + 1>;
    unroll<O::template n_columns<J>>([&](auto a) QUINTET_DEVICE_INLINE {
      double vq = 0;
      if constexpr (a.value < Own::n) vq = v * Own::template get<a.value>(face, own);
      if constexpr (a.value < Below::n) vq += x * Below::template get<a.value>(face, own);
      if constexpr (a.value < Above::n) vq += x1 * Above::template get<a.value>(face, own);
      add_column<a.value, width<G>>(force + Places::b + Places::pair(D, J) * nf * nf, vq, h);
    });
  }

  /// All threads of the team take part.
  template <int D, class Team>
  KOKKOS_FORCEINLINE_FUNCTION static void acceleration(const Team& team, const Context& c,
                                                       const FaceWeights& w, const double* force,
                                                       bool magnetic, const double* own, const double* below,
                                                       const double* above, double* df) {
    double even[nfm], odd[nfm];
    if (w.penalty != 0) {
      face_sums<D>(w.penalty, -w.penalty, own, below, above, even, odd);
      unroll<Tr::n_groups>([&](auto g) QUINTET_DEVICE_INLINE {
        constexpr int G = g.value, K = degree<D, G>, I = face_group(D, G);
        const double* const face = K % 2 == 0 ? even : odd;
        unroll<width<G>>([&](auto r) QUINTET_DEVICE_INLINE {
          df[offset<G> + r.value] += c.stretch[D] * end_of<K> * face[face_offset<I> + r.value];
        });
      });
      forget_what_was_read();
    }
    face_sums<D>(w.left, w.right, own, below, above, even, odd);
    team.barrier();
    unroll<Tr::n_groups>([&](auto g) QUINTET_DEVICE_INLINE {
      times_force<D, g.value, false>(c, force, own, Out<D, g.value>::k % 2 == 0 ? even : odd, df);
    });
    if (magnetic) {
      team.barrier();
      unroll<Tr::n_groups>([&](auto g) QUINTET_DEVICE_INLINE {
        times_force<D, g.value, true>(c, force, own, Out<D, g.value>::k % 2 == 0 ? even : odd, df);
      });
    }
    team.barrier();
  }

  /// Ask for what comes from afar, f_0 and the cells beside this one in x, before the work begins: with all
  /// of a thread's registers in use few threads are there to wait in turn.
  KOKKOS_FORCEINLINE_FUNCTION static void fetch_ahead(const Cells<Tr>& cells, const Context& c, int conf,
                                                      int cell, const Update& u) {
#ifdef __CUDA_ARCH__
    const auto fetch = [](const double* f) QUINTET_DEVICE_INLINE {
      unroll<Tr::n_modes>([&](auto m) QUINTET_DEVICE_INLINE { fetch_line(f + m.value * L); });
    };
    if (u.keep != 0) fetch(u.f0 + cells.place(conf, cell));
    unroll<cdim>([&](auto i) QUINTET_DEVICE_INLINE {
      const int there = cells.beside(conf, i.value, c.v[i.value] > 0 ? -1 : 1);
      if (there >= 0) fetch(u.f + cells.place(there, cell));
    });
#else
    static_cast<void>(cells), static_cast<void>(c), static_cast<void>(conf), static_cast<void>(cell);
    static_cast<void>(u);
#endif
  }

  /// Update a thread's cell, all threads of the team taking part; written to memory where `is_kept`.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION static void update(const Team& team, const Cells<Tr>& cells,
                                                 const double* force, int conf, int cell, bool is_kept,
                                                 const Update& u) {
    const Context c(cells, cell);
    const std::ptrdiff_t place = cells.place(conf, cell);
    const double* const own = u.f + place;
    fetch_ahead(cells, c, conf, cell, u);
    double df[Tr::n_modes];
    unroll<Tr::n_modes>([&](auto m) QUINTET_DEVICE_INLINE { df[m.value] = 0; });
    unroll<cdim>([&](auto i) QUINTET_DEVICE_INLINE {
      constexpr int I = i.value;
      const double rdx = cells.rdx[I];
      streaming_volume<I>(c, rdx, own, df);
      const FaceWeights w = weights_of(cells.flux, c.v[I], c.half_dv[I]);
      const int lower = cells.beside(conf, I, -1), upper = cells.beside(conf, I, 1);
      streaming_face<I, -1>(c, rdx, w, lower < 0 ? nullptr : u.f + cells.place(lower, cell), own, df);
      streaming_face<I, 1>(c, rdx, w, own, upper < 0 ? nullptr : u.f + cells.place(upper, cell), df);
      team.barrier();
    });
    const bool magnetic = vdim > 1 && force[Places::magnetic] != 0;
    unroll<vdim>([&](auto d) QUINTET_DEVICE_INLINE {
      constexpr int D = d.value;
      const FaceWeights w = force_weights<Tr>(c, cells.flux, force, magnetic, D);
      const double* const below = c.index[D] > 0 ? u.f + cells.place(conf, cell - c.step[D]) : nullptr;
      const double* const above =
          c.index[D] + 1 < cells.nv[D] ? u.f + cells.place(conf, cell + c.step[D]) : nullptr;
      acceleration<D>(team, c, w, force, magnetic, own, below, above, df);
    });
    if (!is_kept) return;
    double* const out = u.out + place;
    if (u.keep == 0) {
      unroll<Tr::n_modes>([&](auto m) QUINTET_DEVICE_INLINE {
        out[m.value * L] = u.advance * own[m.value * L] + u.rate * df[m.value];
      });
    } else {
      const double* const f0 = u.f0 + place;
      unroll<Tr::n_modes>([&](auto m) QUINTET_DEVICE_INLINE {
        out[m.value * L] = u.keep * f0[m.value * L] + u.advance * own[m.value * L] + u.rate * df[m.value];
      });
    }
  }
};

/// A team: a configuration cell and as many of its velocity cells as it has threads.
template <class Tr>
struct CellSweep {
  using Places = ForcePlaces<Tr>;
  static constexpr int scratch = Places::size;
  Cells<Tr> cells;
  const double* forces;
  Update update;
  int n_chunks, chunk;  ///< teams a configuration cell, cells a team

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int conf = team.league / n_chunks, first = team.league % n_chunks * chunk;
    for (int i = team.rank; i < Places::size; i += team.size)
      team.scratch[i] = forces[std::int64_t{conf} * Places::size + i];
    team.barrier();
    // Threads without a cell of their own work on the last one, as all have to wait for all.
    for (int i = team.rank; i < chunk; i += team.size) {
      const int cell = first + i < cells.n_vel ? first + i : cells.n_vel - 1;
      CellKernel<Tr>::update(team, cells, team.scratch, conf, cell, cell == first + i, update);
    }
  }
};

}  // namespace quintet::kinetics::device
