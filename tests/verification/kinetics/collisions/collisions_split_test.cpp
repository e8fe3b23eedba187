#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/system.hpp"
#include "tests/support/riemann.hpp"
#include "tests/verification/kinetics/collisions/collisions_case.hpp"

/// Collisions::advance() against what it must keep, against explicit steps, and in whole steps.
using namespace quintet;
using namespace quintet::kinetics;

namespace {

using Operator = CollisionOptions::Operator;
constexpr Operator operators[] = {Operator::lenard_bernstein, Operator::bgk};

void advance(CollisionRun& run, double dt) {
  std::array<std::vector<Distribution>, 3> work;
  for (auto& list : work)
    for (const auto& f : run.f) list.emplace_back("work", f.block, f.n_modes);
  run.collisions.advance(Exec(), run.time, dt, run.f, {&work[0], &work[1], &work[2]});
}

CollisionOptions split(Operator kind, CollisionOptions options) {
  options.kind = kind;
  options.split = true;
  return options;
}

/// Two hills that vary in x, empty at the ends of velocity space.
double hills(int cdim, std::span<const double> z) {
  double near = 0, far = 0;
  for (std::size_t d = cdim; d < z.size(); ++d) {
    near += std::pow(z[d] - 0.3, 2);
    far += std::pow(z[d] + 1.5, 2);
  }
  return (1 + 0.3 * std::sin(6 * z[0])) * (std::exp(-near) + 0.4 * std::exp(-2 * far));
}

/// A lumpy f; what it is after `n` calls that take it to `end`.
Distribution after(const CollisionOptions& options, double end, int n, bool with_explicit_steps = false) {
  CollisionRun run(Comm::self(), {1, 1, 2, Family::serendipity}, {collision_grid(1, 1, {14, 1, 1})}, options);
  run.project(0, [](auto z) { return lumpy(1, z); });
  for (int i = 0; i < n; ++i)
    if (with_explicit_steps)
      run.step(end / n);
    else
      advance(run, end / n);
  return run.f[0];
}

double difference(const Distribution& a, const Distribution& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.data.size(); ++i) most = std::max(most, std::abs(a.data(i) - b.data(i)));
  return most;
}

}  // namespace

TEST(SplitCollisions, keep_density_momentum_and_energy_at_any_step) {
  const PointFunction profile = [](std::span<const double> xt) { return 1 + 0.9 * std::sin(9 * xt[0]); };
  for (const auto kind : operators)
    for (const auto& c :
         {CollisionCase{1, 1, 2, Family::serendipity}, CollisionCase{1, 2, 2, Family::serendipity},
          CollisionCase{1, 1, 1, Family::hybrid}, CollisionCase{1, 1, 1, Family::serendipity}})
      for (const bool varying : {false, true})
        for (const double dt : {0.1, 10.0}) {
          auto options = split(kind, self_collisions(1.3));
          if (varying) options.profile = {{profile}};
          CollisionRun run(Comm::world(), c, {collision_grid(c.cdim, c.vdim, {16, 12, 1}, -6, 6)}, options);
          run.project(0, [c](auto z) { return hills(c.cdim, z); });
          const auto before = run.moments_of(0);
          advance(run, dt);
          const auto moments = run.moments_of(0);
          for (int conf = 0; conf < run.f[0].block.n_conf(); ++conf)
            for (int m = 0; m < c.vdim + 2; ++m)
              EXPECT_NEAR(moments(conf, m, 0), before(conf, m, 0),
                          2e-11 * std::abs(before(conf, c.vdim + 1, 0)))
                  << c << " dt " << dt << " moment " << m << " bgk " << (kind == Operator::bgk);
        }
}

TEST(SplitCollisions, between_species_keep_total_momentum_and_energy) {
  for (const auto kind : operators) {
    CollisionOptions options;
    options.frequency = {{0.5, 0.8}, {0.6, 0.3}};
    CollisionRun run(Comm::world(), {},
                     {collision_grid(1, 1, {24, 1, 1}, -6, 6), collision_grid(1, 1, {20, 1, 1})},
                     split(kind, options), {}, {1, 3});
    const auto bell = [](double v, double u, double square) {
      return std::exp(-(v - u) * (v - u) / (2 * square));
    };
    run.project(0, [&](auto z) { return (1 + 0.1 * std::sin(6.283185307 * z[0])) * bell(z[1], 0.5, 1); });
    run.project(1, [&](auto z) { return bell(z[1], -0.2, 0.3); });
    const auto a0 = run.moments_of(0), b0 = run.moments_of(1);
    advance(run, 20);
    const auto a = run.moments_of(0), b = run.moments_of(1);
    for (int m = 1; m < 3; ++m) {
      EXPECT_NEAR(a(0, m, 0) + 3 * b(0, m, 0), a0(0, m, 0) + 3 * b0(0, m, 0), 1e-11) << m;
      EXPECT_GT(std::abs(a(0, m, 0) - a0(0, m, 0)), 0.01) << m;
    }
    EXPECT_NEAR(a(0, 1, 0) / a(0, 0, 0), b(0, 1, 0) / b(0, 0, 0), 2e-3);
  }
}

