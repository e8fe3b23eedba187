#include "physics/convection/centred.hpp"

#include <span>

#include "io/parallel/comm.hpp"

namespace quintet::convection {

namespace {

/// The second derivative at face i of values f at faces, from its neighbours: widths of the cells on both
/// sides.
double second(double left, double here, double right, double width_left, double width_right) {
  return 2 * ((right - here) / width_right - (here - left) / width_left) / (width_left + width_right);
}

/// Second derivatives of u along x at its faces; on walls those of the next face.
Field curvature_of_u(const Grid& grid, const Field& u) {
  Field result("curvature of u", grid);
  const int n = u.n;
  const auto& widths = grid.x.widths;
  for (int j = 0; j < u.rows; ++j) {
    const double* const row = u.row(j);
    double* const out = result.row(j);
    const int first = grid.x.periodic ? 0 : 1;
    for (int i = first; i < n; ++i)
      out[i] = second(row[i - 1], row[i], row[i + 1], widths[i == 0 ? n - 1 : i - 1], widths[i]);
    if (first == 1) out[0] = out[1];
    out[n] = grid.x.periodic ? out[0] : out[n - 1];
  }
  return result;
}

/// Second derivative of w along z, with neighbours.
Field curvature_of_w(const Grid& grid, const Field& w) {
  Field result("curvature of w", grid);
  const auto& widths = grid.z.widths;
  for (int j = 0; j < w.rows; ++j) {
    const int k = grid.first_row() + j;
    if (k == 0) continue;
    for (int i = 0; i < w.n; ++i)
      result.row(j)[i] = second(w.row(j - 1)[i], w.row(j)[i], w.row(j + 1)[i], widths[k - 1], widths[k]);
  }
  exchange(grid, result, Place::centre);
  for (int i = 0; grid.at_bottom() && i < w.n; ++i) result.row(0)[i] = result.row(1)[i];
  return result;  // beyond the last row exchange() has repeated it
}

std::vector<double> inner(const Field& field) {
  std::vector<double> result;
  for (int j = 0; j < field.rows; ++j) result.insert(result.end(), field.row(j), field.row(j) + field.n);
  return result;
}

}  // namespace

Centred centred(const Exec& exec, Boussinesq& flow, int member) {
  const Grid& grid = flow.grid();
  const BoussinesqState& state = flow.state(member);
  Field p("pressure of this instant", grid);
  flow.instant_pressure(exec, member, p);
  const Field of_u = curvature_of_u(grid, state.u), of_w = curvature_of_w(grid, state.w);
  Centred result{inner(p), inner(state.b), {}, {}};
  for (int j = 0; j < state.u.rows; ++j) {
    const double height = grid.z.widths[grid.first_row() + j];
    for (int i = 0; i < state.u.n; ++i) {
      const double width = grid.x.widths[i];
      result.u.push_back(0.5 * (state.u.row(j)[i] + state.u.row(j)[i + 1]) -
                         width * width / 16 * (of_u.row(j)[i] + of_u.row(j)[i + 1]));
      result.w.push_back(0.5 * (state.w.row(j)[i] + state.w.row(j + 1)[i]) -
                         height * height / 16 * (of_w.row(j)[i] + of_w.row(j + 1)[i]));
    }
  }
  return result;
}

std::vector<double> gathered(const Grid& grid, const std::vector<double>& rows) {
  return grid.comm().gather(std::span<const double>(rows));
}

}  // namespace quintet::convection
