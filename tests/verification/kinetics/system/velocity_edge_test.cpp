#include "physics/kinetics/space/velocity_edge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"

/// Plasma that a force carries to the end of velocity space, where the flux is zero.
namespace quintet::kinetics {
namespace {

using std::numbers::pi;

/// A force along the last velocity direction on a Maxwellian at rest, vth = 1.
struct Pushed {
  static constexpr double force = 0.5;
  PhaseBasis basis;
  VlasovSystem system;

  static Species species(int vdim, double v_max, int cells) {
    Species s;
    s.name = "electrons";
    s.grid.vdim = vdim;
    s.grid.upper[0] = 1;
    s.grid.cells[0] = 2;
    s.grid.periodic[0] = true;
    for (int d = 1; d <= vdim; ++d) {
      const bool pushed = d == vdim;
      s.grid.lower[d] = -6;
      s.grid.upper[d] = pushed ? v_max : 6;
      s.grid.cells[d] = pushed ? cells : 12;
    }
    return s;
  }
  static SystemOptions options(int vdim, Flux flux) {
    SystemOptions o;
    o.field = FieldModel::none;
    o.flux = flux;
    o.acceleration = [vdim](int, double, const ConfField& out) {
      Kokkos::deep_copy(out, 0.0);
      for (std::size_t conf = 0; conf < out.extent(0); ++conf)
        out(conf, vdim - 1, 0) = force * std::sqrt(2.0);
    };
    return o;
  }
  Pushed(int vdim, double v_max, int cells, Flux flux = Flux::upwind)
      : basis(1, vdim, 2, Family::serendipity),
        system(Comm::self(), basis, {species(vdim, v_max, cells)}, options(vdim, flux)) {
    project_phase(
        basis, [this](std::span<const double> z) { return maxwellian(z, 0); }, system.f(0), "f");
    system.start(Exec(), 0);
  }
  [[nodiscard]] double maxwellian(std::span<const double> z, double t) const {
    double f = 1;
    for (int d = 1; d <= basis.vdim(); ++d) {
      const double v = z[d] - (d == basis.vdim() ? force * t : 0);
      f *= std::exp(-0.5 * v * v) / std::sqrt(2 * pi);
    }
    return f;
  }
  /// int |f - exact| over the cells' means, of the particles.
  [[nodiscard]] double wrong() {
    const Distribution& f = system.f(0);
    const Distribution exact("exact", f.block, basis.size());
    project_phase(
        basis, [this](std::span<const double> z) { return maxwellian(z, system.time()); }, exact, "f", 6);
    double sum = 0, all = 0;
    for (int conf = 0; conf < f.block.n_conf(); ++conf)
      for (int row = 0; row < f.block.n_rows(); ++row)
        for (int last = 0; last < f.block.n_last(); ++last) {
          sum += std::abs(f.at(conf, row, last, 0) - exact.at(conf, row, last, 0));
          all += f.at(conf, row, last, 0);
        }
    return sum / all;
  }
};

/// What makes the share a bound: while it is s, no more than a part s of the particles is not where it should
/// be.
TEST(VelocityEdge, its_share_bounds_the_error_of_f) {
  for (const int vdim : {1, 2}) {
    Pushed pushed(vdim, 5, 24);
    const double particles = pushed.system.sample(Exec()).species[0].m0;
    for (const double limit : {1e-4, 1e-3, 1e-2}) {
      Sample sample;
      do {
        pushed.system.advance(Exec(), pushed.system.stable_dt(Exec()));
        sample = pushed.system.sample(Exec());
      } while (sample.species[0].edge.share < limit);

      EXPECT_EQ(sample.species[0].edge.direction, vdim - 1);
      EXPECT_EQ(sample.species[0].edge.side, 1);
      const double wrong = pushed.wrong();
      EXPECT_LT(wrong, sample.species[0].edge.share) << vdim << "v, at " << limit;
      EXPECT_GT(wrong, 0.02 * sample.species[0].edge.share);
      EXPECT_NEAR(sample.species[0].m0 / particles, 1, 1e-12);
    }
  }
}

/// int f^2 falls with upwind fluxes and stays with central ones; only at a filled end it grows.
TEST(VelocityEdge, the_square_of_f_grows_at_a_filled_end_alone) {
  for (const Flux flux : {Flux::upwind, Flux::central}) {
    Pushed near(1, 6, 32, flux), far(1, 15, 56, flux);
    const double square = near.system.sample(Exec()).species[0].l2;
    for (Pushed* pushed : {&near, &far}) {
      while (pushed->system.time() < 8) pushed->system.advance(Exec(), pushed->system.stable_dt(Exec()));
      const auto sample = pushed->system.sample(Exec());
      const double growth = sample.species[0].l2 / square - 1;
      if (pushed == &near) {
        EXPECT_GT(growth, 0.1);
        EXPECT_GT(sample.species[0].edge.share, 0.01);
      } else {
        EXPECT_LT(growth, 1e-9);
        EXPECT_GT(growth, -1e-3);
        EXPECT_LT(sample.species[0].edge.share, 1e-5);  // ripples at the end that is left
      }
    }
  }
}

TEST(VelocityEdge, finds_direction_side_and_place) {
  PhaseGrid grid;
  grid.cdim = 2, grid.vdim = 3;
  for (int d = 0; d < 5; ++d) grid.lower[d] = -1, grid.upper[d] = 2, grid.cells[d] = 3;
  grid.cells[4] = 11;
  grid.periodic[0] = grid.periodic[1] = true;
  const Decomposition decomposition(Comm::world(), grid, {});
  const PhaseBasis basis(2, 3, 1, Family::serendipity);
  const Distribution f("f", decomposition.block(grid), basis.size());
  // One particle in the middle of all, a hundredth of one at the lower end of vy in cell (2, 1) of x.
  const double one = std::pow(2.0, 2.5) / (grid.conf_cell_volume() * grid.mean_velocity_cell_volume());
  const auto put = [&](const std::array<int, 5>& cell, double particles) {
    std::array<int, 5> local{};
    for (std::size_t d = 0; d < 5; ++d) {
      local[d] = cell[d] - f.block.begin[d];
      if (local[d] < 0 || local[d] >= f.block.extent[d]) return;
    }
    f.at(f.block.conf_number({local[0], local[1], 0}), f.block.row_number({local[2], local[3], 0}), local[4],
         0) = particles * one;
  };
  put({1, 1, 1, 1, 5}, 1);
  put({2, 1, 1, 0, 5}, -0.01);

  const auto edge = fullest_velocity_edge(decomposition, basis, f, 1);

  EXPECT_NEAR(edge.share, 0.01 * 9, 1e-14);  // of a mean density of one in nine cells
  EXPECT_EQ(edge.direction, 1);
  EXPECT_EQ(edge.side, 0);
  EXPECT_NEAR(edge.place[0], 1.5, 1e-14);
  EXPECT_NEAR(edge.place[1], 0.5, 1e-14);
}

}  // namespace
}  // namespace quintet::kinetics