TEST(SplitCollisions, are_what_small_explicit_steps_add_up_to) {
  for (const auto kind : operators) {
    const auto options = split(kind, self_collisions(1));
    const auto reference = after(options, 0.2, 1000, true);
    const auto once = difference(after(options, 0.2, 1), reference);
    if (kind == Operator::bgk) {
      EXPECT_LT(once, 1e-9);  // exact in time
      EXPECT_LT(difference(after(options, 0.2, 7), reference), 1e-9);
      continue;
    }
    const double coarse = difference(after(options, 0.2, 4), reference),
                 fine = difference(after(options, 0.2, 8), reference),
                 finer = difference(after(options, 0.2, 16), reference);
    EXPECT_LT(once, 2e-3);
    EXPECT_GT(std::log2(fine / finer), 1.7) << once << ' ' << coarse << ' ' << fine << ' ' << finer;
  }
}

TEST(SplitCollisions, of_many_collision_times_end_where_explicit_steps_do) {
  for (const auto kind : operators) {
    const auto options = split(kind, self_collisions(1));
    EXPECT_LT(difference(after(options, 40, 1), after(options, 40, 8000, true)), 1e-5)
        << (kind == Operator::bgk);
  }
}

namespace {

/// A Langmuir wave with collisions of frequency nu: its field energy at time 2 with `n` steps.
double wave_energy(Operator kind, double nu, int n, bool is_split) {
  Species electrons;
  electrons.name = "electrons";
  auto& grid = electrons.grid;
  grid.lower = {0, -6};
  grid.upper = {4 * std::numbers::pi, 6};
  grid.cells = {8, 16, 1, 1, 1, 1};
  grid.periodic[0] = true;
  SystemOptions options;
  options.field = FieldModel::poisson;
  options.background_charge = 1;
  options.collisions = self_collisions(nu);
  options.collisions->kind = kind;
  options.collisions->split = is_split;
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  VlasovSystem system(Comm::self(), basis, {electrons}, options);
  MaxwellianProfile profile;
  profile.density = [](auto x) { return 1 + 0.1 * std::cos(0.5 * x[0]); };
  profile.drift[0] = [](auto) { return 0.0; };
  profile.thermal_speed[0] = [](auto) { return 1.0; };
  add_maxwellian(system.decomposition(), basis, profile, true, system.f(0), "f");
  system.start(Exec(), 0);
  for (int i = 0; i < n; ++i) system.advance(Exec(), 2.0 / n);
  return system.sample(Exec()).field_energy;
}

/// A shock tube of gas, nu collisions a unit of time: mean error of the density at time 0.2; and the steps.
std::pair<double, int> shock_tube_error(Operator kind, double nu, int n_cells) {
  Species gas;
  gas.name = "gas";
  gas.charge = 0;
  auto& grid = gas.grid;
  grid.lower = {-1, -6};
  grid.upper = {1, 6};
  grid.cells = {n_cells, 24, 1, 1, 1, 1};
  gas.boundary[0] = {Boundary::open, Boundary::open};
  SystemOptions options;
  options.field = FieldModel::none;
  options.collisions = self_collisions(nu);
  options.collisions->kind = kind;
  options.collisions->split = true;
  const PhaseBasis basis(1, 1, 1, Family::hybrid);
  VlasovSystem system(Comm::self(), basis, {gas}, options);
  MaxwellianProfile profile;
  profile.density = [](auto x) { return x[0] < 0 ? 1 : 0.125; };
  profile.drift[0] = [](auto) { return 0.0; };
  profile.thermal_speed[0] = [](auto x) { return std::sqrt(x[0] < 0 ? 1 : 0.8); };
  add_maxwellian(system.decomposition(), basis, profile, true, system.f(0), "f");
  system.start(Exec(), 0);
  int steps = 0;
  for (; system.time() < 0.2 - 1e-9; ++steps)
    system.advance(Exec(), std::min(system.stable_dt(Exec()), 0.2 - system.time()));
  const auto density = system.moment(Exec(), 0, Moment::m0);
  const RiemannSolution exact({1, 0, 1}, {0.125, 0, 0.1}, adiabatic_index(1));
  double error = 0;
  for (int i = 0; i < n_cells; ++i) {
    double mean = 0;
    for (int k = 0; k < 50; ++k)
      mean += exact.at((grid.centre(0, i) + ((k + 0.5) / 50 - 0.5) * grid.width(0)) / 0.2).density / 50;
    error += std::abs(density(i, 0, 0) / std::sqrt(2.0) - mean) / n_cells;
  }
  return {error, steps};
}

}  // namespace

TEST(SplitSteps, are_of_second_order_and_agree_with_explicit_ones) {
  for (const auto kind : operators) {
    const double nu = kind == Operator::bgk ? 2 : 0.2;  // all of the operator's rates resolved
    const double coarse = wave_energy(kind, nu, 400, true), fine = wave_energy(kind, nu, 800, true),
                 finer = wave_energy(kind, nu, 1600, true);
    EXPECT_NEAR(finer, wave_energy(kind, nu, 1600, false), 1e-4 * finer);
    EXPECT_GT(std::log2(std::abs((coarse - fine) / (fine - finer))), 1.7)
        << coarse << ' ' << fine << ' ' << finer;
  }
}

TEST(SplitSteps, reach_the_limit_of_a_gas_at_the_steps_of_its_transport) {
  for (const auto kind : operators) {
    const double nu = kind == Operator::bgk ? 1e6 : 500;
    const auto [error, steps] = shock_tube_error(kind, nu, 32);
    const auto [finer, more_steps] = shock_tube_error(kind, nu, 64);
    EXPECT_LT(finer, 0.015) << (kind == Operator::bgk);
    EXPECT_LT(finer, 0.65 * error) << (kind == Operator::bgk);
    // dt = 0.9/5 dx/6, whatever nu is.
    EXPECT_LE(steps, 120);
    EXPECT_LE(more_steps, 240);
  }
}
