#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/moments/moments.hpp"
#include "physics/kinetics/system.hpp"
#include "physics/kinetics/theory/growth_fit.hpp"
#include "physics/kinetics/theory/theory.hpp"
#include "tests/support/stretched_cells.hpp"
#include "vlasov_operator_case.hpp"

/// Velocity cells that differ in width: what holds on equal cells holds on them.
namespace quintet::kinetics {
namespace {

using std::numbers::pi;

/// Random f and forces on a grid mapped in all velocity directions; f vanishes in the outermost cells.
OperatorCase make_case(int cdim, int vdim, int order, Family family, bool stretched) {
  std::vector<int> cells(cdim, 2);
  cells.insert(cells.end(), vdim - 1, 5);
  cells.push_back(11);
  auto c = make_operator_case(cdim, vdim, order, family, false, cells);
  for (int d = 0; d < vdim; ++d) map_velocity(c.block.grid, d, stretched ? 1.5 : 0, 0.2 * d - 0.1);
  c.f.block = c.block;
  for (int row = 0; row < c.block.n_rows(); ++row)
    for (int j = 0; j < c.block.n_last(); ++j) {
      bool edge = j == 0 || j == c.block.n_last() - 1;
      for (int d = 0; d + 1 < vdim; ++d) edge = edge || c.block.row_index(row)[d] % 4 == 0;
      for (int conf = 0; conf < c.block.n_conf() && edge; ++conf)
        for (int m = 0; m < c.basis.size(); ++m) c.f.at(conf, row, j, m) = 0;
    }
  return c;
}

Distribution rate(const OperatorCase& c, Flux flux) {
  Distribution out("rate", c.block, c.basis.size());
  VlasovOperator::make(c.basis, c.block, flux, {})
      ->apply(Exec(), {.keep = -1, .advance = 1, .dt = 1}, c.f, c.f, c.acceleration, out, {});
  return out;
}

ConfField moment_of(const OperatorCase& c, const Distribution& f, Moment moment) {
  ConfField out("moment", c.block.n_conf(), n_components(moment, c.basis.vdim()), c.basis.conf().size());
  moments(Exec(), c.basis, f, moment, out, 0);
  Exec().fence();
  return out;
}

double total(const ConfField& moment, int component) {
  double sum = 0;
  for (std::size_t conf = 0; conf < moment.extent(0); ++conf) sum += moment(conf, component, 0);
  return sum;
}

const std::vector<std::tuple<int, int, int, Family>> bases{
    {1, 1, 2, Family::serendipity}, {1, 1, 3, Family::tensor}, {1, 2, 1, Family::hybrid},
    {1, 2, 2, Family::serendipity}, {2, 2, 2, Family::tensor}, {1, 3, 2, Family::serendipity}};

TEST(VelocityMapping, equal_cells_given_as_edges_are_equal_cells) {
  for (const auto& [cdim, vdim, order, family] : bases) {
    const auto mapped = make_case(cdim, vdim, order, family, false);
    auto uniform = mapped;
    uniform.block.grid.velocity_edges = {};
    uniform.f.block = uniform.block;

    const auto a = rate(mapped, Flux::upwind), b = rate(uniform, Flux::upwind);

    double greatest = 0;
    for (std::size_t i = 0; i < b.data.size(); ++i) greatest = std::max(greatest, std::abs(b.data(i)));
    EXPECT_GT(greatest, 1);
    for (std::size_t i = 0; i < b.data.size(); ++i) ASSERT_NEAR(a.data(i), b.data(i), 1e-13 * greatest);
    EXPECT_NEAR(total(moment_of(mapped, a, Moment::m3), 0), total(moment_of(uniform, b, Moment::m3), 0),
                1e-11 * greatest);
  }
}

TEST(VelocityMapping, particles_are_conserved_and_forces_bring_their_momentum_and_energy) {
  for (const auto& [cdim, vdim, order, family] : bases)
    for (const auto flux : {Flux::upwind, Flux::lax_friedrichs, Flux::central}) {
      const auto c = make_case(cdim, vdim, order, family, true);
      const auto df = rate(c, flux);

      // int w_a w_b dx = delta_ab: the rate of int v.v f is 2 int A.M1, of int v_d f int (A M0 + M1 x B)_d.
      const auto m0 = moment_of(c, c.f, Moment::m0), m1 = moment_of(c, c.f, Moment::m1);
      double power = 0, scale = 0;
      std::array<double, 3> force{};
      for (int conf = 0; conf < c.block.n_conf(); ++conf)
        for (int a = 0; a < c.basis.conf().size(); ++a)
          for (int d = 0; d < vdim; ++d) {
            power += 2 * c.acceleration(conf, d, a) * m1(conf, d, a);
            scale += std::abs(c.acceleration(conf, d, a) * m1(conf, d, a));
            force[d] += c.acceleration(conf, d, a) * m0(conf, 0, a);
            const int j = (d + 1) % 3, k = (d + 2) % 3;
            if (j < vdim) force[d] += m1(conf, j, a) * c.acceleration(conf, 3 + k, a);
            if (k < vdim) force[d] -= m1(conf, k, a) * c.acceleration(conf, 3 + j, a);
          }
      const double one = std::pow(std::sqrt(2.0), cdim);  // int w_0 over the reference cell
      EXPECT_GT(scale, 1);
      EXPECT_NEAR(total(moment_of(c, df, Moment::m0), 0), 0, 1e-13 * scale);
      for (int d = 0; d < vdim; ++d)
        EXPECT_NEAR(one * total(moment_of(c, df, Moment::m1), d), force[d], 1e-12 * scale);
      EXPECT_NEAR(one * total(moment_of(c, df, Moment::m2), 0), power, 1e-12 * scale);
    }
}

TEST(VelocityMapping, central_flux_keeps_the_square_of_f_and_upwinding_lowers_it) {
  for (const auto& [cdim, vdim, order, family] : bases) {
    const auto c = make_case(cdim, vdim, order, family, true);
    const auto product = [&](const Distribution& df) {
      std::array<double, 2> sum{};  // int f df and its scale
      for (int conf = 0; conf < c.block.n_conf(); ++conf)
        for (int row = 0; row < c.block.n_rows(); ++row)
          for (int j = 0; j < c.block.n_last(); ++j) {
            const auto volume = relative_volumes(c.block, row, j / PhaseBlock::lanes);
            for (int m = 0; m < c.basis.size(); ++m) {
              const double term =
                  volume[j % PhaseBlock::lanes] * c.f.at(conf, row, j, m) * df.at(conf, row, j, m);
              sum[0] += term;
              sum[1] += std::abs(term);
            }
          }
      return sum;
    };
    const auto central = product(rate(c, Flux::central)), upwind = product(rate(c, Flux::upwind));
    EXPECT_LT(std::abs(central[0]), 1e-13 * central[1]);
    EXPECT_LT(upwind[0], -1e-3 * upwind[1]);
  }
}

TEST(VelocityMapping, moments_summed_on_the_way_are_the_moments) {
  for (const auto& [cdim, vdim, order, family] : bases) {
    const auto c = make_case(cdim, vdim, order, family, true);
    ConfField sums("sums", c.block.n_conf(), 1 + vdim, c.basis.conf().size());
    VlasovOperator::make(c.basis, c.block, Flux::upwind, {})->sum_moments(Exec(), c.f, sums);
    const auto m0 = moment_of(c, c.f, Moment::m0), m1 = moment_of(c, c.f, Moment::m1);
    for (int conf = 0; conf < c.block.n_conf(); ++conf)
      for (int a = 0; a < c.basis.conf().size(); ++a) {
        EXPECT_NEAR(sums(conf, 0, a), m0(conf, 0, a), 1e-11);
        for (int d = 0; d < vdim; ++d) EXPECT_NEAR(sums(conf, 1 + d, a), m1(conf, d, a), 1e-11);
      }
  }
}

Species electrons(double length, int nx, int vdim, int nv, double stretch) {
  Species species;
  species.name = "electron";
  species.grid.vdim = vdim;
  species.grid.upper[0] = length;
  species.grid.cells[0] = nx;
  species.grid.periodic[0] = true;
  for (int d = 0; d < vdim; ++d) {
    species.grid.lower[1 + d] = -6;
    species.grid.upper[1 + d] = 6;
    species.grid.cells[1 + d] = nv;
    map_velocity(species.grid, d, stretch);
  }
  return species;
}

TEST(VelocityMapping, maxwellians_have_their_moments) {
  const PhaseBasis basis(1, 2, 2, Family::serendipity);
  const auto species = electrons(1, 2, 2, 12, 1.5);
  const Decomposition decomposition(Comm::self(), species.grid, {});
  Distribution f("f", decomposition.block(species.grid), basis.size());
  const auto number = [](double value) { return [value](std::span<const double>) { return value; }; };

  add_maxwellian(decomposition, basis, {number(2), {number(0.4), number(-0.3)}, {number(1), number(0.8)}},
                 true, f, "f");

  const auto all = phase_integrals(Exec(), basis, f);
  EXPECT_NEAR(all.particles, 2, 1e-12);
  EXPECT_NEAR(all.l2, 4 / (4 * pi * 0.8), 2e-3);  // int f^2 = n^2/(4 pi vth_x vth_y)
  ConfField m1("m1", 2, 2, basis.conf().size()), m2("m2", 2, 1, basis.conf().size());
  moments(Exec(), basis, f, Moment::m1, m1, 0);
  moments(Exec(), basis, f, Moment::m2, m2, 0);
  Exec().fence();
  const double mean = std::sqrt(0.5);
  EXPECT_NEAR(mean * m1(0, 0, 0), 2 * 0.4, 1e-12);
  EXPECT_NEAR(mean * m1(1, 1, 0), -2 * 0.3, 1e-12);
  EXPECT_NEAR(mean * m2(0, 0, 0), 2 * (1 + 0.64 + 0.16 + 0.09), 1e-12);
}

/// L2 error (by Gauss points) at time 0.5 of f under the constant acceleration 1.
double error_after_acceleration(int order, int n, double stretch) {
  auto species = electrons(2 * pi, n, 1, 2 * n, stretch);
  const PhaseBasis basis(1, 1, order, Family::serendipity);
  const Decomposition decomposition(Comm::self(), species.grid, {});
  const auto block = decomposition.block(species.grid);
  const auto exact = [](double t) {
    return [t](std::span<const double> z) {
      const double v = z[1] - t, x = z[0] - z[1] * t + 0.5 * t * t;
      return (1 + 0.3 * std::cos(x)) * std::exp(-0.5 * v * v);
    };
  };
  Distribution f("f", block, basis.size()), f1("f1", block, basis.size()), f2("f2", block, basis.size()),
      truth("truth", block, basis.size());
  project_phase(basis, exact(0), f, "f");
  ConfField acceleration("acceleration", block.n_conf(), 6, basis.conf().size());
  for (int conf = 0; conf < block.n_conf(); ++conf) acceleration(conf, 0, 0) = std::sqrt(2.0);
  const auto vlasov = VlasovOperator::make(basis, block, Flux::upwind, {});
  const double most = 0.5 / ((2 * order + 1) * vlasov->frequency(Exec(), acceleration));
  const int n_steps = std::ceil(0.5 / most);
  const double dt = 0.5 / n_steps;
  for (int i = 0; i < n_steps; ++i) {
    vlasov->apply(Exec(), {.keep = 0, .advance = 1, .dt = dt}, f, f, acceleration, f1, {});
    vlasov->apply(Exec(), {.keep = 0.75, .advance = 0.25, .dt = dt}, f1, f, acceleration, f2, {});
    vlasov->apply(Exec(), {.keep = 1.0 / 3, .advance = 2.0 / 3, .dt = dt}, f2, f, acceleration, f1, {});
    std::swap(f, f1);
  }
  project_phase(basis, exact(0.5), truth, "truth", 8);
  for (std::size_t i = 0; i < f.data.size(); ++i) f.data(i) -= truth.data(i);
  return std::sqrt(phase_integrals(Exec(), basis, f).l2);
}

TEST(VelocityMapping, errors_fall_with_one_order_more_than_the_basis) {
  for (const int order : {1, 2}) {
    const double coarse = error_after_acceleration(order, 10, 1.2),
                 fine = error_after_acceleration(order, 20, 1.2);
    EXPECT_GT(std::log2(coarse / fine), order + 0.7) << coarse << " " << fine;
  }
}

/// Damping rate of a Langmuir wave, k lambda_D = 0.5, over the one of theory.
double relative_damping(const Species& species) {
  const Exec exec;
  SystemOptions options;
  options.background_charge = 1;
  options.field = FieldModel::poisson;
  VlasovSystem system(Comm::self(), PhaseBasis(1, 1, 2, Family::serendipity), {species}, options);
  project_phase(
      system.basis(),
      [](std::span<const double> z) {
        return (1 + 1e-4 * std::cos(0.5 * z[0])) * std::exp(-0.5 * z[1] * z[1]) / std::sqrt(2 * pi);
      },
      system.f(0), "f");
  system.start(exec, 0);
  std::vector<double> t, electric;
  const auto before = system.sample(exec);
  auto sample = before;
  for (; system.time() < 18; sample = system.sample(exec)) {
    t.push_back(sample.time);
    electric.push_back(sample.field[field_ex]);
    system.advance(exec, system.stable_dt(exec));
  }
  EXPECT_NEAR(sample.species[0].m0, before.species[0].m0, 1e-12 * before.species[0].m0);
  EXPECT_NEAR(sample.energy(), before.energy(), 1e-11 * before.energy());
  return fit_damped_oscillation(t, electric, Window{4, 18}).gamma / landau_mode(0.5).imag();
}

TEST(VelocityMapping, a_third_fewer_cells_give_the_damping_of_a_langmuir_wave) {
  const auto equal = electrons(4 * pi, 16, 1, 21, 0);
  auto finer_where_f_is = equal;
  map_by(finer_where_f_is.grid, 0, [](double s) { return s + 0.45 * std::pow(s, 9); });

  EXPECT_NEAR(relative_damping(finer_where_f_is), 1, 2e-3);
  EXPECT_GT(std::abs(relative_damping(equal) - 1), 2e-3);  // recurrence
}

TEST(VelocityMapping, grids_know_whether_they_mirror) {
  auto grid = electrons(1, 2, 1, 12, 1.5).grid;
  EXPECT_TRUE(grid.mirrors(1));
  EXPECT_FALSE(grid.is_uniform());
  EXPECT_THROW((void)grid.width(1), InternalError);
  EXPECT_NEAR(grid.width(0), 0.5, 1e-15);
  EXPECT_LT(grid.least_width(1), 1);
  EXPECT_GT(grid.greatest_width(1), 1);
  map_velocity(grid, 0, 1.5, 0.1);
  EXPECT_FALSE(grid.mirrors(1));
}

}  // namespace
}  // namespace quintet::kinetics
