#pragma once

#include <algorithm>
#include <cmath>

#include "physics/kinetics/advection/flux.hpp"
#include "physics/kinetics/advection/group_modes.hpp"

/// The formulas of the collisionless operator for `lanes` velocity cells at once.
///
/// Everything is scaled by 2/dz of the direction it belongs to, so that the formulas are those of [-1, 1];
/// along v by the mean dv, which `stretch` corrects where a cell takes it. q_g below are the coefficients of
/// velocity group g, of degree k in the velocity at hand, q_{g-1} and q_{g+1} those of its neighbours of
/// degree k - 1 and k + 1; X_k = int xi phi_k phi_{k-1} (legendre_tables.shift).
namespace quintet::kinetics {

/// F = P[a (w_l f_L + w_r f_R)] - c (f_R - f_L), lane by lane.
struct Weights {
  P left, right, penalty;
  int sign = 0;  ///< +1: all lanes upwind to the left, -1: to the right, 0: mixed
};

/// Weights where the speed on the face lies within mean +- deviation (deviation >= 0).
///
/// A speed that is zero on the face's edge (v = 0 between two cells) keeps its sign: the bound is lowered by
/// more than round-off, so that all ranks decide alike.
QUINTET_INLINE inline Weights face_weights(Flux flux, P mean, P deviation) {
  const P zero{}, one = zero + 1.0, half = zero + 0.5;
  const P magnitude = mean < zero ? -mean : mean;
  if (flux == Flux::upwind) {
    const P bound = deviation * (1 - 1e-12);
    const P left = mean >= bound ? one : (mean <= -bound ? zero : half);
    const P penalty = magnitude >= bound ? zero : half * (magnitude + deviation);
    const double sum = horizontal_sum<double>(left);
    const int sign = sum == lanes ? 1 : sum == 0 ? -1 : 0;
    return {left, one - left, penalty, sign};
  }
  return {half, half, flux == Flux::central ? zero : half * (magnitude + deviation), 0};
}

/// Acceleration of one configuration cell: products with A and B as matrices, shared by all velocity cells.
template <class Tr>
struct Force {
  static constexpr int n = Tr::n_full, vdim = Tr::vdim;
  bool magnetic = false;
  double a[vdim][n * n];        ///< (2/dv_d) int w_l A_d w_m, row l; dv: the mean
  double b[vdim][vdim][n * n];  ///< d, j: (2/dv_d) times the factor of v_j in (v x B)_d
  double a_mode[vdim][n];       ///< (2/dv_d) A_d, and so on: for bounds
  double b_mode[vdim][vdim][n];
  double b_spread[vdim][vdim];  ///< (mean dv_j)/2 max |factor of v_j|
};

/// (v x B)_d = sum_j sign v_j B_k: the k and sign for d, j.
struct CrossTerm {
  int k = 0;
  double sign = 0;
};
[[nodiscard]] constexpr CrossTerm cross_term(int d, int j) {
  if ((d + 1) % 3 == j) return {(d + 2) % 3, 1};   // v_{d+1} B_{d+2}
  if ((d + 2) % 3 == j) return {(d + 1) % 3, -1};  // - v_{d+2} B_{d+1}
  return {};
}

/// `modes`: A_x, A_y, A_z, B_x, B_y, B_z, each [n_full].
template <class Tr>
void make_force(const double* modes, const double* rdv, const double* half_dv, Force<Tr>& force) {
  constexpr int n = Tr::n_full;
  const auto matrix = [](const double* mode, double* out) {
    for (int l = 0; l < n; ++l)
      for (int m = 0; m < n; ++m) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += Tr::triple.c[l][m][k] * mode[k];
        out[l * n + m] = sum;
      }
  };
  force.magnetic = std::any_of(modes + 3 * n, modes + 6 * n, [](double b) { return b != 0; });
  for (int d = 0; d < Tr::vdim; ++d) {
    for (int m = 0; m < n; ++m) force.a_mode[d][m] = rdv[d] * modes[d * n + m];
    matrix(force.a_mode[d], force.a[d]);
    if (!force.magnetic) continue;
    for (int j = 0; j < Tr::vdim; ++j) {
      if (j == d) continue;
      const CrossTerm term = cross_term(d, j);
      double greatest = 0;
      for (int m = 0; m < n; ++m) {
        force.b_mode[d][j][m] = rdv[d] * term.sign * modes[(3 + term.k) * n + m];
        greatest += std::abs(force.b_mode[d][j][m]) * Tr::triple.greatest[m];
      }
      force.b_spread[d][j] = half_dv[j] * greatest;
      matrix(force.b_mode[d][j], force.b[d][j]);
    }
  }
}

