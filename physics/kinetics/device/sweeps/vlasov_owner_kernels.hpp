#pragma once

#include "physics/kinetics/device/sweeps/vlasov_group_kernels.hpp"
#include "physics/kinetics/device/sweeps/vlasov_owner_tables.hpp"

/// Large bases with fewer instructions: as vlasov_group_kernels.hpp, but each
/// warp owns velocity groups and keeps their df in registers from the first
/// part of a sweep to the last, and what the force acts on is made by columns,
/// single functions of a face, of which all warps have as many.
///
///   1. f, the force's matrices and weights of the faces across each v into
///   scratch
///   2. owners: df of streaming
///   3. for each direction d
///        a. columns: the input of the force for each degree along d
///        b. owners: df += A_d input + sum_j B_dj (v_j input)
///   4. owners: out = keep f_0 + advance (f + dt df)
///
/// What is known of a group or a column when compiling, how wide it is and
/// which degrees there are, costs no instruction; loads do not wait for
/// branches. The sums are those of GroupSweep in the same order, so that both
/// give the same bits.
namespace quintet::kinetics::device {

/// A team of `Warps` warps makes 32 velocity cells of a configuration cell.
template <class Tr, int Warps>
struct OwnerSweep {
  using Kernel = GroupKernel<Tr>;
  using Tables = OwnerTables<Tr>;
  using Places = ForcePlaces<Tr>;
  static constexpr int L = lanes, vdim = Tr::vdim, cdim = Tr::cdim, nfm = Tr::n_face_modes;
  static constexpr int nf = Tr::n_full, nl = Tr::n_lin, n_degrees = Tr::velocity_order + 1;
  static constexpr int threads = Warps * L;
  static constexpr bool asks_for_room = true;
  /// Rows of lanes, as GroupSweep's.
  static constexpr int n_lane = 7 * vdim;
  /// Force, lanes [n_lane, 32], f [n_modes, 32], input [degree, face mode, 32],
  /// cells of x around [cdim, 2].
  static constexpr int scratch = Places::size + (n_lane + Tr::n_modes + n_degrees * nfm) * L + 2 * cdim;

  /// Rounds in which each warp owns a full group, and then one of the others.
  static constexpr int n_lin_groups = Tr::n_groups - Tr::n_full_groups;
  static constexpr int full_rounds = (Tr::n_full_groups + Warps - 1) / Warps;
  static constexpr int rounds = full_rounds + (n_lin_groups + Warps - 1) / Warps;
  static constexpr int n_owned = full_rounds * nf + (rounds - full_rounds) * nl;
  static constexpr int n_chunks = (nfm + Warps - 1) / Warps;   ///< columns of a warp
  static constexpr int n_above = n_lin_groups == 0 ? nf : nl;  ///< of groups of degree 2 and more
  static constexpr Tables table = make_owner_tables<Tr>();

  Cells<Tr> cells;
  Tables tables;
  const double* forces;
  Update update;
  static constexpr const Tables& make_tables() { return table; }

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int conf = team.league / cells.n_packs, pack = team.league % cells.n_packs;
    double* const force = team.scratch;
    double* const of_lane = force + Places::size;
    double* const mine = of_lane + n_lane * L;
    double* const input = mine + Tr::n_modes * L;
    double* const beside = input + n_degrees * nfm * L;
    const double* const force_there = forces + std::int64_t{conf} * Places::size;
    // Cells that only pad are worked on as copies of the last one, and not written.
    const auto cell_of = [&](int lane) QUINTET_DEVICE_INLINE {
      const int cell = pack * L + lane;
      return cell < cells.n_vel ? cell : cells.n_vel - 1;
    };

