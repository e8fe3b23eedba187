#pragma once

#include "physics/kinetics/device/vlasov_edge_kernels.hpp"

/// Walls of DeviceVlasov, from traces and to traces in the host's layout.
namespace quintet::kinetics::device {

/// One thread a face, velocity group and velocity cell.
template <class Tr>
struct WallThread {
  int number, group, cell;  ///< of the edge's configuration cells; of groups; of velocity cells
  KOKKOS_FORCEINLINE_FUNCTION WallThread(const Cells<Tr>& cells, std::ptrdiff_t thread)
      : number(static_cast<int>(thread / cells.n_vel / Tr::n_groups)),
        group(static_cast<int>(thread / cells.n_vel % Tr::n_groups)),
        cell(static_cast<int>(thread % cells.n_vel)) {}
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static constexpr int n_face_modes(int g) {
    return g < Tr::n_full_groups ? Tr::n_conf_face_full : Tr::n_conf_face_lin;
  }
};

/// out (+)= share own(-v_d).
template <class Tr>
struct MirrorTrace {
  Edge<Tr> edge;
  const GroupTables<Tr>* tables;
  const double* own;
  double share;
  bool add;
  double* out;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t thread) const {
    const WallThread<Tr> at(edge.cells, thread);
    const CellContext<Tr> c(edge.cells, at.cell);
    int mirrored = at.cell;
    unroll<Tr::vdim>([&](auto d) {
      if (d.value == edge.direction)
        mirrored += (edge.cells.nv[d.value] - 1 - 2 * c.index[d.value]) * c.step[d.value];
    });
    const double factor = tables->degree[edge.direction][at.group] % 2 == 1 ? -share : share;
    const int first = tables->conf_face_offset[at.group];
    const double* const from = own + edge.place(at.number, mirrored);
    double* const to = out + edge.place(at.number, at.cell);
    for (int m = first; m < first + at.n_face_modes(at.group); ++m) {
      const double value = factor * from[m * edge.host_lanes];
      to[m * edge.host_lanes] = add ? to[m * edge.host_lanes] + value : value;
    }
  }
};

/// out = flux g: WallEmission::emit().
template <class Tr>
struct EmitTrace {
  Edge<Tr> edge;
  const GroupTables<Tr>* tables;
  const double *shape, *flux;  ///< g [n_groups, n_vel]; [n_faces, n_conf_face_full]
  double* out;
  KOKKOS_FUNCTION void operator()(std::ptrdiff_t thread) const {
    const WallThread<Tr> at(edge.cells, thread);
    const double here = shape[std::int64_t{at.group} * edge.cells.n_vel + at.cell];
    const double* const from = flux + at.number * Tr::n_conf_face_full;
    double* const to =
        out + edge.place(at.number, at.cell) + tables->conf_face_offset[at.group] * edge.host_lanes;
    for (int a = 0; a < at.n_face_modes(at.group); ++a) to[a * edge.host_lanes] = from[a] * here;
  }
};

/// Outflow by a part of the velocity cells through a face in direction x_i, to be added up by AddParts: the
/// flux times 1, as a function on the face; its mean times v, and times v.v.
template <class Tr>
struct PartialOutflow {
  static constexpr int vdim = Tr::vdim, n = Tr::n_conf_face_full, n_sums = n + vdim + 1;
  static constexpr int threads = 64;
  static constexpr int scratch = threads;
  Edge<Tr> edge;
  double factor;                   ///< int phi_0 over a mean velocity cell
  const double *inside, *outside;  ///< null: 0
  double* parts;                   ///< [n_faces, n_parts, n_sums]
  int n_parts, part;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    unroll<Tr::cdim>([&](auto i) {
      if (i.value == edge.direction) sum<i.value>(team);
    });
  }

  /// The two traces at a cell, and how they are weighted.
  struct Sides {
    const double *in, *out;
    int stride;
    double of_in, of_out, jump_in;  ///< f = of_in in + of_out out, penalty (f_R - f_L) = jump_in (in - out)
    template <int Mode>
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double blended() const {
      return of_in * at<Mode>(in) + of_out * at<Mode>(out);
    }
    template <int Mode>
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double jump() const {
      return jump_in * (at<Mode>(in) - at<Mode>(out));
    }
    template <int Mode>
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double at(const double* trace) const {
      return trace == nullptr ? 0 : trace[Mode * stride];
    }
  };
  /// v_I f - penalty (f_R - f_L), coefficient A of group G.
  template <int I, int G, int A>
  KOKKOS_FORCEINLINE_FUNCTION static double flux(const CellContext<Tr>& c, const Sides& f) {
    constexpr int k = Tr::groups.modes[G][I], below = Tr::neighbours.down[I][G],
                  above = Tr::neighbours.up[I][G];
    double value = c.v[I] * f.template blended<Tr::conf_face_offset(G) + A>() -
                   f.template jump<Tr::conf_face_offset(G) + A>();
    if constexpr (below >= 0)
      if constexpr (A < WallThread<Tr>::n_face_modes(below))
        value += c.half_dv[I] * shift_of<k> * f.template blended<Tr::conf_face_offset(below) + A>();
    if constexpr (above >= 0)
      if constexpr (A < WallThread<Tr>::n_face_modes(above))
        value += c.half_dv[I] * shift_of<k + 1> * f.template blended<Tr::conf_face_offset(above) + A>();
    return value;
  }

  template <int I, class Team>
  KOKKOS_FORCEINLINE_FUNCTION void sum(const Team& team) const {
    const int number = team.league / n_parts, first = team.league % n_parts * part;
    const int end = first + part < edge.cells.n_vel ? first + part : edge.cells.n_vel;
    double sums[n_sums]{};
    for (int cell = first + team.rank; cell < end; cell += team.size) {
      const CellContext<Tr> c(edge.cells, cell);
      const FaceWeights w = weights_of(edge.cells.flux, c.v[I], c.half_dv[I]);
      const auto place = edge.place(number, cell);
      const bool upper = edge.side > 0;
      const Sides f{inside == nullptr ? nullptr : inside + place,
                    outside == nullptr ? nullptr : outside + place,
                    edge.host_lanes,
                    upper ? w.left : w.right,
                    upper ? w.right : w.left,
                    upper ? -w.penalty : w.penalty};
      double volume = factor;
      unroll<vdim>([&](auto d) { volume *= c.relative[d.value]; });
      unroll<n>([&](auto a) { sums[a.value] += volume * flux<I, 0, a.value>(c, f); });
      const double zeroth = volume * flux<I, 0, 0>(c, f);
      double second = 0;
      unroll<vdim>([&](auto d) {
        constexpr int D = d.value, up = Tr::neighbours.up[D][0], up2 = Tr::neighbours.up[D][up];
        // int xi phi_1 and int xi^2 phi_2 relative to int phi_0
        constexpr double first_order = legendre_tables.shift[1], second_order = constant_sqrt(5) * 2 / 15;
        const double h = c.half_dv[D], slope = volume * h * first_order * flux<I, up, 0>(c, f);
        sums[n + D] += c.v[D] * zeroth + slope;
        second += (c.v[D] * c.v[D] + h * h / 3) * zeroth + 2 * c.v[D] * slope;
        if constexpr (up2 >= 0) second += volume * h * h * second_order * flux<I, up2, 0>(c, f);
      });
      sums[n + vdim] += second;
    }
    write_sums(team, sums, parts + (std::int64_t{number} * n_parts + team.league % n_parts) * n_sums);
  }
};

}  // namespace quintet::kinetics::device
