#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "physics/convection/convection_cell.hpp"
#include "physics/convection/device/row_transform_kernels.hpp"

/// The kernels of a step, a cell a thread: see operators.cpp and boussinesq.cpp.
namespace quintet::convection::device {

/// Cells and what differences multiply by. Pointers along x and z are those of cell or face 0; one more is
/// there at both ends.
///
/// Rows are those of this rank. Beyond them lie a neighbour's, -1 and n_z, or walls: rows that have values
/// are lowest ... highest, so that row 0 is `lowest` on the bottom and the last one `highest` under the top
/// alone.
struct Mesh {
  int n_x, n_z;
  int lowest, highest;
  bool periodic;
  const double *x_width, *x_inverse_width, *x_inverse_gap;
  const double *z_width, *z_inverse_width, *z_inverse_gap;
};

/// The row j of a field, beyond a wall the row at it.
KOKKOS_INLINE_FUNCTION const double* row_of(const Mesh& mesh, const double* value, int j) {
  j = j < mesh.lowest ? mesh.lowest : j > mesh.highest ? mesh.highest : j;
  return value + std::int64_t{j} * mesh.n_x;
}
/// Fields of a flow [n_z, n_x] with the values beyond their walls, as exchange() fills them.
struct LeftFaces {
  const Mesh& mesh;
  const double* value;
  KOKKOS_INLINE_FUNCTION double operator()(int j, int i) const {
    const double* const row = row_of(mesh, value, j);
    if (mesh.periodic) return row[i < 0 ? mesh.n_x - 1 : i == mesh.n_x ? 0 : i];
    return i < 0 ? -row[1] : i == mesh.n_x ? 0.0 : row[i];
  }
};
struct Centres {
  const Mesh& mesh;
  const double* value;
  KOKKOS_INLINE_FUNCTION double operator()(int j, int i) const {
    if (mesh.periodic)
      i = i < 0 ? mesh.n_x - 1 : i == mesh.n_x ? 0 : i;
    else
      i = i < 0 ? 0 : i == mesh.n_x ? mesh.n_x - 1 : i;
    return row_of(mesh, value, j)[i];
  }
};
struct BottomFaces {
  Centres along;
  KOKKOS_INLINE_FUNCTION double operator()(int j, int i) const {
    if (j > along.mesh.highest) return 0.0;
    return j < along.mesh.lowest ? -along(1, i) : along(j, i);
  }
};

/// A field about cell i of row j.
template <class Values>
struct About {
  const Values& value;
  int j, i;
  KOKKOS_INLINE_FUNCTION double operator()(int rows_above, int cells_right) const {
    return value(j + rows_above, i + cells_right);
  }
};
template <class Values>
About(const Values&, int, int) -> About<Values>;

/// The right-hand side of a cell without diffusion and pressure: see convect().
struct Pushes {
  double u, w, b;
};
KOKKOS_INLINE_FUNCTION Pushes convection_of(const Mesh& mesh, const LeftFaces& u_field,
                                            const BottomFaces& w_field, const Centres& b_field, int j,
                                            int i) {
  Pushes result{0, 0, 0};
  const double inverse_height = mesh.z_inverse_width[j], inverse_width = mesh.x_inverse_width[i];
  const About u{u_field, j, i};
  const About w{w_field, j, i};
  const About b{b_field, j, i};
  if (i > 0 || mesh.periodic)
    result.u =
        convection_of_u(u, w, mesh.x_width[i - 1], mesh.x_width[i], mesh.x_inverse_gap[i], inverse_height);
  if (j != mesh.lowest)
    result.w =
        convection_of_w(u, w, b, mesh.z_width[j - 1], mesh.z_width[j], inverse_width, mesh.z_inverse_gap[j]);
  result.b = convection_of_b(u, w, b, inverse_width, inverse_height);
  return result;
}

/// All flows on the device. A set of fields is [field][flow][n_z, n_x], u, w, b and p or the correction of
/// it, with `margin` rows of neighbours below and above each.
struct Flows {
  Mesh mesh;
  int n_members, margin;
  double viscosity;
  double left, right, bottom, top;  ///< heat of walls
  double *state, *stage, *first, *eliminated;
  const RowPlan* rows;         ///< of u, w, b, p
  const double* equations[4];  ///< of each: below, diagonal, above [3, n_z], squares [n_x]
  double diffusivity[4];
  const double* share;  ///< [n_z] of the whole height
  /// [n_z] sum_j to_mean_j q_j over all rows is what must be added to a pressure of this right-hand side.
  const double* to_mean;

