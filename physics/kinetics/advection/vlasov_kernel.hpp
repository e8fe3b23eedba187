#pragma once

#include <algorithm>
#include <cmath>

#include "physics/kernels/pack.hpp"
#include "physics/kinetics/advection/flux.hpp"
#include "physics/kinetics/basis/phase_traits.hpp"

/// The formulas of the collisionless operator for `lanes` velocity cells at once.
///
/// Everything is scaled by 2/dz of the direction it belongs to, so that the formulas are those of [-1, 1];
/// along v by the mean dv, which `stretch` corrects where a cell takes it. q[a] below is a configuration mode
/// of a velocity group; X_{k,k-1} = int xi phi_k phi_{k-1} (legendre_tables.shift).
namespace quintet::kinetics {

using P = Pack<double>;
inline constexpr int lanes = pack_width<double>;

[[gnu::always_inline]] inline P load_mode(const double* f, int mode) {
  return load<double>(f + mode * lanes);
}
[[gnu::always_inline]] inline void store_mode(double* f, int mode, P value) {
  store<double>(f + mode * lanes, value);
}

/// F = P[a (w_l f_L + w_r f_R)] - c (f_R - f_L), lane by lane.
struct Weights {
  P left, right, penalty;
  int sign = 0;  ///< +1: all lanes upwind to the left, -1: to the right, 0: mixed
};

/// Weights where the speed on the face lies within mean +- deviation (deviation >= 0).
///
/// A speed that is zero on the face's edge (v = 0 between two cells) keeps its sign: the bound is lowered by
/// more than round-off, so that all ranks decide alike.
[[gnu::always_inline]] inline Weights face_weights(Flux flux, P mean, P deviation) {
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

/// What the kernels know of one pack of velocity cells.
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

/// h[a] = v q_g[a] + dv/2 (X q_{g-1}[a] + X q_{g+1}[a]) for a < N: coefficients of v_i q for group g.
template <class Tr, int N>
[[gnu::always_inline]] inline void times_velocity(int i, int g, P v, P half_dv, const double* q, P* h) {
  const double* own = q + Tr::offset(g) * lanes;
  repeat<N>([&](auto a) __attribute__((always_inline)) { h[a] = v * load_mode(own, a); });
  const int k = Tr::groups.modes[g][i];
  const auto add = [&](int u, double x) __attribute__((always_inline)) {
    const double* other = q + Tr::offset(u) * lanes;
    const P scale = half_dv * x;
    if (N == Tr::n_lin || u < Tr::n_full_groups)
      repeat<N>([&](auto a) __attribute__((always_inline)) { h[a] += scale * load_mode(other, a); });
    else
      repeat<std::min(N, Tr::n_lin)>([&](auto a) __attribute__((always_inline)) {
        h[a] += scale * load_mode(other, a);
      });
  };
  if (const int u = Tr::neighbours.down[i][g]; u >= 0) add(u, legendre_tables.shift[k]);
  if (const int u = Tr::neighbours.up[i][g]; u >= 0) add(u, legendre_tables.shift[k + 1]);
}

// --- streaming, -v_i df/dx_i

/// df += (2/dx_i) int d(w)/dx_i v_i f.
template <class Tr, int I>
[[gnu::always_inline]] inline void streaming_volume(const PackContext<Tr>& c, const double* f, double* df) {
  const P v = c.v[I] * c.rdx[I];
  const P half_dv = c.half_dv[I] * c.rdx[I];
  for_classes<Tr::unrolled, Tr::n_groups, Tr::n_full_groups, Tr::n_full, Tr::n_lin>([&](
      auto g, auto n) __attribute__((always_inline)) {
    P h[n.value];
    times_velocity<Tr, n>(I, g, v, half_dv, f, h);
    double* out = df + Tr::offset(g) * lanes;
    repeat<Tr::n_conf_face_full>([&](auto fa) __attribute__((always_inline)) {
      repeat<Tr::order>([&](auto k1) __attribute__((always_inline)) {
        constexpr int k = k1 + 1;
        constexpr int a = Tr::conf_faces.ladder[I][fa][k];
        if constexpr (a >= 0 && a < n.value) {
          P sum = load_mode(out, a);
          repeat<(k + 1) / 2>([&](auto half) __attribute__((always_inline)) {
            constexpr int l = k - 1 - 2 * half;
            sum += legendre_tables.derivative[k][l] * h[Tr::conf_faces.ladder[I][fa][l]];
          });
          store_mode(out, a, sum);
        }
      });
    });
  });
}

/// Trace at x_i = +1 (Side 1) or -1 of a cell's f on the configuration face.
template <class Tr, int I, int Side>
[[gnu::always_inline]] inline void conf_trace(const double* f, double* trace) {
  for_classes<Tr::unrolled, Tr::n_groups, Tr::n_full_groups, Tr::n_full, Tr::n_lin>([&](
      auto g, auto n) __attribute__((always_inline)) {
    const double* in = f + Tr::offset(g) * lanes;
    double* out = trace + Tr::conf_face_offset(g) * lanes;
    repeat<Tr::n_conf_face_full>([&](auto fa) __attribute__((always_inline)) {
      if constexpr (Tr::conf_faces.ladder[I][fa][0] < n.value) {
        P sum = legendre_tables.end[0] * load_mode(in, Tr::conf_faces.ladder[I][fa][0]);
        repeat<Tr::order>([&](auto k1) __attribute__((always_inline)) {
          constexpr int k = k1 + 1;
          constexpr int a = Tr::conf_faces.ladder[I][fa][k];
          if constexpr (a >= 0 && a < n.value)
            sum += (Side < 0 && k % 2 == 1 ? -1 : 1) * legendre_tables.end[k] * load_mode(in, a);
        });
        store_mode(out, fa, sum);
      }
    });
  });
}

/// h[a] = v q_g[a] + dv/2 (X q_{g-1}[a] + X q_{g+1}[a]): coefficients of v_i q on a configuration face, N
/// modes of x.
template <class Tr, int N>
[[gnu::always_inline]] inline void times_velocity_on_face(int i, int g, P v, P half_dv, const double* q,
                                                          P* h) {
  const double* own = q + Tr::conf_face_offset(g) * lanes;
  repeat<N>([&](auto a) __attribute__((always_inline)) { h[a] = v * load_mode(own, a); });
  const int degree = Tr::groups.modes[g][i];
  const auto add = [&](int u, double x) __attribute__((always_inline)) {
    const double* other = q + Tr::conf_face_offset(u) * lanes;
    const P scale = half_dv * x;
    if (N == Tr::n_conf_face_lin || u < Tr::n_full_groups)
      repeat<N>([&](auto a) __attribute__((always_inline)) { h[a] += scale * load_mode(other, a); });
    else
      repeat<std::min(N, Tr::n_conf_face_lin)>([&](auto a) __attribute__((always_inline)) {
        h[a] += scale * load_mode(other, a);
      });
  };
  if (const int u = Tr::neighbours.down[i][g]; u >= 0) add(u, legendre_tables.shift[degree]);
  if (const int u = Tr::neighbours.up[i][g]; u >= 0) add(u, legendre_tables.shift[degree + 1]);
}

/// flux = (2/dx_i) (P[v_i g] - jump) on a configuration face, added to df at Side +1 (leaving) or -1
/// (entering).
///
/// g: face coefficients; jump = penalty (f_R - f_L) (null: nothing).
template <class Tr, int I, int Side>
[[gnu::always_inline]] inline void streaming_lift(const PackContext<Tr>& c, const double* g_face,
                                                  const double* jump, double* df) {
  const P v = c.v[I] * c.rdx[I];
  const P half_dv = c.half_dv[I] * c.rdx[I];
  for_classes<Tr::unrolled, Tr::n_groups, Tr::n_full_groups, Tr::n_full, Tr::n_lin>([&](
      auto g, auto n_cell) __attribute__((always_inline)) {
    constexpr int n = n_cell.value == Tr::n_full ? Tr::n_conf_face_full : Tr::n_conf_face_lin;
    P h[n];
    times_velocity_on_face<Tr, n>(I, g, v, half_dv, g_face, h);
    if (jump != nullptr)
      repeat<n>([&](auto a) __attribute__((always_inline)) {
        h[a] -= c.rdx[I] * load_mode(jump + Tr::conf_face_offset(g) * lanes, a);
      });
    double* out = df + Tr::offset(g) * lanes;
    repeat<n>([&](auto fa) __attribute__((always_inline)) {
      repeat<Tr::order + 1>([&](auto k) __attribute__((always_inline)) {
        constexpr int a = Tr::conf_faces.ladder[I][fa][k];
        constexpr double end = (Side > 0 ? -1 : (k.value % 2 == 1 ? -1 : 1)) * legendre_tables.end[k];
        if constexpr (a >= 0 && a < n_cell.value) store_mode(out, a, load_mode(out, a) + end * h[fa]);
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
      P h[1];
      times_velocity_on_face<Tr, 1>(i, g, c.v[i], c.half_dv[i], g_face, h);
      return c.volume * (h[0] - load_mode(jump + Tr::conf_face_offset(g) * lanes, 0));
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

/// h[r] (+)= sum_c matrix[r][c] q[c], rows < R, columns < C of an n_full x n_full matrix.
template <class Tr, int R, int C, bool Add>
[[gnu::always_inline]] inline void multiply_conf(const double* matrix, const P* q, P* h) {
  repeat<R>([&](auto r) __attribute__((always_inline)) {
    P sum = Add ? h[r] + matrix[r * Tr::n_full] * q[0] : matrix[r * Tr::n_full] * q[0];
    repeat<C - 1>([&](auto c)
                      __attribute__((always_inline)) { sum += matrix[r * Tr::n_full + c + 1] * q[c + 1]; });
    h[r] = sum;
  });
}

/// h = (2/dv_d) P[a_d q] for group g of q, R configuration modes of the result: A q + sum_j B_j (v_j q).
///
/// `Face`: q lives on the face of direction D (its groups are numbered by the face).
template <class Tr, int D, bool Face, int R, int N>
[[gnu::always_inline]] inline void times_force(const PackContext<Tr>& c, const Force<Tr>& force, int g,
                                               const double* q, P* h) {
  constexpr int n_classes_full = Face ? Tr::n_full_face_groups : Tr::n_full_groups;
  const auto offset = [](int u) __attribute__((always_inline)) {
    return (Face ? Tr::face_offset(u) : Tr::offset(u)) * lanes;
  };
  P own[N];
  repeat<N>([&](auto a) __attribute__((always_inline)) { own[a] = load_mode(q + offset(g), a); });
  multiply_conf<Tr, R, N, false>(force.a[D], own, h);
  if (!force.magnetic) return;
  repeat<Tr::vdim>([&](auto j) __attribute__((always_inline)) {
    if constexpr (j.value != D) {
      // v_j q is not cut off to the basis before the product with B(x): its configuration modes may come back
      // in.
      P vq[Tr::n_full];
      repeat<N>([&](auto a) __attribute__((always_inline)) { vq[a] = c.v[j] * own[a]; });
      repeat<Tr::n_full - N>([&](auto a) __attribute__((always_inline)) { vq[N + a] = P{}; });
      bool wide = N == Tr::n_full;
      const int degree = Face ? Tr::groups.modes[Tr::faces.group[D][g]][j] : Tr::groups.modes[g][j];
      const auto add = [&](int u, double x) __attribute__((always_inline)) {
        const P scale = c.half_dv[j] * x;
        const double* other = q + offset(u);
        if (Tr::n_full == Tr::n_lin || u < n_classes_full) {
          wide = true;
          repeat<Tr::n_full>([&](auto a)
                                 __attribute__((always_inline)) { vq[a] += scale * load_mode(other, a); });
        } else {
          repeat<Tr::n_lin>([&](auto a)
                                __attribute__((always_inline)) { vq[a] += scale * load_mode(other, a); });
        }
      };
      const int down = Face ? Tr::faces.down[D][j][g] : Tr::neighbours.down[j][g];
      const int up = Face ? Tr::faces.up[D][j][g] : Tr::neighbours.up[j][g];
      if (down >= 0) add(down, legendre_tables.shift[degree]);
      if (up >= 0) add(up, legendre_tables.shift[degree + 1]);
      if (wide)
        multiply_conf<Tr, R, Tr::n_full, true>(force.b[D][j], vq, h);
      else
        multiply_conf<Tr, R, N, true>(force.b[D][j], vq, h);
    }
  });
}

/// df += (2/dv_d) int d(w)/dv_d a_d f.
template <class Tr, int D>
[[gnu::always_inline]] inline void acceleration_volume(const PackContext<Tr>& c, const Force<Tr>& force,
                                                       const double* f, double* df) {
  for_classes<Tr::unrolled, Tr::n_groups, Tr::n_full_groups, Tr::n_full, Tr::n_lin>([&](
      auto g, auto n) __attribute__((always_inline)) {
    const int up = Tr::neighbours.up[D][g];
    if (up < 0) return;
    const int k = Tr::groups.modes[g][D];
    const auto derive = [&](auto rows) __attribute__((always_inline)) {
      P h[rows.value];
      times_force<Tr, D, false, rows, n>(c, force, g, f, h);
      double* out = df + Tr::offset(up) * lanes;
      const P weight = legendre_tables.derivative[k + 1][k] * c.stretch[D];
      repeat<rows>([&](auto r) __attribute__((always_inline)) {
        store_mode(out, r, load_mode(out, r) + weight * h[r]);
      });
      if constexpr (Tr::velocity_order >= 3) {  // phi_3' contains phi_0 too
        const int up2 = Tr::neighbours.up[D][up];
        const int up3 = up2 < 0 ? -1 : Tr::neighbours.up[D][up2];
        if (up3 < 0) return;
        double* out3 = df + Tr::offset(up3) * lanes;
        const P weight3 = legendre_tables.derivative[k + 3][k] * c.stretch[D];
        const int n3 = std::min<int>(rows, Tr::n_conf(up3));
        repeat<rows>([&](auto r) __attribute__((always_inline)) {
          if (r < n3) store_mode(out3, r, load_mode(out3, r) + weight3 * h[r]);
        });
      }
    };
    if (Tr::n_full == Tr::n_lin || up < Tr::n_full_groups)
      derive(Int<Tr::n_full>{});
    else
      derive(Int<Tr::n_lin>{});
  });
}

/// Trace at v_d = +1 or -1 of a cell's f on the velocity face.
template <class Tr, int D, int Side>
[[gnu::always_inline]] inline void velocity_trace(const double* f, double* trace) {
  for_classes<Tr::unrolled, Tr::n_face_groups, Tr::n_full_face_groups, Tr::n_full, Tr::n_lin>([&](
      auto i, auto n) __attribute__((always_inline)) {
    P t[n.value];
    const double* own = f + Tr::offset(Tr::faces.group[D][i]) * lanes;
    repeat<n>([&](auto a)
                  __attribute__((always_inline)) { t[a] = legendre_tables.end[0] * load_mode(own, a); });
    repeat<Tr::velocity_order>([&](auto k1) __attribute__((always_inline)) {
      constexpr int k = k1 + 1;
      const int u = Tr::faces.ladder[D][i][k];
      if (u < 0) return;
      constexpr double end = (Side < 0 && k % 2 == 1 ? -1 : 1) * legendre_tables.end[k];
      const double* other = f + Tr::offset(u) * lanes;
      if (n == Tr::n_lin || u < Tr::n_full_groups)
        repeat<n>([&](auto a) __attribute__((always_inline)) { t[a] += end * load_mode(other, a); });
      else
        repeat<std::min(n.value, Tr::n_lin)>([&](auto a) __attribute__((always_inline)) {
          t[a] += end * load_mode(other, a);
        });
    });
    repeat<n>([&](auto a) __attribute__((always_inline)) {
      store_mode(trace + Tr::face_offset(i) * lanes, a, t[a]);
    });
  });
}

/// Bounds of a_d on the face of direction D: mean and deviation (scaled by 2/dv_d), and weights from them.
template <class Tr, int D>
[[gnu::always_inline]] inline Weights force_weights(const PackContext<Tr>& c, const Force<Tr>& force) {
  P mean{}, deviation{};
  repeat<Tr::n_full>([&](auto m) __attribute__((always_inline)) {
    P value = P{} + force.a_mode[D][m];
    if (force.magnetic)
      repeat<Tr::vdim>([&](auto j) __attribute__((always_inline)) {
        if constexpr (j.value != D) value += c.v[j] * force.b_mode[D][j][m];
      });
    value = value * Tr::triple.greatest[m];
    if constexpr (m.value == 0)
      mean = value;
    else
      deviation += value < P{} ? -value : value;
  });
  if (force.magnetic)
    repeat<Tr::vdim>([&](auto j) __attribute__((always_inline)) {
      if constexpr (j.value != D) deviation += c.relative[j] * force.b_spread[D][j];
    });
  return face_weights(c.flux, mean, deviation);
}

/// flux[m] = (2/dv_d) P[a_d g] - jump on the velocity face; jump = penalty (f_R - f_L) (null: none).
template <class Tr, int D>
[[gnu::always_inline]] inline void acceleration_flux(const PackContext<Tr>& c, const Force<Tr>& force,
                                                     const double* g_face, const double* jump, double* flux) {
  for_classes<Tr::unrolled, Tr::n_face_groups, Tr::n_full_face_groups, Tr::n_full, Tr::n_lin>([&](
      auto i, auto n) __attribute__((always_inline)) {
    P h[n.value];
    times_force<Tr, D, true, n, n>(c, force, i, g_face, h);
    const int offset = Tr::face_offset(i) * lanes;
    if (jump != nullptr)
      repeat<n>([&](auto a) __attribute__((always_inline)) { h[a] -= load_mode(jump + offset, a); });
    repeat<n>([&](auto a) __attribute__((always_inline)) { store_mode(flux + offset, a, h[a]); });
  });
}

/// df += phi_k(-1) lower - phi_k(+1) upper: what enters through the lower and leaves through the upper face;
/// a flux is one number for both cells, which each takes by its own width.
template <class Tr, int D>
[[gnu::always_inline]] inline void velocity_lift(const PackContext<Tr>& c, const double* lower,
                                                 const double* upper, double* df) {
  for_classes<Tr::unrolled, Tr::n_face_groups, Tr::n_full_face_groups, Tr::n_full, Tr::n_lin>([&](
      auto i, auto n) __attribute__((always_inline)) {
    P even[n.value], odd[n.value];  // F_- - F_+ and -(F_- + F_+): phi_k(-1) = (-1)^k phi_k(1)
    const int offset = Tr::face_offset(i) * lanes;
    repeat<n>([&](auto a) __attribute__((always_inline)) {
      const P low = load_mode(lower + offset, a), high = load_mode(upper + offset, a);
      even[a] = c.stretch[D] * (low - high);
      odd[a] = -c.stretch[D] * (low + high);
    });
    repeat<Tr::velocity_order + 1>([&](auto k) __attribute__((always_inline)) {
      const int u = Tr::faces.ladder[D][i][k];
      if (u < 0) return;
      double* out = df + Tr::offset(u) * lanes;
      const auto add = [&](auto count) __attribute__((always_inline)) {
        repeat<count>([&](auto a) __attribute__((always_inline)) {
          store_mode(out, a,
                     load_mode(out, a) + legendre_tables.end[k] * (k.value % 2 == 0 ? even[a] : odd[a]));
        });
      };
      if (n == Tr::n_lin || u < Tr::n_full_groups)
        add(n);
      else
        add(Int<std::min(n.value, Tr::n_lin)>{});
    });
  });
}

/// to[m] = left w_l + right w_r and jump[m] = penalty (right - left); either side may be null (zero).
template <int N>
[[gnu::always_inline]] inline void blend(const Weights& w, const double* left, const double* right,
                                         double* to, double* jump) {
#pragma GCC unroll 4
  for (int m = 0; m < N; ++m) {
    const P l = left ? load_mode(left, m) : P{}, r = right ? load_mode(right, m) : P{};
    store_mode(to, m, w.left * l + w.right * r);
    store_mode(jump, m, w.penalty * (r - l));
  }
}

/// Sums for M0 and M1 of one configuration cell, over packs: [1 + vdim][n_full].
template <class Tr>
struct MomentSums {
  P sum[1 + Tr::vdim][Tr::n_full]{};

  [[gnu::always_inline]] inline void add(const PackContext<Tr>& c, const double* f) {
    repeat<Tr::n_full>([&](auto a) __attribute__((always_inline)) {
      const P value = c.volume * load_mode(f, a);
      sum[0][a] += value;
      repeat<Tr::vdim>([&](auto d) __attribute__((always_inline)) {
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
