#include <array>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/convection/centred.hpp"
#include "tests/support/convection_cases.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

/// A field at the centres of a grid with its differences, as whoever reads the files would take them.
struct Values {
  const Grid& grid;
  const std::vector<double>& f;

  [[nodiscard]] double operator()(int j, int i) const {
    return f[std::int64_t{j} * grid.x.n() + ((i + grid.x.n()) % grid.x.n())];
  }
  [[nodiscard]] double dx(int j, int i) const {
    return ((*this)(j, i + 1) - (*this)(j, i - 1)) / (2 * grid.x.widths[0]);
  }
  [[nodiscard]] double dxx(int j, int i) const {
    return ((*this)(j, i + 1) - 2 * (*this)(j, i) + (*this)(j, i - 1)) /
           (grid.x.widths[0] * grid.x.widths[0]);
  }
  [[nodiscard]] double dz(int j, int i) const {
    const auto [below, above, up, down] = along_z(j, i);
    return (down * down * up + above * above * below) / (above * down * (above + down));
  }
  [[nodiscard]] double dzz(int j, int i) const {
    const auto [below, above, up, down] = along_z(j, i);
    return 2 * (up / above - below / down) / (above + down);
  }

 private:
  /// Differences to below and above with their distances.
  [[nodiscard]] std::array<double, 4> along_z(int j, int i) const {
    const auto& z = grid.z.centres;
    const double above = z[j + 1] - z[j], down = z[j] - z[j - 1];
    return {(*this)(j, i) - (*this)(j - 1, i), above, (*this)(j + 1, i) - (*this)(j, i), down};
  }
};

/// Mean |residual| of b, u, w and continuity over the cells that are not beside a plate, of a flow that
/// moves.
std::array<double, 4> residuals(int n) {
  Problem problem;
  problem.rayleigh = 1e4;
  problem.prandtl = 0.5;
  const Grid grid = make_grid(Comm::self(), problem, 2, 2 * n, n);
  Start start;
  start.roll = 0.2;
  start.noise = 0;
  Boussinesq flow = make_flow(problem, grid, start);
  const double dt = 0.05 / n;
  advance_to(flow, 3, 0.2 / n);
  std::array<Centred, 3> frames;
  for (auto& frame : frames) {
    frame = centred(Exec(), flow, 0);
    flow.advance(Exec(), dt);
  }
  const Values p{grid, frames[1].p}, b{grid, frames[1].b}, u{grid, frames[1].u}, w{grid, frames[1].w};
  const double thermal = problem.thermal_diffusivity(), viscosity = problem.viscosity();
  std::array<double, 4> sums{};
  double volume = 0;
  for (int j = 1; j + 1 < n; ++j)
    for (int i = 0; i < 2 * n; ++i) {
      const auto rate = [&](std::vector<double> Centred::*f) {
        const auto k = std::int64_t{j} * (2 * n) + i;
        return ((frames[2].*f)[k] - (frames[0].*f)[k]) / (2 * dt);
      };
      const auto carried = [&](const Values& q) { return u(j, i) * q.dx(j, i) + w(j, i) * q.dz(j, i); };
      const auto spread = [&](const Values& q) { return q.dxx(j, i) + q.dzz(j, i); };
      const double weight = grid.z.widths[j];
      volume += weight;
      sums[0] += weight * std::abs(rate(&Centred::b) + carried(b) - thermal * spread(b));
      sums[1] += weight * std::abs(rate(&Centred::u) + carried(u) + p.dx(j, i) - viscosity * spread(u));
      sums[2] +=
          weight * std::abs(rate(&Centred::w) + carried(w) + p.dz(j, i) - b(j, i) - viscosity * spread(w));
      sums[3] += weight * std::abs(u.dx(j, i) + w.dz(j, i));
    }
  for (double& sum : sums) sum /= volume;
  return sums;
}

}  // namespace

TEST(Frames, satisfy_the_equations_ever_better_with_resolution) {
  const auto coarse = residuals(24), fine = residuals(48);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_GT(coarse[k] / fine[k], 3.0) << "equation " << k << ": " << coarse[k] << ", " << fine[k];
    EXPECT_LT(fine[k], 0.01);
  }
}