/// Data of one pack of velocity cells for the kernels.
template <class Tr>
struct PackContext {
  P v[Tr::vdim];         ///< centres
  P half_dv[Tr::vdim];   ///< half widths
  P relative[Tr::vdim];  ///< width over mean width: 1 where cells are equal, as the next two
  P stretch[Tr::vdim];   ///< its inverse
  P volume;              ///< prod of `relative`
  double row_volume;     ///< the same without the last direction
  const double* rdx;
  Flux flux;
};

// --- products in velocity

/// v_i q = v q_g + dv/2 (X_k q_{g-1} + X_{k+1} q_{g+1}) for group g: M coefficients, of which q_g has N.
template <class Place, int N, int M = N>
QUINTET_INLINE inline Modes<M> times_velocity(int i, int g, P v, P half_dv, const double* q) {
  const auto& x = legendre_tables.shift;
  const int k = Place::degree(i, g);
  auto h = resized<M>(v * load_modes<N>(q + Place::offset(g)));
  add_group<Place>(h, half_dv * x[k], q, Place::below(i, g));
  if (const int above = Place::above(i, g); above >= 0)  // else x may end before k + 1
    add_group<Place>(h, half_dv * x[k + 1], q, above);
  return h;
}

/// Ask for group g, of n coefficients, of a pack of cells that will be needed (null: of none).
///
/// A sweep goes through five arrays at a time, more than a processor foresees. A few lines are asked for
/// between the products of each group: as many at once as a pack has would wait for each other. Two packs of
/// five arrays beside the work on the stack fill the first cache from some 20 modes on: larger ones are
/// fetched into the second.
template <class Tr, class N>
QUINTET_INLINE inline void fetch_group(const double* pack, int g, N) {
  if (pack == nullptr) return;
  constexpr int locality = Tr::n_modes > 20 ? 2 : 3;
  repeat<N::value>([&](auto a) QUINTET_INLINE {
    __builtin_prefetch(pack + OnCell<Tr>::offset(g) + a * lanes, 0, locality);
  });
}

// --- streaming, -v_i df/dx_i

/// df += (2/dx_i) int d(w)/dx_i v_i f; meanwhile `next` is fetched.
template <class Tr, int I>
QUINTET_INLINE inline void streaming_volume(const PackContext<Tr>& c, const double* f, double* df,
                                            const double* next) {
  const P v = c.v[I] * c.rdx[I], half_dv = c.half_dv[I] * c.rdx[I];
  for_groups<OnCell<Tr>>([&](auto g, auto n) QUINTET_INLINE {
    fetch_group<Tr>(next, g, n);
    const auto h = times_velocity<OnCell<Tr>, n>(I, g, v, half_dv, f);
    double* const out = df + OnCell<Tr>::offset(g);
    repeat<Tr::n_conf_face_full>([&](auto fa) QUINTET_INLINE {
      // Modes of degree 0, 1, ... in x_i, all else alike.
      constexpr auto& ladder = Tr::conf_faces.ladder[I][fa];
      repeat<Tr::order>([&](auto k1) QUINTET_INLINE {
        constexpr int k = k1 + 1, a = ladder[k];
        if constexpr (a >= 0 && a < n.value) {
          P sum = load_mode(out, a);
          repeat<(k + 1) / 2>([&](auto half) QUINTET_INLINE {
            constexpr int l = k - 1 - 2 * half;
            sum += legendre_tables.derivative[k][l] * h[ladder[l]];
          });
          store_mode(out, a, sum);
        }
      });
    });
  });
}

/// phi_k(Side) of a face at +1 (Side 1) or -1.
template <int Side>
[[nodiscard]] constexpr double end_value(int k) {
  return (Side < 0 && k % 2 == 1 ? -1 : 1) * legendre_tables.end[k];
}