  KOKKOS_INLINE_FUNCTION std::ptrdiff_t cells() const { return std::int64_t{mesh.n_z} * mesh.n_x; }
  /// Numbers from a flow to the next.
  KOKKOS_INLINE_FUNCTION std::ptrdiff_t stride() const {
    return std::int64_t{mesh.n_z + 2 * margin} * mesh.n_x;
  }
  KOKKOS_INLINE_FUNCTION double* field(double* set, int which, int member) const {
    return set + (std::int64_t{which} * n_members + member) * stride() + std::int64_t{margin} * mesh.n_x;
  }
  /// Number of all cells of all flows.
  std::int64_t size() const { return std::int64_t{n_members} * cells(); }
};

struct Cell {
  int member, j, i;
};
KOKKOS_INLINE_FUNCTION Cell cell_of(const Flows& f, std::int64_t number) {
  const std::int64_t cells = f.cells(), within = number % cells;
  return {static_cast<int>(number / cells), static_cast<int>(within / f.mesh.n_x),
          static_cast<int>(within % f.mesh.n_x)};
}

/// Right-hand sides of the two stages: see Boussinesq::advance_member. The first writes `first` and the
/// stage, the second changes the state, with `a` = gamma dt and the factors of the scheme.
struct RightHandSide {
  Flows f;
  bool second;
  double a, r, of_first, of_second;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const Mesh& mesh = f.mesh;
    const auto [member, j, i] = cell_of(f, number);
    double* const from = second ? f.stage : f.state;
    const Pushes n = convection_of(mesh, {mesh, f.field(from, 0, member)}, {{mesh, f.field(from, 1, member)}},
                                   {mesh, f.field(from, 2, member)}, j, i);
    const double push[3] = {n.u, n.w, n.b};
    const Centres p{mesh, f.field(f.state, 3, member)};
    const bool wall[3] = {i == 0 && !mesh.periodic, j == mesh.lowest, false};
    const double gradient[3] = {wall[0] ? 0.0 : a * mesh.x_inverse_gap[i] * (p(j, i) - p(j, i - 1)),
                                wall[1] ? 0.0 : a * mesh.z_inverse_gap[j] * (p(j, i) - p(j - 1, i)),
                                -a * heat(j, i)};
    const std::ptrdiff_t cell = std::int64_t{j} * mesh.n_x + i;
    for (int which = 0; which < 3; ++which) {
      double& before = f.field(f.state, which, member)[cell];
      double& between = f.field(f.stage, which, member)[cell];
      double& pushed = f.field(f.first, which, member)[cell];
      if (!second) {
        pushed = push[which];
        between = wall[which] ? 0.0 : before + a * push[which] - gradient[which];
      } else {
        const double sum = before + r * (between - before) + of_first * pushed + of_second * push[which];
        before = wall[which] ? 0.0 : sum - gradient[which];
      }
    }
  }
  KOKKOS_INLINE_FUNCTION double heat(int j, int i) const {
    double result = 0;
    if (i == 0) result += f.left;
    if (i == f.mesh.n_x - 1) result -= f.right;
    if (j == f.mesh.lowest) result += f.bottom;
    if (j == f.mesh.highest) result -= f.top;
    return result;
  }
};

