#pragma once

#include <type_traits>
#include <utility>

#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/basis/legendre.hpp"
#include "physics/kinetics/basis/mode_list.hpp"

/// The structure of a phase-space basis as compile-time tables, for the kernels.
namespace quintet::kinetics {

/// Functions and lambdas of kernels that melt into their callers, whatever the compiler thinks of their size:
/// `template <...> QUINTET_INLINE inline void f()`, `[&](auto a) QUINTET_INLINE { ... }`; and the largest
/// basis unrolled over groups. Under sanitizers such functions take very long to compile: loops instead.
#ifdef QUINTET_KERNELS_AS_LOOPS
#define QUINTET_INLINE
inline constexpr int max_unrolled_modes = 0;
#else
#define QUINTET_INLINE __attribute__((always_inline))
inline constexpr int max_unrolled_modes = 48;
#endif

/// 1-D integrals of orthonormal Legendre polynomials up to max_degree, see legendre.hpp.
struct LegendreTables {
  static constexpr int n = max_degree + 1;
  double end[n]{};            ///< phi_k(+1); phi_k(-1) = (-1)^k phi_k(+1)
  double derivative[n][n]{};  ///< int phi_k' phi_l
  double shift[n]{};          ///< int xi phi_k phi_{k-1}
  double triple[n][n][n]{};   ///< int phi_k phi_l phi_m
};
[[nodiscard]] constexpr LegendreTables make_legendre_tables() {
  LegendreTables t;
  for (int k = 0; k < t.n; ++k) {
    t.end[k] = legendre_end(k, 1);
    if (k > 0) t.shift[k] = integral_shift(k, k - 1);
    for (int l = 0; l < t.n; ++l) {
      t.derivative[k][l] = integral_derivative(k, l);
      for (int m = 0; m < t.n; ++m) t.triple[k][l][m] = integral_triple(k, l, m);
    }
  }
  return t;
}
inline constexpr LegendreTables legendre_tables = make_legendre_tables();

/// Tables of the basis that PhaseBasis(CDim, VDim, Order, F) describes, in its order of modes.
///
/// group: velocity index; class of a group: "full" with n_full configuration modes, "lin" with the first
/// n_lin. velocity face in direction d: its functions are those groups with degree 0 in d, with the same
/// classes. configuration face in direction i: for each group those configuration modes with degree 0 in i.
template <int CDim, int VDim, int Order, Family F>
struct PhaseTraits {
  static constexpr int cdim = CDim, vdim = VDim, order = Order;
  static constexpr Family family = F;
  static constexpr int velocity_order = F == Family::hybrid ? 2 : Order;

  static constexpr ModeList conf =
      products(CDim, Order, F == Family::serendipity ? Order : any_superlinear_degree);
  static constexpr ModeList groups =
      products(VDim, velocity_order, F == Family::tensor ? any_superlinear_degree : velocity_order);
  static constexpr int n_full = conf.size;
  static constexpr int n_lin = 1 << CDim;
  static constexpr int n_groups = groups.size;

  static constexpr int count_full_groups(const ModeList& list) {
    int n = 0;
    for (int g = 0; g < list.size; ++g)
      if (F != Family::serendipity || superlinear_degree(list.modes[g]) == 0) ++n;
    return n;
  }
  static constexpr int n_full_groups = count_full_groups(groups);
  static constexpr int n_modes = n_full_groups * n_full + (n_groups - n_full_groups) * n_lin;
  [[nodiscard]] static constexpr int offset(int g) {
    return g <= n_full_groups ? g * n_full : n_full_groups * n_full + (g - n_full_groups) * n_lin;
  }
  [[nodiscard]] static constexpr int n_conf(int g) { return g < n_full_groups ? n_full : n_lin; }