    const double* const here = update.f + cells.place(conf, pack * L);  // 32 cells
    copy<Tr::n_modes * L, threads>(team, here, mine);
    copy<Places::size, threads>(team, force_there, force);
    const bool magnetic = vdim > 1 && force_there[Places::magnetic] != 0;
    for (int i = team.rank; i < threads; i += team.size) {
      // The first warps make the rows of lanes, the others find and ask for
      // what lies around.
      static_assert(Warps > vdim);
      const int warp = i / L, lane = i % L;
      if (warp < vdim) {
        make_lane(cell_of(lane), warp, force_there, magnetic, of_lane + lane);
        continue;
      }
      if (warp == vdim && update.keep != 0)
        fetch<Tr::n_modes * L>(update.f0 + cells.place(conf, pack * L), lane);
      QUINTET_DEVICE_LOOP
      for (int part = warp - vdim; part < 2 * cdim; part += Warps - vdim)
        find_beside(part, conf, pack, lane, beside);
    }
    wait_for_copies();
    team.barrier();

#ifdef __CUDA_ARCH__
    OfThread of_thread;
    const auto each_thread = [&](auto&& body)
                                 QUINTET_DEVICE_INLINE { body(team.rank / L, team.rank % L, of_thread); };
#else
    OfThread of_threads[threads];
    const auto each_thread = [&](auto&& body) {
      for (int i = team.rank; i < threads; i += team.size) body(i / L, i % L, of_threads[i]);
    };
#endif
    each_thread([&](int warp, int lane, OfThread& my) QUINTET_DEVICE_INLINE {
      unroll<n_owned>([&](auto a) QUINTET_DEVICE_INLINE { my.df[a.value] = 0; });
      unroll<cdim>([&](auto d) QUINTET_DEVICE_INLINE {
        // The same velocity cells of the cell of x below, or above.
        const auto side = [&](int i) QUINTET_DEVICE_INLINE {
          const int there = beside[2 * d.value + i];
          return there < 0 ? nullptr : update.f + cells.place(there, pack * L) + lane;
        };
        stream<d.value>(warp, of_lane + lane, mine + lane, here + lane, side(0), side(1), my.df);
      });
    });
    int step = 1;
    QUINTET_DEVICE_LOOP
    for (int D = vdim - 1; D >= 0; --D) {
      const double* const of_direction = of_lane + D * 7 * L;
      const bool has_penalty = is_any(of_direction + 6 * L);
      if (D < vdim - 1) team.barrier();  // all have read the last input
      each_thread([&](int warp, int lane, OfThread& my) QUINTET_DEVICE_INLINE {
        make_faces(D, has_penalty, warp, conf, cell_of(lane), step, of_direction + lane, mine + lane,
                   input + lane, my);
      });
      if (has_penalty) {
        team.barrier();
        each_thread([&](int warp, int lane, OfThread& my) QUINTET_DEVICE_INLINE {
          add_penalty(D, warp, of_direction[3 * L + lane], input + lane, my.df);
        });
        team.barrier();
      }
      each_thread([&](int warp, int lane, const OfThread& my)
                      QUINTET_DEVICE_INLINE { make_inputs(D, warp, mine + lane, my, input + lane); });
      team.barrier();
      each_thread([&](int warp, int lane, OfThread& my) QUINTET_DEVICE_INLINE {
        accelerate(D, warp, lane, force, magnetic, of_lane + lane, input, my.df);
      });
      step *= GroupSweep<Tr>::number_of(cells, D);
    }

    each_thread([&](int warp, int lane, const OfThread& my) QUINTET_DEVICE_INLINE {
      if (pack * L + lane >= cells.n_vel) return;
      const std::ptrdiff_t place = cells.place(conf, pack * L) + lane;
      for_owned(warp, [&](int g, auto full, auto first) QUINTET_DEVICE_INLINE {
        const int at = tables.offset[g] * L;
        const double* const own = mine + at + lane;
        const double* const f0 = update.f0 + place + at;
        double* const out = update.out + place + at;
        unroll<full.value ? nf : nl>([&](auto a) QUINTET_DEVICE_INLINE {
          out[a.value * L] = update.value(own[a.value * L], my.df[first.value + a.value], f0 + a.value * L);
        });
      });
    });
  }

 private:
  /// Numbers that stay in a thread's registers: df of what its warp owns, and face
  /// values of the warp's columns.
  struct OfThread {
    double df[n_owned], low[n_chunks], high[n_chunks];
  };

  /// body(group, whether it is full, where its numbers begin) for what a warp
  /// owns, the last two as types.
  enum class Rounds { all, whole, partial };  ///< whole: in which each warp has a group
  template <Rounds Which = Rounds::all, class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void for_owned(int warp, const Body& body) {
    unroll<rounds>([&](auto round) QUINTET_DEVICE_INLINE {
      constexpr bool full = round.value < full_rounds;
      constexpr int before = full ? round.value : round.value - full_rounds;
      constexpr int first = (full ? 0 : Tr::n_full_groups) + before * Warps;
      constexpr int end = full ? Tr::n_full_groups : Tr::n_groups;
      constexpr int place = full ? before * nf : full_rounds * nf + before * nl;
      constexpr bool is_whole = first + Warps <= end;
      if constexpr (Which == Rounds::all || (Which == Rounds::whole) == is_whole)
        if (is_whole || first + warp < end) body(first + warp, std::bool_constant<full>{}, Int<place>{});
    });
  }