/// Trace at x_i = +1 (Side 1) or -1 of a cell's f on the configuration face.
template <class Tr, int I, int Side>
QUINTET_INLINE inline void conf_trace(const double* f, double* trace) {
  for_groups<OnCell<Tr>>([&](auto g, auto n) QUINTET_INLINE {
    const double* in = f + OnCell<Tr>::offset(g);
    double* const out = trace + OnConfFace<Tr>::offset(g);
    repeat<Tr::n_conf_face_full>([&](auto fa) QUINTET_INLINE {
      constexpr auto& ladder = Tr::conf_faces.ladder[I][fa];
      if constexpr (ladder[0] < n.value) {
        P sum = end_value<Side>(0) * load_mode(in, ladder[0]);
        repeat<Tr::order>([&](auto k1) QUINTET_INLINE {
          constexpr int k = k1 + 1, a = ladder[k];
          constexpr double end = end_value<Side>(k);
          if constexpr (a >= 0 && a < n.value) sum += end * load_mode(in, a);
        });
        store_mode(out, fa, sum);
      }
    });
  });
}

/// flux = (2/dx_i) (P[v_i g] - jump) on a configuration face, added to df at Side +1 (leaving) or -1
/// (entering).
///
/// g: face coefficients; jump = penalty (f_R - f_L) (null: nothing).
template <class Tr, int I, int Side>
QUINTET_INLINE inline void streaming_lift(const PackContext<Tr>& c, const double* g_face, const double* jump,
                                          double* df) {
  using Face = OnConfFace<Tr>;
  const P v = c.v[I] * c.rdx[I], half_dv = c.half_dv[I] * c.rdx[I];
  for_groups<OnCell<Tr>>([&](auto g, auto n_cell) QUINTET_INLINE {
    constexpr int n = n_cell.value == Tr::n_full ? Face::n_full : Face::n_lin;
    auto flux = times_velocity<Face, n>(I, g, v, half_dv, g_face);
    if (jump != nullptr) flux -= c.rdx[I] * load_modes<n>(jump + Face::offset(g));
    double* const out = df + OnCell<Tr>::offset(g);
    repeat<n>([&](auto fa) QUINTET_INLINE {
      repeat<Tr::order + 1>([&](auto k) QUINTET_INLINE {
        constexpr int a = Tr::conf_faces.ladder[I][fa][k];
        constexpr double end = -Side * end_value<Side>(k);
        if constexpr (a >= 0 && a < n_cell.value) store_mode(out, a, load_mode(out, a) + end * flux[fa]);
      });
    });
  });
}

/// int over configuration faces and velocity cells of the flux in direction i, times 1 (M0), v (M1) and v.v
/// (M2); to be scaled by the measure of the constants.
template <class Tr>
struct FaceOutflow {
  P m0{}, m1[Tr::vdim]{}, m2{};

  void add(const PackContext<Tr>& c, int i, const double* g_face, const double* jump) {
    const auto flux = [&](int g) {
      const auto h = times_velocity<OnConfFace<Tr>, 1>(i, g, c.v[i], c.half_dv[i], g_face);
      return c.volume * (h[0] - load_mode(jump + OnConfFace<Tr>::offset(g), 0));
    };
    const P zeroth = flux(0);
    m0 += zeroth;
    for (int d = 0; d < Tr::vdim; ++d) {
      // int xi phi_1 and int xi^2 phi_2 relative to int phi_0
      const P h = c.half_dv[d];
      const double first = constant_sqrt(1.0 / 3), second = constant_sqrt(5) * 2 / 15;
      const int up = Tr::neighbours.up[d][0];
      const P slope = h * first * flux(up);  // int (v - centre) flux
      m1[d] += c.v[d] * zeroth + slope;
      m2 += (c.v[d] * c.v[d] + h * h / 3) * zeroth + 2.0 * c.v[d] * slope;
      if (const int up2 = Tr::neighbours.up[d][up]; up2 >= 0) m2 += h * h * second * flux(up2);
    }
  }
};

// --- acceleration, -a_d df/dv_d