  /// Group with degree one higher or lower in a direction, -1 if none.
  struct Neighbours {
    int up[VDim][n_groups + 1]{}, down[VDim][n_groups + 1]{};  // g++ 12 sees loops run one too far
  };
  static constexpr Neighbours make_neighbours() {
    Neighbours t;
    for (int d = 0; d < VDim; ++d)
      for (int g = 0; g < n_groups; ++g) {
        MultiIndex k = groups.modes[g];
        ++k[d];
        t.up[d][g] = groups.find(k);
        k[d] -= 2;
        t.down[d][g] = k[d] < 0 ? -1 : groups.find(k);
      }
    return t;
  }
  static constexpr Neighbours neighbours = make_neighbours();

  // --- velocity faces
  static constexpr ModeList face_groups_of_0() {
    ModeList list;
    for (int g = 0; g < n_groups; ++g)
      if (groups.modes[g][0] == 0) list.modes[list.size++] = groups.modes[g];
    return list;
  }
  static constexpr int n_face_groups = face_groups_of_0().size;
  static constexpr int n_full_face_groups = count_full_groups(face_groups_of_0());
  static constexpr int n_face_modes =
      n_full_face_groups * n_full + (n_face_groups - n_full_face_groups) * n_lin;
  [[nodiscard]] static constexpr int face_offset(int i) {
    return i <= n_full_face_groups ? i * n_full
                                   : n_full_face_groups * n_full + (i - n_full_face_groups) * n_lin;
  }
  struct Faces {
    int group[VDim][n_face_groups]{};                       ///< the group with degree 0
    int ladder[VDim][n_face_groups][velocity_order + 1]{};  ///< with degree k, -1 if none
    int up[VDim][VDim][n_face_groups]{};  ///< face group with one degree more in direction j
    int down[VDim][VDim][n_face_groups]{};
  };
  static constexpr Faces make_faces() {
    Faces t;
    for (int d = 0; d < VDim; ++d) {
      int number[n_groups]{};
      int n = 0;
      for (int g = 0; g < n_groups; ++g) {
        number[g] = groups.modes[g][d] == 0 ? n : -1;
        if (groups.modes[g][d] == 0) t.group[d][n++] = g;
      }
      for (int i = 0; i < n_face_groups; ++i) {
        const int g = t.group[d][i];
        for (int k = 0; k <= velocity_order; ++k) {
          MultiIndex mode = groups.modes[g];
          mode[d] = k;
          t.ladder[d][i][k] = groups.find(mode);
        }
        for (int j = 0; j < VDim; ++j) {
          const int u = neighbours.up[j][g], l = neighbours.down[j][g];
          t.up[d][j][i] = j == d || u < 0 ? -1 : number[u];
          t.down[d][j][i] = j == d || l < 0 ? -1 : number[l];
        }
      }
    }
    return t;
  }
  static constexpr Faces faces = make_faces();

  // --- configuration faces
  static constexpr int count_conf_face(int n) {
    int count = 0;
    for (int a = 0; a < n; ++a)
      if (conf.modes[a][0] == 0) ++count;
    return count;
  }
  static constexpr int n_conf_face_full = count_conf_face(n_full);
  static constexpr int n_conf_face_lin = count_conf_face(n_lin);
  static constexpr int n_conf_face_modes =
      n_full_groups * n_conf_face_full + (n_groups - n_full_groups) * n_conf_face_lin;
  [[nodiscard]] static constexpr int conf_face_offset(int g) {
    return g <= n_full_groups ? g * n_conf_face_full
                              : n_full_groups * n_conf_face_full + (g - n_full_groups) * n_conf_face_lin;
  }
  struct ConfFaces {
    int ladder[CDim][n_conf_face_full][Order + 1]{};  ///< configuration mode with degree k, -1 if none
  };
  static constexpr ConfFaces make_conf_faces() {
    ConfFaces t;
    for (int i = 0; i < CDim; ++i) {
      int n = 0;
      for (int a = 0; a < n_full; ++a) {
        if (conf.modes[a][i] != 0) continue;
        for (int k = 0; k <= Order; ++k) {
          MultiIndex mode = conf.modes[a];
          mode[i] = k;
          t.ladder[i][n][k] = conf.find(mode);
        }
        ++n;
      }
    }
    return t;
  }
  static constexpr ConfFaces conf_faces = make_conf_faces();

