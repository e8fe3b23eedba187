#pragma once

#include "physics/kinetics/device/sweeps/vlasov_force_kernels.hpp"

namespace quintet::kinetics::device {

/// What owners look up. A product with v along a direction takes a group's partner, the group one degree
/// below or, of degree 0, above, and of degrees 1 and more the group above, where there is one:
///
///     (v f)_k = v f_k + dv/2 (shift_k f_{k-1} + shift_{k+1} f_{k+1})
template <class Tr>
struct OwnerTables {
  using Number = unsigned short;
  static constexpr int n_degrees = Tr::velocity_order + 1, n_groups = Tr::n_groups;
  static constexpr Number none = 0xffff;
  static constexpr int n_others = Tr::vdim > 1 ? Tr::vdim - 1 : 1;
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static constexpr int pair(int d, int j) {
    return j < d ? j : j - 1;
  }
  struct Neighbours {
    Number partner = none, above = none;  ///< by their first number
    Number shift = 1;                     ///< index of the partner's factor; that of `above` follows
    Number is_full = 1;                   ///< whether the partner is
  };
  Number offset[n_groups]{};                 ///< of a group's modes
  Neighbours along_x[Tr::cdim][n_groups]{};  ///< of a group along v_i, x_i being the direction
  Number input[Tr::vdim][n_groups]{};        ///< first column, over all degrees, of a group's input
  bool is_full_input[Tr::vdim][n_groups]{};  ///< whether that has all configuration modes
  /// Neighbours of the input in direction d along v_j, by pair(d, j).
  Neighbours along_v[Tr::vdim][n_others][n_groups]{};
  Number mode[Tr::vdim][n_degrees][Tr::n_face_modes]{};  ///< of a cell, by degree and column
  signed char degree[Tr::vdim][n_groups]{};              ///< of a group
  Number face[Tr::vdim][n_groups]{};                     ///< first column of a group's face
  double shift[max_degree + 2]{}, end[max_degree + 1]{};
};
// A thread owns a group of modes and reads its neighbours in the expansion: the partner is the one below, or
// the one above where there is none below.
template <class Tr>
[[nodiscard]] constexpr OwnerTables<Tr> make_owner_tables() {
  using Tables = OwnerTables<Tr>;
  using Number = typename Tables::Number;
  Tables t;
  for (int k = 0; k <= max_degree; ++k) {
    t.shift[k] = legendre_tables.shift[k];
    t.end[k] = legendre_tables.end[k];
  }
  const auto set = [](typename Tables::Neighbours& of, int degree, int below, int above, int n_full,
                      const auto& place) {
    const int partner = below >= 0 ? below : above;
    of.partner = static_cast<Number>(place(partner));
    if (below >= 0 && above >= 0) of.above = static_cast<Number>(place(above));
    of.shift = degree > 0 ? degree : 1;
    of.is_full = partner < n_full ? 1 : 0;
  };
  for (int g = 0; g < Tr::n_groups; ++g) {
    t.offset[g] = static_cast<Number>(Tr::offset(g));
    for (int d = 0; d < Tr::cdim; ++d)
      set(t.along_x[d][g], Tr::groups.modes[g][d], Tr::neighbours.down[d][g], Tr::neighbours.up[d][g],
          Tr::n_full_groups, [](int other) { return Tr::offset(other); });
  }
  for (int d = 0; d < Tr::vdim; ++d)
    for (int i = 0; i < Tr::n_face_groups; ++i)
      for (int k = 0; k < Tables::n_degrees; ++k) {
        const int g = Tr::faces.ladder[d][i][k], first = Tr::face_offset(i);
        for (int a = 0; first + a < Tr::face_offset(i + 1); ++a) {
          const bool is_there = g >= 0 && a < Tr::n_conf(g);
          t.mode[d][k][first + a] = is_there ? static_cast<Number>(Tr::offset(g) + a) : Tables::none;
        }
        if (g < 0) continue;
        const auto column = [k](int face) { return k * Tr::n_face_modes + Tr::face_offset(face); };
        t.input[d][g] = static_cast<Number>(column(i));
        t.degree[d][g] = static_cast<signed char>(k);
        t.face[d][g] = static_cast<Number>(first);
        t.is_full_input[d][g] = i < Tr::n_full_face_groups;
        for (int j = 0; j < Tr::vdim; ++j)
          if (j != d)
            set(t.along_v[d][Tables::pair(d, j)][g], Tr::groups.modes[g][j], Tr::faces.down[d][j][i],
                Tr::faces.up[d][j][i], Tr::n_full_face_groups, column);
      }
  return t;
}

/// v f of one group, which is full or not, for all configuration modes: traces of a smaller group take those
/// of its partner that it has not.
template <class Tr>
struct ProductWithV {
  using Tables = OwnerTables<Tr>;
  static constexpr int L = lanes, nl = Tr::n_lin;
  static constexpr int n_above = Tr::n_full_groups == Tr::n_groups ? Tr::n_full : nl;
  typename Tables::Neighbours n;
  int offset;       ///< of the group
  double v, x, x1;  ///< factors of the group, its partner and the group above
  template <bool Full>
  KOKKOS_FORCEINLINE_FUNCTION void take(const double* f, double* q) const {
    unroll<Tr::n_full>([&](auto a) QUINTET_DEVICE_INLINE {
      constexpr int A = a.value;
      double sum = 0;
      if constexpr (Full || A < nl) add_product(sum, v, f[(offset + A) * L]);
      if (Full || A < nl || n.is_full != 0) add_product(sum, x, f[(n.partner + A) * L]);
      if constexpr (A < n_above) add_product(sum, x1, n.above != Tables::none ? f[(n.above + A) * L] : 0);
      q[A] = sum;
    });
  }
};

}  // namespace quintet::kinetics::device