/// h (+)= matrix q: rows < R, columns < C of an n_full x n_full matrix.
template <class Tr, bool Add, int R, int C>
QUINTET_INLINE inline void multiply_conf(const double* matrix, const Modes<C>& q, Modes<R>& h) {
  repeat<R>([&](auto r) QUINTET_INLINE {
    const double* const row = matrix + r * Tr::n_full;
    P sum = Add ? h[r] + row[0] * q[0] : row[0] * q[0];
    repeat<C - 1>([&](auto c) QUINTET_INLINE { sum += row[c + 1] * q[c + 1]; });
    h[r] = sum;
  });
}

/// (2/dv_d) P[a_d q] = A_d q + sum_{j != d} B_dj (v_j q) for group g: R coefficients, of which q_g has N.
template <class Place, int D, int R, int N, class Tr>
QUINTET_INLINE inline Modes<R> times_force(const PackContext<Tr>& c, const Force<Tr>& force, int g,
                                           const double* q) {
  constexpr int n_full = Tr::n_full;
  const auto is_full = [](int u) QUINTET_INLINE { return u >= 0 && u < Place::n_full_groups; };
  Modes<R> h;
  multiply_conf<Tr, false>(force.a[D], load_modes<N>(q + Place::offset(g)), h);
  if (!force.magnetic) return h;
  repeat<Tr::vdim>([&](auto j) QUINTET_INLINE {
    if constexpr (j.value != D) {
      // v_j q is not cut off to the basis before the product with B(x): its configuration modes may come back
      // in.
      const auto vq = times_velocity<Place, N, n_full>(j, g, c.v[j], c.half_dv[j], q);
      if (N == n_full || is_full(Place::below(j, g)) || is_full(Place::above(j, g)))
        multiply_conf<Tr, true>(force.b[D][j], vq, h);
      else
        multiply_conf<Tr, true>(force.b[D][j], resized<N>(vq), h);
    }
  });
  return h;
}

/// df += (2/dv_d) int d(w)/dv_d a_d f; meanwhile `next` is fetched.
template <class Tr, int D>
QUINTET_INLINE inline void acceleration_volume(const PackContext<Tr>& c, const Force<Tr>& force,
                                               const double* f, double* df, const double* next) {
  using Cell = OnCell<Tr>;
  for_groups<Cell>([&](auto g, auto n) QUINTET_INLINE {
    fetch_group<Tr>(next, g, n);
    const int k = Cell::degree(D, g), up = Cell::above(D, g);
    if (up < 0) return;
    with_size<Cell, Tr::n_full>(up, [&](auto rows) QUINTET_INLINE {
      const auto h = times_force<Cell, D, rows, n>(c, force, g, f);
      add_to_group<Cell>(df, up, legendre_tables.derivative[k + 1][k] * c.stretch[D], h);
      if constexpr (Tr::velocity_order >= 3) {  // phi_3' contains phi_0 too
        const int up2 = Cell::above(D, up), up3 = up2 < 0 ? -1 : Cell::above(D, up2);
        if (up3 >= 0) add_to_group<Cell>(df, up3, legendre_tables.derivative[k + 3][k] * c.stretch[D], h);
      }
    });
  });
}

/// Trace at v_d = +1 or -1 of a cell's f on the velocity face.
template <class Tr, int D, int Side>
QUINTET_INLINE inline void velocity_trace(const double* f, double* trace) {
  using Face = OnVelocityFace<Tr, D>;
  for_groups<Face>([&](auto i, auto n) QUINTET_INLINE {
    Modes<n.value> t = end_value<Side>(0) * load_modes<n>(f + OnCell<Tr>::offset(Tr::faces.group[D][i]));
    repeat<Tr::velocity_order>([&](auto k1) QUINTET_INLINE {
      constexpr int k = k1 + 1;
      add_group<OnCell<Tr>>(t, end_value<Side>(k), f, Tr::faces.ladder[D][i][k]);
    });
    store_modes(trace + Face::offset(i), t);
  });
}

