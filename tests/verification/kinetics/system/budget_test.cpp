#include "physics/kinetics/space/budget.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"

/// What changed a species is counted to the last digit, whatever the time step.
namespace quintet::kinetics {
namespace {

using std::numbers::pi;

struct Setting {
  int vdim = 2;
  bool walls = false, collisions = false;
  FieldModel field = FieldModel::maxwell;
  bool emitting = false;  ///< other walls
  int order = 2;
};

Species make_species(const Setting& setting, double charge, double mass) {
  Species s;
  s.name = charge < 0 ? "electrons" : "ions";
  s.charge = charge;
  s.mass = mass;
  s.grid.vdim = setting.vdim;
  s.grid.upper[0] = 2 * pi;
  s.grid.cells[0] = 6;
  s.grid.periodic[0] = !setting.walls;
  // One wall turns electrons round, which needs whole velocities, the other takes both.
  if (setting.walls)
    s.boundary[0] = {charge < 0 ? Boundary::reflecting : Boundary::fixed, Boundary::absorbing};
  if (setting.emitting) {
    s.boundary[0] = {Boundary::absorbing, charge < 0 ? Boundary::open : Boundary::reflecting};
    if (charge < 0)
      s.emission[0][0] = Emission{.thermal_speed = 0.8,
                                  .flux = [](double t) { return 0.1 + t; },
                                  .yield = {0.2, 0.1},
                                  .reflection = 0.3};
  }
  for (int d = 1; d <= setting.vdim; ++d) {
    s.grid.lower[d] = -7 / std::sqrt(mass);
    s.grid.upper[d] = 7 / std::sqrt(mass);
    s.grid.cells[d] = 14;
  }
  return s;
}

double maxwellian(std::span<const double> z, int vdim, double mass, double drift) {
  double f = 1;
  for (int d = 1; d <= vdim; ++d) {
    const double v = z[d] - drift / d;
    f *= std::exp(-0.5 * mass * v * v) * std::sqrt(mass / (2 * pi));
  }
  return f;
}

SystemOptions make_options(const Setting& setting) {
  SystemOptions options;
  options.field = setting.field;
  if (setting.walls) {
    options.maxwell.boundary[0] = {FieldBoundary::conductor, FieldBoundary::conductor};
    options.poisson.boundary[0] = {PoissonOptions::Wall::dirichlet, PoissonOptions::Wall::dirichlet};
  }
  if (setting.collisions) options.collisions.emplace().frequency = {{0.1, 0.2}, {0.05, 0.1}};
  options.external_field = [](double t, const ConfField& out) {
    Kokkos::deep_copy(out, 0.0);
    for (std::size_t conf = 0; conf < out.extent(0); ++conf) {
      out(conf, field_ex, 0) = 0.2 * std::cos(t), out(conf, field_ey, 1) = 0.1;
      out(conf, field_bz, 0) = 0.7, out(conf, field_bz, 1) = 0.1;
    }
  };
  options.external_field_changes = true;
  options.acceleration = [](int s, double, const ConfField& out) {
    Kokkos::deep_copy(out, 0.0);
    for (std::size_t conf = 0; conf < out.extent(0) && s == 1; ++conf) out(conf, 0, 0) = 0.05;
  };
  return options;
}

struct Change {
  Amount now, first;
  Budget budget;
};

std::array<Change, 2> run(const Comm& comm, const Setting& setting) {
  const Exec exec;
  const PhaseBasis basis(1, setting.vdim, setting.order, Family::serendipity);
  VlasovSystem system(comm, basis, {make_species(setting, -1, 1), make_species(setting, 1, 4)},
                      make_options(setting));
  for (int s = 0; s < 2; ++s) {
    const double mass = system.species()[s].mass;
    project_phase(
        basis,
        [&](std::span<const double> z) {
          return (1 + 0.2 * std::cos(z[0])) * maxwellian(z, setting.vdim, mass, s == 0 ? 0.3 : 0);
        },
        system.f(s), "f");
  }
  SystemOptions::Source source;
  source.species = 1;
  source.shape = Distribution("source", system.f(1).block, basis.size());
  project_phase(
      basis, [&](std::span<const double> z) { return 0.1 * maxwellian(z, setting.vdim, 4, 0.5); },
      source.shape, "source");
  source.amplitude = [](double t) { return 1 + std::sin(3 * t); };
  system.add_source(source);
  system.start(exec, 0);
  const auto amounts = [&](const Sample& sample, std::size_t s) {
    const double mass = system.species()[s].mass;
    const auto& of = sample.species[s];
    return Amount{of.m0, {mass * of.m1[0], mass * of.m1[1], mass * of.m1[2]}, 0.5 * mass * of.m2};
  };
  const Sample first = system.sample(exec);
  for (int step = 0; step < 8; ++step) system.advance(exec, system.stable_dt(exec));
  const Sample last = system.sample(exec);
  std::array<Change, 2> result;
  for (std::size_t s = 0; s < 2; ++s)
    result[s] = {amounts(last, s), amounts(first, s), last.species[s].budget};
  return result;
}

/// What the budget does not explain.
Amount rest(const Change& of) {
  const auto left = of.budget.left_altogether();
  Amount rest;
  rest.particles = of.now.particles - of.first.particles + left.particles - of.budget.source.particles;
  rest.energy =
      of.now.energy - of.first.energy + left.energy - of.budget.source.energy - of.budget.force.energy;
  for (std::size_t d = 0; d < 3; ++d)
    rest.momentum[d] = of.now.momentum[d] - of.first.momentum[d] + left.momentum[d] -
                       of.budget.force.momentum[d] - of.budget.source.momentum[d];
  return rest;
}

TEST(Budget, forces_and_sources_explain_all_changes) {
  for (const FieldModel field : {FieldModel::maxwell, FieldModel::poisson, FieldModel::none})
    for (const int vdim : {1, 2}) {
      const auto changes = run(Comm::world(), {.vdim = vdim, .field = field});
      for (const auto& change : changes) {
        const Amount left_over = rest(change);
        EXPECT_NEAR(left_over.particles, 0, 1e-11);
        EXPECT_NEAR(left_over.energy, 0, 1e-10) << vdim << "v";
        for (int d = 0; d < vdim; ++d) {
          EXPECT_NEAR(left_over.momentum[d], 0, 1e-10) << d;
          EXPECT_GT(std::abs(change.budget.force.momentum[d]), 1e-3);
        }
        EXPECT_GT(std::abs(change.budget.force.energy), 1e-4);
      }
      EXPECT_GT(changes[1].budget.source.particles, 0.01);
      EXPECT_EQ(changes[0].budget.source.particles, 0);
    }
}

/// Nothing is left over, at any wall, and each takes momentum along x and (but a mirror) y.
void expect_closed(const std::array<Change, 2>& changes, bool energy = true) {
  for (const auto& change : changes) {
    const Amount left_over = rest(change);
    EXPECT_NEAR(left_over.particles, 0, 1e-11);
    EXPECT_TRUE(!energy || std::abs(left_over.energy) < 1e-10) << left_over.energy;
    for (std::size_t d = 0; d < 2; ++d) EXPECT_NEAR(left_over.momentum[d], 0, 1e-10) << d;
    for (const Amount& wall : change.budget.left[0]) EXPECT_GT(std::abs(wall.momentum[0]), 0.01);
  }
}

TEST(Budget, walls_are_counted_one_by_one) {
  const auto changes = run(Comm::world(), {.walls = true, .field = FieldModel::poisson});
  expect_closed(changes);
  const auto &electrons = changes[0].budget.left[0], &ions = changes[1].budget.left[0];
  EXPECT_NEAR(electrons[0].momentum[1], 0, 1e-13);
  EXPECT_LT(electrons[0].momentum[0], -0.01);  // a mirror pushes into the domain
  EXPECT_GT(electrons[1].momentum[1], 1e-3);
  EXPECT_NEAR(electrons[0].particles, 0, 1e-13);  // turned round
  EXPECT_GT(electrons[1].particles, 0.01);
  EXPECT_GT(ions[1].particles, 1e-3);
  EXPECT_GT(std::abs(ions[0].particles), 1e-5);  // what comes in is fixed, what goes out is not
}

TEST(Budget, walls_that_copy_and_emit_are_counted_too) {
  const auto changes = run(Comm::world(), {.walls = true, .field = FieldModel::poisson, .emitting = true});
  expect_closed(changes);
  const Amount& emitted = changes[0].budget.emitted;
  EXPECT_GT(emitted.particles, 0.01);
  // The half of a Maxwellian at rest that comes in: int v^2 f dv/int v f dv = vth sqrt(pi/2), as this grid
  // has it.
  EXPECT_NEAR(emitted.momentum[0] / emitted.particles, 0.8 * std::sqrt(pi / 2), 0.01);
  EXPECT_NEAR(emitted.momentum[1], 0, 1e-12);
}

/// A basis without v^2 knows the momentum still.
TEST(Budget, momentum_through_walls_closes_at_order_one) {
  for (const bool emitting : {false, true})
    expect_closed(
        run(Comm::world(), {.walls = true, .field = FieldModel::poisson, .emitting = emitting, .order = 1}),
        false);
}

/// Collisions change each species, but not both together.
TEST(Budget, what_is_left_over_is_collisions) {
  const auto changes = run(Comm::world(), {.collisions = true});
  const Amount electrons = rest(changes[0]), ions = rest(changes[1]);
  EXPECT_NEAR(electrons.particles, 0, 1e-11);
  EXPECT_GT(std::abs(electrons.momentum[0]), 1e-3);
  EXPECT_NEAR(electrons.momentum[0] + ions.momentum[0], 0, 1e-10);
  EXPECT_NEAR(electrons.momentum[1] + ions.momentum[1], 0, 1e-10);
  EXPECT_NEAR(electrons.energy + ions.energy, 0, 1e-10);
}

TEST(Budget, is_the_same_on_any_number_of_ranks) {
  for (const bool emitting : {false, true}) {
    const Setting setting{.walls = true, .field = FieldModel::poisson, .emitting = emitting};
    const auto ours = run(Comm::world(), setting), whole = run(Comm::self(), setting);
    for (std::size_t s = 0; s < 2; ++s) {
      const auto a = std::bit_cast<BudgetNumbers>(ours[s].budget),
                 b = std::bit_cast<BudgetNumbers>(whole[s].budget);
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-11) << i;
    }
  }
}

}  // namespace
}  // namespace quintet::kinetics