/// phi = div (u, w)/a, and what the diffusion of its gradient is to the pressure.
struct Divergence {
  Flows f;
  double *set, a;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const Mesh& mesh = f.mesh;
    const auto [member, j, i] = cell_of(f, number);
    const LeftFaces u{mesh, f.field(set, 0, member)};
    const BottomFaces w{{mesh, f.field(set, 1, member)}};
    const double divergence =
        1 / a *
        divergence_of(About{u, j, i}, About{w, j, i}, mesh.x_inverse_width[i], mesh.z_inverse_width[j]);
    const std::ptrdiff_t cell = std::int64_t{j} * mesh.n_x + i;
    f.field(f.stage, 3, member)[cell] = divergence;
    f.field(f.state, 3, member)[cell] += -a * f.viscosity * divergence;
  }
};

/// (u, w) -= a grad phi, p += phi.
struct Projection {
  Flows f;
  double *set, a;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const Mesh& mesh = f.mesh;
    const auto [member, j, i] = cell_of(f, number);
    const Centres phi{mesh, f.field(f.stage, 3, member)};
    const std::ptrdiff_t cell = std::int64_t{j} * mesh.n_x + i;
    if (i > 0 || mesh.periodic)
      f.field(set, 0, member)[cell] -= a * mesh.x_inverse_gap[i] * (phi(j, i) - phi(j, i - 1));
    double& w = f.field(set, 1, member)[cell];
    // On the wall the transform of two rows as one has left round-off, which no host's flow has.
    w = j == mesh.lowest ? 0.0 : w - a * mesh.z_inverse_gap[j] * (phi(j, i) - phi(j - 1, i));
    f.field(f.state, 3, member)[cell] += phi(j, i);
  }
};

/// max of |u|/dx + |w|/dz; infinite if one is NaN, which a maximum would pass over.
struct CourantRate {
  Flows f;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number, double& greatest) const {
    const Mesh& mesh = f.mesh;
    const auto [member, j, i] = cell_of(f, number);
    const LeftFaces u{mesh, f.field(f.state, 0, member)};
    const BottomFaces w{{mesh, f.field(f.state, 1, member)}};
    const double rate =
        courant_rate_of(About{u, j, i}, About{w, j, i}, mesh.x_inverse_width[i], mesh.z_inverse_width[j]);
    const double here = rate - rate == 0 ? rate : HUGE_VAL;
    greatest = here > greatest ? here : greatest;
  }
};

/// A kernel of cells on some rows of each flow: `n` from `first` on, after the last the first.
template <class Kernel>
struct SomeRows {
  Kernel kernel;
  int first, n;

  std::int64_t size() const { return std::int64_t{kernel.f.n_members} * n * kernel.f.mesh.n_x; }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    const Mesh& mesh = kernel.f.mesh;
    const std::int64_t line = number / mesh.n_x, member = line / n;
    const int past = first + static_cast<int>(line % n), row = past < mesh.n_z ? past : past - mesh.n_z;
    kernel((member * mesh.n_z + row) * mesh.n_x + number % mesh.n_x);
  }
};

/// Rows of `n_fields` fields of a set, from number `first_field` on, become coefficients or values again.
template <bool Forward>
struct Rows {
  Flows f;
  double* set;
  int first_field, level, length;  ///< of the work space
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Mesh& mesh = f.mesh;
    const int pairs = (mesh.n_z + 1) / 2, number = team.league_rank();
    const int pair = number % pairs, member = number / pairs % f.n_members,
              which = first_field + number / pairs / f.n_members;
    double* const a = f.field(set, which, member) + std::ptrdiff_t{2} * pair * mesh.n_x;
    double* const b = 2 * pair + 1 < mesh.n_z ? a + mesh.n_x : nullptr;
    auto* const memory =
        static_cast<double*>(team.team_scratch(level).get_shmem(4 * sizeof(double) * length));
    transform_rows<Forward>(team, f.rows[which], a, b, memory);
  }
};

}  // namespace quintet::convection::device