  /// Direction D of the rows of one lane.
  KOKKOS_FORCEINLINE_FUNCTION void make_lane(int cell, int D, const double* force, bool magnetic,
                                             double* of_lane) const {
    const CellContext<Tr> c(cells, cell);
    unroll<vdim>([&](auto d) QUINTET_DEVICE_INLINE {
      if (d.value == D) GroupSweep<Tr>::template make_lane<d.value>(c, cells, force, magnetic, of_lane);
    });
  }

  /// Number of the cell of x on side `part` % 2 of direction `part` / 2, -1
  /// beyond an open edge, and its f asked for.
  KOKKOS_FORCEINLINE_FUNCTION void find_beside(int part, int conf, int pack, int lane, double* beside) const {
    int there = -1;
    unroll<cdim>([&](auto d) QUINTET_DEVICE_INLINE {
      if (d.value == part / 2) there = cells.beside(conf, d.value, part % 2 == 0 ? -1 : 1);
    });
    if (lane == 0) beside[part] = there;
    if (there >= 0) fetch<Tr::n_modes * L>(update.f + cells.place(there, pack * L), lane);
  }

  // --- streaming

  /// df += streaming along x_I of what a warp owns. Traces of a smaller group
  /// take all nf coefficients.
  template <int I>
  KOKKOS_FORCEINLINE_FUNCTION void stream(int warp, const double* of_lane, const double* mine,
                                          const double* here, const double* lower, const double* upper,
                                          double* owned) const {
    const double v = of_lane[I * 7 * L], half_dv = of_lane[(I * 7 + 1) * L], rdx = cells.rdx[I];
    const FaceWeights w = weights_of(cells.flux, v, half_dv);
    // The cell upwind or, with weights 0, this one: no load waits for a branch.
    const bool is_left = w.left != 0;
    const double* const beyond = is_left ? lower : upper;
    const double* const there = beyond == nullptr ? here : beyond;
    const double side = is_left ? 1 : -1;
    const double to_low = is_left && beyond != nullptr ? w.left : 0;
    const double to_high = !is_left && beyond != nullptr ? w.right : 0;
    for_owned(warp, [&](int g, auto full, auto first) QUINTET_DEVICE_INLINE {
      constexpr bool Full = full.value;
      constexpr int n = Full ? nf : nl, n_faces = Full ? Tr::n_conf_face_full : Tr::n_conf_face_lin;
      const auto neighbours = tables.along_x[I][g];
      const ProductWithV<Tr> product{neighbours, tables.offset[g], v,
                                     half_dv * tables.shift[neighbours.shift],
                                     half_dv * tables.shift[neighbours.shift + 1]};
      double q[nf], q_there[nf], df[nf], flux_low[n_faces], flux_high[n_faces];
      product.template take<Full>(there, q_there);
      product.template take<Full>(mine, q);
      unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE {
        if constexpr (a.value < n)
          df[a.value] = owned[first.value + a.value];
        else
          df[a.value] = 0;
      });
      Kernel::template volume<I>(q, rdx, df);
      unroll<n_faces>([&](auto fa) QUINTET_DEVICE_INLINE {
        double even, odd;
        Kernel::template end_sums<I, fa.value>(q, even, odd);
        flux_low[fa.value] = w.right * (even - odd);
        flux_high[fa.value] = w.left * (even + odd);
        Kernel::template end_sums<I, fa.value>(q_there, even, odd);
        const double trace = fused(side, odd, even);
        add_product(flux_low[fa.value], to_low, trace);
        add_product(flux_high[fa.value], to_high, trace);
      });
      if (w.left != 0 && w.right != 0) {
        const double* const sources[3] = {here, lower, upper};
        both_sides<I, Full>(w, sources, product, flux_low, flux_high);
      }
      unroll<n_faces>([&](auto fa) QUINTET_DEVICE_INLINE {
        unroll<Tr::order + 1>([&](auto k) QUINTET_DEVICE_INLINE {
          constexpr int A = Tr::conf_faces.ladder[I][fa.value][k.value];
          if constexpr (A >= 0 && A < n)
            add_product(df[A], rdx * end_of<k.value>,
                        (k.value % 2 == 1 ? -flux_low[fa.value] : flux_low[fa.value]) - flux_high[fa.value]);
        });
      });
      unroll<n>([&](auto a) QUINTET_DEVICE_INLINE { owned[first.value + a.value] = df[a.value]; });
    });
  }

  /// The fluxes of one group where both sides of a face count, in the order of
  /// GroupKernel::streaming().
  /// @param sources this cell, the lower and the upper one
  template <int I, bool Full>
  KOKKOS_FORCEINLINE_FUNCTION static void both_sides(const FaceWeights& w, const double* const (&sources)[3],
                                                     const ProductWithV<Tr>& product, double* flux_low,
                                                     double* flux_high) {
    constexpr int n_faces = Full ? Tr::n_conf_face_full : Tr::n_conf_face_lin;
    unroll<n_faces>([&](auto fa) QUINTET_DEVICE_INLINE { flux_low[fa.value] = flux_high[fa.value] = 0; });
    QUINTET_DEVICE_LOOP
    for (int source = 0; source < 3; ++source) {
      const double* const f = source == 0 ? sources[0] : source == 1 ? sources[1] : sources[2];
      if (f == nullptr) continue;
      // Which of its traces each face takes, if any.
      const double low_side = source == 0 ? -1 : 1, high_side = -low_side;
      const double in_low = source < 2 ? 1 : 0, in_high = source != 1 ? 1 : 0;
      const auto add = [&](const double* q, double low_factor, double high_factor) QUINTET_DEVICE_INLINE {
        unroll<n_faces>([&](auto fa) QUINTET_DEVICE_INLINE {
          double even, odd;
          Kernel::template end_sums<I, fa.value>(q, even, odd);
          add_product(flux_low[fa.value], in_low * low_factor, fused(low_side, odd, even));
          add_product(flux_high[fa.value], in_high * high_factor, fused(high_side, odd, even));
        });
      };
      double q[nf];
      product.template take<Full>(f, q);
      add(q, source == 0 ? w.right : w.left, source == 0 ? w.left : w.right);
      if (w.penalty == 0) continue;
      unroll<nf>([&](auto a) QUINTET_DEVICE_INLINE {
        q[a.value] = 0;
        if constexpr (Full || a.value < nl)
          add_product(q[a.value], w.penalty, f[(product.offset + a.value) * L]);
      });
      add(q, low_side, high_side);
    }
  }

  // --- columns

  /// Whether the columns of all warps, or of any, have degree K in chunk C.
  template <int K, int C>
  static constexpr bool all_have() {
    for (int d = 0; d < vdim; ++d)
      for (int column = C * Warps; column < nfm && column < (C + 1) * Warps; ++column)
        if (table.mode[d][K][column] == Tables::none) return false;
    return true;
  }
  template <int K, int C>
  static constexpr bool any_has() {
    for (int d = 0; d < vdim; ++d)
      for (int column = C * Warps; column < nfm && column < (C + 1) * Warps; ++column)
        if (table.mode[d][K][column] != Tables::none) return true;
    return false;
  }

  /// body(Int<chunk>, mode) for the columns of a warp that have degree K along
  /// D, in N chunks from First on.
  template <int K, int First, int N, class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_columns(int D, int warp, const Body& body) const {
    unroll<N>([&](auto n) QUINTET_DEVICE_INLINE {
      constexpr int chunk = First + n.value, first = chunk * Warps;
      constexpr bool all = all_have<K, chunk>(), any = any_has<K, chunk>();
      const int column = first + warp;
      if constexpr (any)
        if (first + Warps <= nfm || column < nfm)
          if (const int mode = tables.mode[D][K][column]; all || mode != Tables::none)
            body(Int<chunk>{}, mode);
    });
  }
  template <int K, class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_columns(int D, int warp, const Body& body) const {
    for_columns<K, 0, n_chunks>(D, warp, body);
  }

  /// Face values of a warp's columns across v_D. Of the penalty, for even and
  /// for odd degrees, what lower and upper face bring goes to the first two
  /// rows of input.
  KOKKOS_FORCEINLINE_FUNCTION void make_faces(int D, bool has_penalty, int warp, int conf, int cell, int step,
                                              const double* of_lane, const double* own, double* input,
                                              OfThread& my) const {
    const double left = of_lane[4 * L], right = of_lane[5 * L], penalty = of_lane[6 * L];
    const int has = of_lane[2 * L];
    const bool has_below = (has & 1) != 0, has_above = (has & 2) != 0;
    const FaceSides sides(left, right, has_below, has_above);
    // The cell itself, with weight 0, where none beside it counts: no load
    // waits for a branch.
    const int beyond = sides.from_below ? cell - step : sides.from_above ? cell + step : cell;
    const double* const first = as_it_is(update.f + cells.place(conf, beyond));
    const double* const last = as_it_is(update.f + cells.place(conf, sides.above != 0 ? cell + step : cell));
    const FaceSides jump(penalty, -penalty, has_below, has_above);
    double* const of_warp = input + warp * L;
    constexpr int at_once = 6;  // what registers hold
    unroll<(n_chunks + at_once - 1) / at_once>([&](auto batch) QUINTET_DEVICE_INLINE {
      constexpr int begin = batch.value * at_once, n = std::min(at_once, n_chunks - begin);
      double lower[n], upper[n], outer[n], above[n];
      unroll<n>([&](auto c) QUINTET_DEVICE_INLINE {
        lower[c.value] = upper[c.value] = outer[c.value] = above[c.value] = 0;
      });
      unroll<n_degrees>([&](auto k) QUINTET_DEVICE_INLINE {
        constexpr double end = end_of<k.value>, start = k.value % 2 == 1 ? -end : end;
        const double of_first = sides.from_below ? end : start;
        for_columns<k.value, begin, n>(D, warp, [&](auto c, int mode) QUINTET_DEVICE_INLINE {
          constexpr int C = c.value - begin;
          const double x = own[mode * L];
          add_product(lower[C], start, x);
          add_product(upper[C], end, x);
          add_product(outer[C], of_first, read_only(first + mode * L));
        });
      });
      if (sides.above != 0)
        unroll<n_degrees>([&](auto k) QUINTET_DEVICE_INLINE {
          constexpr double start = k.value % 2 == 1 ? -end_of<k.value> : end_of<k.value>;
          for_columns<k.value, begin, n>(D, warp, [&](auto c, int mode) QUINTET_DEVICE_INLINE {
            add_product(above[c.value - begin], start, read_only(last + mode * L));
          });
        });
      const auto weigh = [&](const FaceSides& of, auto c, double& low, double& high) QUINTET_DEVICE_INLINE {
        constexpr int C = c.value - begin;
        of.weigh(lower[C], upper[C], outer[C], low, high);
        add_product(high, of.above, above[C]);
      };
      for_columns<0, begin, n>(D, warp, [&](auto c, int) QUINTET_DEVICE_INLINE {
        weigh(sides, c, my.low[c.value], my.high[c.value]);
      });
      if (!has_penalty) return;
      for_columns<0, begin, n>(D, warp, [&](auto c, int) QUINTET_DEVICE_INLINE {
        double low, high;
        weigh(jump, c, low, high);
        of_warp[c.value * Warps * L] = low - high;
        of_warp[(nfm + c.value * Warps) * L] = -low - high;
      });
    });
  }

  /// df of what a warp owns += what the penalty brings.
  KOKKOS_FORCEINLINE_FUNCTION void add_penalty(int D, int warp, double stretch, const double* jumps,
                                               double* df) const {
    for_owned(warp, [&](int g, auto full, auto first) QUINTET_DEVICE_INLINE {
      const int k = tables.degree[D][g];
      const double* const of_face = jumps + ((k % 2) * nfm + tables.face[D][g]) * L;
      unroll<full.value ? nf : nl>([&](auto a) QUINTET_DEVICE_INLINE {
        const double q = tables.end[k] * of_face[a.value * L];
        add_product(df[first.value + a.value], stretch, q);
      });
    });
  }

  /// The inputs of all degrees along D with a warp's columns.
  KOKKOS_FORCEINLINE_FUNCTION void make_inputs(int D, int warp, const double* own, const OfThread& my,
                                               double* input) const {
    double* const of_warp = input + warp * L;
    unroll<n_degrees>([&](auto k) QUINTET_DEVICE_INLINE {
      double q[n_chunks]{};
      for_columns<0>(D, warp, [&](auto c, int) QUINTET_DEVICE_INLINE {
        q[c.value] = fused(end_of<k.value>,
                           (k.value % 2 == 0 ? my.low[c.value] : -my.low[c.value]) - my.high[c.value], 0);
      });
      const auto add_volume = [&](auto below, double slope) QUINTET_DEVICE_INLINE {
        for_columns<below.value>(D, warp, [&](auto c, int mode) QUINTET_DEVICE_INLINE {
          add_product(q[c.value], slope, own[mode * L]);
        });
      };
      if constexpr (k.value >= 1) add_volume(Int<k.value - 1>{}, derivative_of<k.value, k.value - 1>);
      if constexpr (k.value >= 3) add_volume(Int<k.value - 3>{}, derivative_of<k.value, k.value - 3>);
      for_columns<0>(D, warp, [&](auto c, int) QUINTET_DEVICE_INLINE {
        of_warp[(k.value * nfm + c.value * Warps) * L] = q[c.value];
      });
    });
  }

  // --- acceleration

  /// df += A_D input + sum_j B_Dj v_j input, over the relative width, of what a
  /// warp owns. Matrices are symmetric; a column is read once for all groups.
  KOKKOS_FORCEINLINE_FUNCTION void accelerate(int D, int warp, int lane, const double* force, bool magnetic,
                                              const double* of_lane, const double* input, double* df) const {
    const double stretch = of_lane[(D * 7 + 3) * L];
    QUINTET_DEVICE_LOOP
    for (int j = magnetic ? vdim - 1 : -1; j >= -1; --j) {
      if (j == D) continue;
      if (j < 0)
        times_matrix<false>(D, j, warp, lane, force + Places::a + D * nf * nf, stretch, 0, input, df);
      else
        times_matrix<true>(D, j, warp, lane, force + Places::b + Places::pair(D, j) * nf * nf,
                           of_lane[j * 7 * L] * stretch, of_lane[(j * 7 + 1) * L] * stretch, input, df);
    }
  }
  template <bool Magnetic>
  KOKKOS_FORCEINLINE_FUNCTION void times_matrix(int D, int j, int warp, int lane, const double* matrix,
                                                double v, double half_dv, const double* input,
                                                double* df) const {
    const auto times_column = [&](auto column, int g, auto full, auto first) QUINTET_DEVICE_INLINE {
      constexpr bool Full = full.value;
      constexpr int A = column.value;
      double q = 0;
      if constexpr (Magnetic) {
        const auto& n = tables.along_v[D][Tables::pair(D, j)][g];
        const double* const partner = input + as_it_is(n.partner * L + lane);
        const double* const above = input + as_it_is(n.above * L + lane);
        if (Full || A < nl || n.is_full != 0) add_product(q, half_dv * tables.shift[n.shift], partner[A * L]);
        if constexpr (A < n_above)
          add_product(q, half_dv * tables.shift[n.shift + 1], n.above != Tables::none ? above[A * L] : 0);
      }
      const double* const own = input + as_it_is(tables.input[D][g] * L + lane);
      if (Full || A < nl || tables.is_full_input[D][g]) add_product(q, v, own[A * L]);
      add_column<A, Full ? nf : nl>(matrix, q, df + first.value);
    };
    unroll<nf>([&](auto column) QUINTET_DEVICE_INLINE {
      for_owned<Rounds::whole>(warp, [&](int g, auto full, auto first)
                                         QUINTET_DEVICE_INLINE { times_column(column, g, full, first); });
    });
    for_owned<Rounds::partial>(warp, [&](int g, auto full, auto first) QUINTET_DEVICE_INLINE {
      unroll<nf>([&](auto column) QUINTET_DEVICE_INLINE { times_column(column, g, full, first); });
    });
  }

  /// h[r] += matrix[r, A] q for the first N rows.
  template <int A, int N>
  KOKKOS_FORCEINLINE_FUNCTION static void add_column(const double* matrix, double q, double* h) {
#ifdef __CUDA_ARCH__
    if constexpr (nf % 2 == 0 && N % 2 == 0) {  // two numbers a load
      const double2* const pairs = reinterpret_cast<const double2*>(matrix + A * nf);
      unroll<N / 2>([&](auto r) QUINTET_DEVICE_INLINE {
        const double2 pair = pairs[r.value];
        add_product(h[2 * r.value], pair.x, q);
        add_product(h[2 * r.value + 1], pair.y, q);
      });
      return;
    }
#endif
    unroll<N>([&](auto r) QUINTET_DEVICE_INLINE { add_product(h[r.value], matrix[A * nf + r.value], q); });
  }
};

}  // namespace quintet::kinetics::device
