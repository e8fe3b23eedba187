#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"
#include "tests/support/stretched_cells.hpp"

/// Walls that emit: what arrives, what comes out and what is lost, to round-off, and the half Maxwellian that
/// streams away from one.
namespace quintet::kinetics {
namespace {

/// v cells finer about 0 by sinh(stretch s).
Species particles(int cdim, int vdim, int nx, int nv, double mass = 1, double stretch = 0) {
  Species species;
  species.name = mass > 1 ? "ions" : "electrons";
  species.charge = mass > 1 ? 1 : -1;
  species.mass = mass;
  species.grid.cdim = cdim;
  species.grid.vdim = vdim;
  for (int d = 0; d < cdim + vdim; ++d) {
    const std::size_t i = d;
    species.grid.lower[i] = d < cdim ? 0 : -5;
    species.grid.upper[i] = d < cdim ? 1 : 5;
    species.grid.cells[i] = d < cdim ? nx : nv;
    species.grid.periodic[i] = d > 0 && d < cdim;
    if (d >= cdim && stretch != 0) map_velocity(species.grid, d - cdim, stretch);
  }
  species.boundary[0] = {Boundary::absorbing, Boundary::absorbing};
  return species;
}

void fill(VlasovSystem& system) {
  for (int s = 0; s < std::ssize(system.species()); ++s)
    project_phase(
        system.basis(),
        [&](std::span<const double> z) {
          double f = 1 + 0.3 * std::sin(6 * z[0] + s);
          const std::size_t cdim = system.basis().cdim();
          if (cdim > 1) f += 0.2 * std::cos(2 * std::numbers::pi * z[1]);
          for (std::size_t d = cdim; d < z.size(); ++d) f *= std::exp(-0.5 * std::pow(z[d] - 0.3, 2));
          return f;
        },
        system.f(s), "f");
}

Sample after(VlasovSystem& system, double end) {
  const Exec exec;
  system.start(exec, 0);
  while (system.time() < end * (1 - 1e-12))
    system.advance(exec, std::min(system.stable_dt(exec), end - system.time()));
  return system.sample(exec);
}

struct Case {
  int cdim, vdim, order;
  Family family;
  FieldModel field;
  double stretch = 0;
};

TEST(WallEmission, balances_to_round_off) {
  const double yield = 0.6, reflection = 0.25;
  for (const Case& c : {Case{1, 1, 2, Family::serendipity, FieldModel::poisson},
                        Case{1, 2, 2, Family::serendipity, FieldModel::none},
                        Case{1, 1, 1, Family::hybrid, FieldModel::poisson},
                        Case{2, 2, 2, Family::serendipity, FieldModel::none},
                        Case{1, 1, 3, Family::serendipity, FieldModel::none},
                        Case{1, 1, 2, Family::serendipity, FieldModel::poisson, 2},
                        Case{1, 2, 1, Family::hybrid, FieldModel::none, 1.5},
                        Case{2, 2, 2, Family::serendipity, FieldModel::none, 1.5}}) {
    auto electrons = particles(c.cdim, c.vdim, 4, 8, 1, c.stretch);
    for (auto& wall : electrons.emission[0])
      wall = Emission{.thermal_speed = 0.7, .flux = {}, .yield = {yield}, .reflection = reflection};
    SystemOptions options;
    options.field = c.field;
    options.background_charge = 1;
    if (c.field == FieldModel::poisson)
      options.poisson.boundary[0] = {PoissonOptions::Wall::dirichlet, PoissonOptions::Wall::dirichlet};
    VlasovSystem system(Comm::world(), PhaseBasis(c.cdim, c.vdim, c.order, c.family), {electrons}, options);
    fill(system);
    system.start(Exec(), 0);
    const double before = system.sample(Exec()).species[0].m0;
    const auto sample = after(system, 0.3);
    const auto& one = sample.species[0];
    const double lost = one.budget.left_altogether().particles;

    EXPECT_NEAR(one.m0 + lost, before, 1e-12 * before) << c.cdim << c.vdim << c.order;
    EXPECT_GT(lost, 0.03 * before);
    // Of those that arrive a part is mirrored, and `yield` come out anew.
    const double arrived = one.budget.emitted.particles / yield;
    EXPECT_NEAR(lost, (1 - reflection - yield) * arrived, 1e-12 * before) << c.cdim << c.vdim << c.order;
  }
}

TEST(WallEmission, of_one_species_follows_what_arrives_of_another) {
  auto electrons = particles(1, 1, 4, 8), ions = particles(1, 1, 4, 6, 20, 1.5);
  electrons.emission[0][1] = Emission{.thermal_speed = 0.5, .flux = {}, .yield = {0, 0.4}};
  SystemOptions options;
  options.field = FieldModel::none;
  VlasovSystem system(Comm::world(), PhaseBasis(1, 1, 2, Family::serendipity), {electrons, ions}, options);
  fill(system);
  const auto both = after(system, 0.3);

  ions.emission[0][1] = Emission{.flux = {}, .yield = {0, 1}};  // as many as arrive at this wall
  VlasovSystem counted(Comm::world(), PhaseBasis(1, 1, 2, Family::serendipity), {electrons, ions}, options);
  fill(counted);
  const auto arrived = after(counted, 0.3);
  // What ions emit again has no time to cross to the other wall and back.
  EXPECT_NEAR(both.species[0].budget.emitted.particles, 0.4 * arrived.species[1].budget.emitted.particles,
              1e-12);
  EXPECT_GT(both.species[0].budget.emitted.particles, 0.05);
  EXPECT_EQ(both.species[1].budget.emitted.particles, 0);
}

/// Error of the density at time 0.5 of what the wall x = 0 emits into nothing, with n cells each way.
double streaming_error(int n, double stretch = 0) {
  const double flux = 0.8, thermal_speed = 1.1, time = 0.5;
  auto electrons = particles(1, 1, n, 2 * n, 1, stretch);
  electrons.grid.upper[0] = 2;
  electrons.emission[0][0] =
      Emission{.thermal_speed = thermal_speed, .flux = [=](double) { return flux; }, .yield = {}};
  SystemOptions options;
  options.field = FieldModel::none;
  VlasovSystem system(Comm::world(), PhaseBasis(1, 1, 2, Family::serendipity), {electrons}, options);
  const auto sample = after(system, time);
  EXPECT_NEAR(sample.species[0].budget.emitted.particles, flux * time, 1e-12);
  EXPECT_NEAR(sample.species[0].m0 + sample.species[0].budget.left_altogether().particles, 0, 1e-12);
  // f = (flux/vth^2) exp(-v^2/(2 vth^2)) where x < v t; n by the integral over such v.
  const auto density = system.moment(Exec(), 0, Moment::m0);
  const auto block = system.f(0).block;
  double error = 0;
  for (int conf = 0; conf < block.n_conf(); ++conf) {
    double mean = 0;
    const double x = block.grid.centre(0, block.begin[0] + conf);
    for (int k = 0; k < 40; ++k) {
      const double at = x + ((k + 0.5) / 40 - 0.5) * block.grid.width(0);
      mean += flux / thermal_speed * std::sqrt(std::numbers::pi / 2) *
              std::erfc(at / (time * thermal_speed * std::numbers::sqrt2)) / 40;
    }
    error += std::abs(density(conf, 0, 0) / std::numbers::sqrt2 - mean) / n;
  }
  return system.decomposition().conf_comm().sum(error);
}

TEST(WallEmission, streams_away_as_a_half_maxwellian) {
  const double coarse = streaming_error(8), fine = streaming_error(16);
  EXPECT_LT(fine, 2e-3);
  EXPECT_GT(coarse / fine, 2.5) << coarse << " -> " << fine;
  EXPECT_LT(streaming_error(16, 1.5), fine);
}

TEST(WallEmission, agrees_on_any_number_of_ranks) {
  const auto run = [](const Comm& comm, const std::array<int, 6>& ranks) {
    auto electrons = particles(1, 2, 6, 8);
    for (auto& wall : electrons.emission[0])
      wall = Emission{.thermal_speed = 0.7, .flux = [](double t) { return 1 + t; }, .yield = {0.5}};
    SystemOptions options;
    options.field = FieldModel::none;
    options.ranks = ranks;
    VlasovSystem system(comm, PhaseBasis(1, 2, 2, Family::serendipity), {electrons}, options);
    fill(system);
    return after(system, 0.05).species[0];
  };
  const auto whole = run(Comm::self(), {});
  const int n = Comm::world().size();
  for (const auto& ranks : {std::array<int, 6>{n, 1, 1}, {1, n, 1}, {1, 1, n}}) {
    const auto part = run(Comm::world(), ranks);
    EXPECT_NEAR(part.m0, whole.m0, 1e-11);
    EXPECT_NEAR(part.budget.emitted.particles, whole.budget.emitted.particles, 1e-11);
    EXPECT_NEAR(part.budget.emitted.energy, whole.budget.emitted.energy, 1e-11);
    EXPECT_NEAR(part.l2, whole.l2, 1e-11);
  }
}

TEST(WallPotential, follows_its_formula_in_every_stage) {
  auto tracers = particles(1, 1, 4, 8);
  tracers.charge = 0;  // in vacuum phi is linear between the walls
  SystemOptions options;
  options.field = FieldModel::poisson;
  options.poisson.boundary[0] = {PoissonOptions::Wall::dirichlet, PoissonOptions::Wall::dirichlet};
  options.wall_values = [](double t) {
    std::array<std::array<double, 2>, 3> value{};
    value[0] = {0.5 - t, 2 + t * t};
    return value;
  };
  VlasovSystem system(Comm::world(), PhaseBasis(1, 1, 2, Family::serendipity), {tracers}, options);
  fill(system);
  system.start(Exec(), 0);
  EXPECT_NEAR(system.sample(Exec()).field_energy, 0.5 * 1.5 * 1.5, 1e-12);
  const double time = after(system, 0.1).time;
  EXPECT_NEAR(system.sample(Exec()).field_energy, 0.5 * std::pow(1.5 + time + time * time, 2), 1e-12);
}

}  // namespace
}  // namespace quintet::kinetics
