#include "physics/convection/operators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "physics/convection/convection_cell.hpp"
#include "physics/convection/linear/line_operator.hpp"
#include "physics/kernels/rows.hpp"

namespace quintet::convection {

namespace {}  // namespace

Metrics::Metrics(const Grid& grid)
    : width("width", grid.x.n() + 2),
      inverse_width("1/width", grid.x.n() + 2),
      inverse_gap("1/gap", grid.x.n() + 1) {
  const int n = grid.x.n(), rows = grid.rows_here(), first = grid.first_row();
  const auto wrapped = [](const Axis& axis, int i) {  // beyond a wall the first cell again
    if (axis.periodic) return axis.widths[(i + axis.n()) % axis.n()];
    return axis.widths[std::clamp(i, 0, axis.n() - 1)];
  };
  for (int i = -1; i <= n; ++i) {
    width(i + 1) = wrapped(grid.x, i);
    inverse_width(i + 1) = 1 / wrapped(grid.x, i);
  }
  for (int i = 0; i <= n; ++i) inverse_gap(i) = 1 / grid.x.gaps[i];
  for (int j = -1; j <= rows + 1; ++j) {
    z_width.push_back(wrapped(grid.z, first + j));
    z_inverse_width.push_back(1 / wrapped(grid.z, first + j));
    z_inverse_gap.push_back(1 / grid.z.gaps[std::clamp(first + j, 0, grid.z.n())]);
  }
}

namespace {

/// Row j of the tendency of u: control volumes of left faces, between the centres i - 1 and i.
void convect_u(const Metrics& metrics, const RowsAbout& u, const RowsAbout& w, int j, int n,
               double* __restrict result) {
  const double* const width = metrics.width.data() + 1;
  const double* const inverse_gap = metrics.inverse_gap.data();
  const double inverse_height = metrics.z_inverse_width[j + 1];
#pragma GCC ivdep
  for (int i = 0; i < n; ++i)
    result[i] =
        convection_of_u(u.about(i), w.about(i), width[i - 1], width[i], inverse_gap[i], inverse_height);
}

/// Row j of the tendency of w: control volumes of bottom faces, between the centres j - 1 and j.
void convect_w(const Metrics& metrics, const RowsAbout& u, const RowsAbout& w, const RowsAbout& b, int j,
               int n, double* __restrict result) {
  const double* const inverse_width = metrics.inverse_width.data() + 1;
  const double inverse_gap = metrics.z_inverse_gap[j + 1];
  const double under = metrics.z_width[j], over = metrics.z_width[j + 1];
#pragma GCC ivdep
  for (int i = 0; i < n; ++i)
    result[i] =
        convection_of_w(u.about(i), w.about(i), b.about(i), under, over, inverse_width[i], inverse_gap);
}

/// Row j of the tendency of b.
void convect_b(const Metrics& metrics, const RowsAbout& u, const RowsAbout& w, const RowsAbout& b, int j,
               int n, double* __restrict result) {
  const double* const inverse_width = metrics.inverse_width.data() + 1;
  const double inverse_height = metrics.z_inverse_width[j + 1];
#pragma GCC ivdep
  for (int i = 0; i < n; ++i)
    result[i] = convection_of_b(u.about(i), w.about(i), b.about(i), inverse_width[i], inverse_height);
}

}  // namespace

void convect(const Exec& exec, const Grid& grid, const Metrics& metrics, const BoussinesqState& state,
             const Tendency& tendency) {
  const int n = grid.x.n();
  const bool at_bottom = grid.at_bottom(), walls = !grid.x.periodic;
  for_rows(exec, "convection", grid.rows_here(), [&](int j) {
    const RowsAbout u(state.u, j), w(state.w, j), b(state.b, j);
    convect_u(metrics, u, w, j, n, tendency.u.row(j));
    if (walls) tendency.u.row(j)[0] = 0;
    if (j == 0 && at_bottom)
      std::fill_n(tendency.w.row(j), n, 0.0);
    else
      convect_w(metrics, u, w, b, j, n, tendency.w.row(j));
    convect_b(metrics, u, w, b, j, n, tendency.b.row(j));
  });
}

void divergence(const Exec& exec, const Metrics& metrics, const Field& u, const Field& w, double factor,
                const Field& result) {
  for_rows(exec, "divergence", result.rows, [&](int j) {
    const RowsAbout u_rows(u, j), w_rows(w, j);
    const double* const __restrict inverse_width = metrics.inverse_width.data() + 1;
    double* const __restrict out = result.row(j);
    const double inverse_height = metrics.z_inverse_width[j + 1];
    for (int i = 0; i < result.n; ++i)
      out[i] = factor * divergence_of(u_rows.about(i), w_rows.about(i), inverse_width[i], inverse_height);
  });
}

void subtract_gradient(const Exec& exec, const Grid& grid, const Metrics& metrics, double factor,
                       const Field& p, const Field& u, const Field& w) {
  const bool at_bottom = grid.at_bottom();
  const int first = grid.x.periodic ? 0 : 1;
  for_rows(exec, "gradient", p.rows, [&](int j) {
    const double* const __restrict here = p.row(j), * const __restrict below = p.row(j - 1);
    const double* const __restrict inverse_gap = metrics.inverse_gap.data();
    double* const __restrict u_row = u.row(j), * const __restrict w_row = w.row(j);
    for (int i = first; i < p.n; ++i) u_row[i] -= factor * inverse_gap[i] * (here[i] - here[i - 1]);
    if (j == 0 && at_bottom) return;
    const double along_z = factor * metrics.z_inverse_gap[j + 1];
    for (int i = 0; i < p.n; ++i) w_row[i] -= along_z * (here[i] - below[i]);
  });
}

double courant_rate(const Exec& exec, const Metrics& metrics, const Field& u, const Field& w) {
  double result = 0;
  reduce_rows(
      exec, "courant rate", u.rows,
      [&](int j, double& greatest) {
        const RowsAbout u_rows(u, j), w_rows(w, j);
        const double* const inverse_width = metrics.inverse_width.data() + 1;
        const double inverse_height = metrics.z_inverse_width[j + 1];
        double most = 0, sum = 0;
        for (int i = 0; i < u.n; ++i) {
          const double rate =
              courant_rate_of(u_rows.about(i), w_rows.about(i), inverse_width[i], inverse_height);
          most = rate > most ? rate : most;
          sum += rate;
        }
        if (!std::isfinite(sum)) most = std::numeric_limits<double>::infinity();  // a maximum passes over NaN
        greatest = std::max(greatest, most);
      },
      Kokkos::Max<double>(result));
  return std::isfinite(result) ? result : std::numeric_limits<double>::quiet_NaN();
}

namespace {

void add_heat_of_sides(const Exec& exec, const Grid& grid, const WallProfiles& profiles, double heat,
                       const Field& b) {
  const int n = b.n, first = grid.first_row();
  const LineOperator line = centres_operator(grid.x, End::value, End::value);
  const double left = heat * line.wall[0] / line.weight[0],
               right = heat * line.wall[n - 1] / line.weight[n - 1];
  for_rows(exec, "heat of the sides", b.rows, [&](int j) {
    b.row(j)[0] += left;
    b.row(j)[n - 1] -= right;
  });
  if (!profiles.warm.empty())
    for_rows(exec, "heat of the left side's profile", b.rows,
             [&](int j) { b.row(j)[0] += left / wall_buoyancy * profiles.warm[first + j]; });
  if (!profiles.cold.empty())
    for_rows(exec, "heat of the right side's profile", b.rows,
             [&](int j) { b.row(j)[n - 1] += right / wall_buoyancy * profiles.cold[first + j]; });
}

/// b += rate times the given heat of sides (or plates), per width of their cells.
void add_given_heat(const Exec& exec, const Grid& grid, bool of_sides, const WallProfiles& profiles,
                    double rate, const Field& b) {
  const auto& [warm, cold, first, last] = profiles;
  const Axis& across = of_sides ? grid.x : grid.z;
  const double at_first = rate / across.widths.front(), at_last = rate / across.widths.back();
  const int n = b.n, row = grid.first_row();
  if (of_sides) {
    for_rows(exec, "given heat of the sides", b.rows, [&](int j) {
      if (!first.empty()) b.row(j)[0] += at_first * first[row + j];
      if (!last.empty()) b.row(j)[n - 1] += at_last * last[row + j];
    });
    return;
  }
  for_rows(exec, "given heat of the plates", n, [&](int i) {
    if (!first.empty() && grid.at_bottom()) b.row(0)[i] += at_first * first[i];
    if (!last.empty() && grid.at_top()) b.row(b.rows - 1)[i] += at_last * last[i];
  });
}

}  // namespace

void add_wall_heat(const Exec& exec, const Problem& problem, const Grid& grid, const WallProfiles& profiles,
                   double factor, const Field& b) {
  const double heat = factor * problem.thermal_diffusivity() * wall_buoyancy;
  if (!profiles.first_heat.empty() || !profiles.last_heat.empty())
    add_given_heat(exec, grid, problem.heated == Heated::plates, profiles,
                   factor * problem.thermal_diffusivity(), b);
  if (problem.heated == Heated::sides) {
    add_heat_of_sides(exec, grid, profiles, heat, b);
    return;
  }
  const int n = b.n, last = grid.z.n() - 1;
  const double bottom = heat / (grid.z.gaps[0] * grid.z.widths[0]),
               top = heat / (grid.z.gaps[last + 1] * grid.z.widths[last]);
  for_rows(exec, "heat of the plates", n, [&](int i) {
    if (grid.at_bottom()) b.row(0)[i] += bottom;
    if (grid.at_top()) b.row(b.rows - 1)[i] -= top;
  });
  if (!profiles.warm.empty() && grid.at_bottom()) {
    const double slope = bottom / wall_buoyancy;
    for_rows(exec, "heat of the floor's profile", n, [&](int i) { b.row(0)[i] += slope * profiles.warm[i]; });
  }
  if (!profiles.cold.empty() && grid.at_top()) {
    const double slope = top / wall_buoyancy;
    for_rows(exec, "heat of the ceiling's profile", n,
             [&](int i) { b.row(b.rows - 1)[i] += slope * profiles.cold[i]; });
  }
}

}  // namespace quintet::convection
