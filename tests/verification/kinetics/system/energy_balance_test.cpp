#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <numbers>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"

/// Sample::energy_balance() stays, but for the time step, while currents, biased walls and open ends change
/// the energy.
namespace quintet::kinetics {
namespace {

using std::numbers::pi;

/// x of the given cells up to 4, and y, periodic, if there are any.
Species electrons(bool walls, int nx = 6, int ny = 0) {
  Species s;
  s.name = "electrons";
  s.grid.upper[0] = 4;
  s.grid.cells[0] = nx;
  s.grid.periodic[0] = !walls;
  s.grid.vdim = 2;
  s.grid.cdim = ny > 0 ? 2 : 1;
  if (ny > 0) s.grid.upper[1] = 4, s.grid.cells[1] = ny, s.grid.periodic[1] = true;
  for (const int v : {0, 1}) {
    const std::size_t d = s.grid.cdim + v;
    s.grid.lower[d] = -6, s.grid.upper[d] = 6, s.grid.cells[d] = 8;
  }
  if (walls) s.boundary[0] = {Boundary::absorbing, Boundary::open};
  return s;
}

struct Result {
  Sample first, last;
  [[nodiscard]] double drift() const { return last.energy_balance() - first.energy_balance(); }
};

/// A source of charge that drifts and varies in x.
void add_source(VlasovSystem& system) {
  SystemOptions::Source source;
  source.shape = Distribution("source", system.f(0).block, system.basis().size());
  project_phase(
      system.basis(),
      [](std::span<const double> z) { return (1 + z[0]) * std::exp(-0.5 * (z[1] * z[1] + z[2] * z[2])); },
      source.shape, "source");
  source.amplitude = [](double t) { return 0.3 + t; };
  system.add_source(source);
}

Result run(const SystemOptions& options, double dt, const Species& species, const Comm& comm, bool source) {
  const Exec exec;
  const bool walls = !species.grid.periodic[0];
  VlasovSystem system(comm, PhaseBasis(species.grid.cdim, 2, 2, Family::serendipity), {species}, options);
  project_phase(
      system.basis(),
      [&](std::span<const double> z) {
        const std::size_t cdim = species.grid.cdim;
        const double u = z[cdim] - 0.3, v = z[cdim + 1] + 0.2, y = cdim > 1 ? std::cos(pi / 2 * z[1]) : 0;
        return (1 + 0.3 * std::sin(pi / 2 * z[0]) + 0.2 * y) * std::exp(-0.5 * (u * u + v * v)) / (2 * pi);
      },
      system.f(0), "f");
  if (source) add_source(system);
  if (options.field == FieldModel::maxwell) {
    const bool mirror = options.maxwell.boundary[0][0] == FieldBoundary::conductor;
    const auto set = [&](int component, double mean, double amplitude) {
      project_conf(
          system.f(0).block, system.basis().conf(),
          [&](std::span<const double> x) {
            return mean + amplitude * std::sin(pi / (walls ? 8 : 2) * x[0] + (mirror ? 0 : 1));
          },
          system.field(), component, "field");
    };
    set(field_ex, 0.5, 0);
    set(field_ey, 0, 0.5);
    set(field_bz, 0.4, 0);
  }
  system.start(exec, 0);
  Result result;
  result.first = system.sample(exec);
  for (int step = 0; step < std::lround(0.2 / dt); ++step) system.advance(exec, dt);
  result.last = system.sample(exec);
  return result;
}

Result run(const SystemOptions& options, double dt, const Comm& comm = Comm::world()) {
  return run(options, dt,
             electrons(options.poisson.boundary[0][0] != PoissonOptions::Wall::periodic ||
                       options.maxwell.boundary[0][0] != FieldBoundary::periodic),
             comm, false);
}

SystemOptions biased(bool changing) {
  SystemOptions options;
  options.field = FieldModel::poisson;
  options.poisson.epsilon0 = 0.7;
  options.background_charge = 1;
  options.poisson.boundary[0] = {PoissonOptions::Wall::dirichlet, PoissonOptions::Wall::dirichlet};
  options.poisson.value[0] = {0.5, 3};
  if (changing)
    options.wall_values = [](double t) {
      std::array<std::array<double, 2>, 3> value{};
      value[0] = {0.5 - t, 3 * std::cos(8 * t)};
      return value;
    };
  return options;
}

SystemOptions driven() {
  SystemOptions options;
  options.maxwell.epsilon0 = 0.7;
  options.maxwell.mu0 = 0.8;
  options.external_current = [](double t, const ConfField& out) {
    Kokkos::deep_copy(out, 0.0);
    for (std::size_t conf = 0; conf < out.extent(0); ++conf)
      out(conf, 0, 0) = 0.6, out(conf, 1, 0) = std::sin(4 * t), out(conf, 2, 0) = 0.3;
  };
  return options;
}

SystemOptions with_ends(FieldBoundary lower, FieldBoundary upper) {
  auto options = driven();
  options.maxwell.boundary[0] = {lower, upper};
  return options;
}

/// The balance closes to third order in the step, and would not without what is tested.
void expect_third_order(const SystemOptions& options, double unaccounted) {
  const auto coarse = run(options, 0.01), fine = run(options, 0.005);
  EXPECT_LT(std::abs(coarse.drift()), 1e-4 * std::abs(unaccounted));
  EXPECT_GT(std::abs(coarse.drift()), 6 * std::abs(fine.drift()))
      << coarse.drift() << " -> " << fine.drift() << ", of " << coarse.first.energy();
}

/// Largest stable step of electrons that drift by 0.3 in no field yet, with a given current along x.
double stable_step(const std::function<double(double t)>& along_x) {
  SystemOptions options;
  if (along_x)
    options.external_current = [&](double t, const ConfField& out) {
      Kokkos::deep_copy(out, 0.0);
      for (std::size_t conf = 0; conf < out.extent(0); ++conf)
        out(conf, 0, 0) = std::numbers::sqrt2 * along_x(t);
    };
  const Exec exec;
  VlasovSystem system(Comm::world(), PhaseBasis(1, 2, 2, Family::serendipity), {electrons(false)}, options);
  project_phase(
      system.basis(),
      [](std::span<const double> z) {
        return std::exp(-0.5 * (std::pow(z[1] - 0.3, 2) + z[2] * z[2])) / (2 * pi);
      },
      system.f(0), "f");
  system.start(exec, 0);
  return system.stable_dt(exec);
}

TEST(EnergyBalance, a_step_bears_the_field_that_a_given_current_makes_in_it) {
  constexpr double order_factor = 5, width = 12.0 / 8, j = 1e4;
  const double plain = stable_step({}), compensated = stable_step([](double) { return 0.3; });
  const double frequency = SystemOptions().cfl / (order_factor * compensated);
  EXPECT_GE(compensated, plain);

  const double dt = stable_step([&](double) { return j; });

  EXPECT_LT(dt, 0.5 * plain);
  // E = j dt/epsilon0 at its end: dt (|v|/dx + |E|/dv) is just what is stable.
  EXPECT_NEAR(order_factor * dt * (frequency + j * dt / width), 1, 0.005);
  // A current that has only begun to rise counts, too.
  EXPECT_LT(stable_step([&](double t) { return 1e3 * j * t; }), 0.5 * plain);
}

TEST(EnergyBalance, holds_the_work_of_a_bias) {
  for (const bool changing : {false, true}) {
    const auto options = biased(changing);
    const auto result = run(options, 0.01);
    const auto &last = result.last, &first = result.first;
    // The bias is all that is given: its work on particles and what its own field took.
    const double work = last.species[0].budget.given_work + last.bias_energy - first.bias_energy;
    EXPECT_GT(std::abs(work), 0.05);
    expect_third_order(options, work);
  }
}

/// At a neumann wall with a slope, beside one that holds phi.
SystemOptions sloped(int side, bool changing) {
  auto options = biased(false);
  options.poisson.boundary[0][side] = PoissonOptions::Wall::neumann;
  options.poisson.value[0] = {0.5, -0.8};
  if (changing)
    options.wall_values = [](double t) {
      std::array<std::array<double, 2>, 3> value{};
      value[0] = {0.5 + 2 * t, -0.8 * std::cos(8 * t)};
      return value;
    };
  return options;
}

/// The balance closes to third order in the step, and would not without `part` of it.
template <class Part>
void expect_third_order(const SystemOptions& options, const Species& species, bool source, const Part& part) {
  const auto coarse = run(options, 0.01, species, Comm::world(), source),
             fine = run(options, 0.005, species, Comm::world(), source);
  EXPECT_GT(std::abs(part(coarse)), 1e-3);
  EXPECT_LT(std::abs(coarse.drift()), 1e-3 * std::abs(part(coarse)));
  EXPECT_GT(std::abs(coarse.drift()), 6 * std::abs(fine.drift())) << coarse.drift() << " -> " << fine.drift();
}

TEST(EnergyBalance, holds_what_neumann_walls_with_slopes_and_charge_that_crosses_them_bring) {
  for (const int side : {0, 1})
    for (const bool changing : {false, true})
      expect_third_order(sloped(side, changing), electrons(true), false,
                         [&](const Result& result) { return result.last.field_budget.left[0][side]; });
}

TEST(EnergyBalance, holds_them_where_the_wall_is_a_line) {
  expect_third_order(sloped(0, false), electrons(true, 3, 3), false,
                     [](const Result& result) { return result.last.field_budget.left[0][0]; });
}

TEST(EnergyBalance, holds_slopes_all_round) {
  auto species = electrons(true);
  species.boundary[0] = {Boundary::reflecting, Boundary::reflecting};
  auto options = sloped(0, true);
  options.poisson.boundary[0][1] = PoissonOptions::Wall::neumann;
  options.wall_values = [](double t) {
    std::array<std::array<double, 2>, 3> value{};
    value[0] = {std::cos(8 * t), -std::cos(8 * t)};
    return value;
  };
  expect_third_order(options, species, false,
                     [](const Result& result) { return result.last.species[0].budget.given_work; });
}

TEST(EnergyBalance, holds_the_charge_that_sources_bring) {
  expect_third_order(biased(true), electrons(true), true,
                     [](const Result& result) { return result.last.field_budget.given; });
}

TEST(EnergyBalance, of_a_bias_begins_with_the_energy_of_its_field) {
  auto options = biased(false);
  EXPECT_NEAR(run(options, 0.2).first.bias_energy, 0.5 * 0.7 * 2.5 * 2.5 / 4, 1e-12);
}

TEST(EnergyBalance, holds_the_work_of_a_given_current) {
  const auto result = run(driven(), 0.01);
  EXPECT_GT(std::abs(result.last.field_budget.given), 0.05);
  EXPECT_EQ(result.last.field_budget.left[0][0], 0);
  expect_third_order(driven(), result.last.field_budget.given);
}

TEST(EnergyBalance, holds_the_flux_through_open_and_fixed_ends) {
  for (const auto& options : {with_ends(FieldBoundary::open, FieldBoundary::fixed),
                              with_ends(FieldBoundary::conductor, FieldBoundary::open)}) {
    const auto left = run(options, 0.01).last.field_budget.left[0];
    EXPECT_GT(std::abs(left[1]), 0.005);
    if (options.maxwell.boundary[0][0] == FieldBoundary::conductor) {
      EXPECT_EQ(left[0], 0);
    }
    expect_third_order(options, left[1]);
  }
}

TEST(EnergyBalance, is_the_same_on_any_number_of_ranks) {
  for (const auto& options :
       {biased(true), sloped(1, true), with_ends(FieldBoundary::open, FieldBoundary::fixed)}) {
    const auto ours = run(options, 0.02), whole = run(options, 0.02, Comm::self());
    EXPECT_NEAR(ours.last.energy_balance(), whole.last.energy_balance(), 1e-11);
    EXPECT_NEAR(ours.last.bias_energy, whole.last.bias_energy, 1e-11);
    const auto a = std::bit_cast<FieldBudgetNumbers>(ours.last.field_budget),
               b = std::bit_cast<FieldBudgetNumbers>(whole.last.field_budget);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-11) << i;
  }
}

}  // namespace
}  // namespace quintet::kinetics