  // --- products of configuration functions
  struct Triple {
    double c[n_full][n_full][n_full]{};  ///< int w_l w_m w_n dx
    double greatest[n_full]{};           ///< max |w_n|
  };
  static constexpr Triple make_triple() {
    Triple t;
    for (int l = 0; l < n_full; ++l) {
      t.greatest[l] = 1;
      for (int d = 0; d < CDim; ++d) t.greatest[l] *= legendre_tables.end[conf.modes[l][d]];
      for (int m = 0; m < n_full; ++m)
        for (int n = 0; n < n_full; ++n) {
          double c = 1;
          for (int d = 0; d < CDim; ++d)
            c *= legendre_tables.triple[conf.modes[l][d]][conf.modes[m][d]][conf.modes[n][d]];
          t.c[l][m][n] = c;
        }
    }
    return t;
  }
  static constexpr Triple triple = make_triple();

  /// Small bases are unrolled over groups, so that a cell's modes stay in registers; of larger ones only the
  /// configuration modes are (code size, compile time).
  static constexpr bool unrolled = n_modes <= max_unrolled_modes;
};

/// An int that is part of the type.
template <int N>
using Int = std::integral_constant<int, N>;

/// f(Int<0>{}), ..., f(Int<N - 1>{}).
template <int N, class Body>
QUINTET_INLINE inline constexpr void repeat(Body&& body) {
  [&]<int... I>(std::integer_sequence<int, I...>) QUINTET_INLINE { (body(Int<I>{}), ...); }
  (std::make_integer_sequence<int, N>{});
}

/// body(g, n) for items 0 ... N - 1, of which the first NFull have n = Int<Full>, the rest Int<Lin>; unrolled
/// or as loops.
template <bool Unrolled, int N, int NFull, int Full, int Lin, class Body>
QUINTET_INLINE inline void for_classes(Body&& body) {
  if constexpr (Unrolled) {
    repeat<N>([&](auto g) QUINTET_INLINE {
      if constexpr (g.value < NFull)
        body(g, Int<Full>{});
      else
        body(g, Int<Lin>{});
    });
  } else {
    for (int g = 0; g < NFull; ++g) body(g, Int<Full>{});
    if constexpr (N > NFull)
      for (int g = NFull; g < N; ++g) body(g, Int<Lin>{});
  }
}

/// Call `visit.template operator()<Traits>()` for the traits of a basis; false for a basis without traits.
template <int CDim, int VDim, class Visit>
bool visit_orders(int order, Family family, Visit&& visit) {
  constexpr int greatest = CDim == 3 ? 1 : CDim + VDim <= 3 ? 3 : 2;
  bool found = false;
  if (family == Family::hybrid) {
    if constexpr (CDim < 3) {
      if (order == 1) {
        visit.template operator()<PhaseTraits<CDim, VDim, 1, Family::hybrid>>();
        found = true;
      }
    }
    return found;
  }
  if (order == 1) {  // serendipity and tensor are the same
    visit.template operator()<PhaseTraits<CDim, VDim, 1, Family::tensor>>();
    return true;
  }
  if constexpr (greatest >= 2)
    if (order == 2) {
      if (family == Family::tensor)
        visit.template operator()<PhaseTraits<CDim, VDim, 2, Family::tensor>>();
      else
        visit.template operator()<PhaseTraits<CDim, VDim, 2, Family::serendipity>>();
      return true;
    }
  if constexpr (greatest >= 3)
    if (order == 3) {
      if (family == Family::tensor)
        visit.template operator()<PhaseTraits<CDim, VDim, 3, Family::tensor>>();
      else
        visit.template operator()<PhaseTraits<CDim, VDim, 3, Family::serendipity>>();
      return true;
    }
  return false;
}

}  // namespace quintet::kinetics