/// Bounds of a_d on the face of direction D: mean and deviation (scaled by 2/dv_d), and weights from them.
template <class Tr, int D>
QUINTET_INLINE inline Weights force_weights(const PackContext<Tr>& c, const Force<Tr>& force) {
  P mean{}, deviation{};
  repeat<Tr::n_full>([&](auto m) QUINTET_INLINE {
    P value = broadcast<double>(force.a_mode[D][m]);
    if (force.magnetic)
      repeat<Tr::vdim>([&](auto j) QUINTET_INLINE {
        if constexpr (j.value != D) value += c.v[j] * force.b_mode[D][j][m];
      });
    value = value * Tr::triple.greatest[m];
    if constexpr (m.value == 0)
      mean = value;
    else
      deviation += value < P{} ? -value : value;
  });
  if (force.magnetic)
    repeat<Tr::vdim>([&](auto j) QUINTET_INLINE {
      if constexpr (j.value != D) deviation += c.relative[j] * force.b_spread[D][j];
    });
  return face_weights(c.flux, mean, deviation);
}

/// flux = (2/dv_d) P[a_d g] - jump on the velocity face; jump = penalty (f_R - f_L) (null: none).
template <class Tr, int D>
QUINTET_INLINE inline void acceleration_flux(const PackContext<Tr>& c, const Force<Tr>& force,
                                             const double* g_face, const double* jump, double* flux) {
  using Face = OnVelocityFace<Tr, D>;
  for_groups<Face>([&](auto i, auto n) QUINTET_INLINE {
    auto h = times_force<Face, D, n, n>(c, force, i, g_face);
    if (jump != nullptr) h -= load_modes<n>(jump + Face::offset(i));
    store_modes(flux + Face::offset(i), h);
  });
}

/// df += phi_k(-1) lower - phi_k(+1) upper: what enters through the lower and leaves through the upper face;
/// a flux is one number for both cells, which each takes by its own width.
template <class Tr, int D>
QUINTET_INLINE inline void velocity_lift(const PackContext<Tr>& c, const double* lower, const double* upper,
                                         double* df) {
  using Face = OnVelocityFace<Tr, D>;
  for_groups<Face>([&](auto i, auto n) QUINTET_INLINE {
    const auto low = load_modes<n>(lower + Face::offset(i)), high = load_modes<n>(upper + Face::offset(i));
    const auto even = c.stretch[D] * (low - high);  // phi_k(-1) = (-1)^k phi_k(1)
    const auto odd = -c.stretch[D] * (low + high);
    repeat<Tr::velocity_order + 1>([&](auto k) QUINTET_INLINE {
      add_to_group<OnCell<Tr>>(df, Tr::faces.ladder[D][i][k], legendre_tables.end[k],
                               k.value % 2 == 0 ? even : odd);
    });
  });
}

/// to[m] = left w_l + right w_r and jump[m] = penalty (right - left); either side may be null (zero).
template <class Tr, int N>
QUINTET_INLINE inline void blend(const Weights& w, const double* left, const double* right, double* to,
                                 double* jump) {
  for_modes<Tr, N>([&](auto m) QUINTET_INLINE {
    const P l = left ? load_mode(left, m) : P{}, r = right ? load_mode(right, m) : P{};
    store_mode(to, m, w.left * l + w.right * r);
    store_mode(jump, m, w.penalty * (r - l));
  });
}

/// Sums for M0 and M1 of one configuration cell, over packs: [1 + vdim][n_full].
template <class Tr>
struct MomentSums {
  P sum[1 + Tr::vdim][Tr::n_full]{};

  QUINTET_INLINE inline void add(const PackContext<Tr>& c, const double* f) {
    repeat<Tr::n_full>([&](auto a) QUINTET_INLINE {
      const P value = c.volume * load_mode(f, a);
      sum[0][a] += value;
      repeat<Tr::vdim>([&](auto d) QUINTET_INLINE {
        sum[1 + d][a] += c.v[d] * value;
        if constexpr (Tr::velocity_order >= 1) {
          constexpr int up = Tr::neighbours.up[d][0];
          sum[1 + d][a] +=
              c.volume * c.half_dv[d] * legendre_tables.shift[1] * load_mode(f + Tr::offset(up) * lanes, a);
        }
      });
    });
  }
};

}  // namespace quintet::kinetics
