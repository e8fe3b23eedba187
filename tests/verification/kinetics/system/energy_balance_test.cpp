#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"

/// Sample::energy_balance() stays, but for the time step, while currents, biased walls and open ends change
/// the energy.
namespace quintet::kinetics {
namespace {

using std::numbers::pi;

Species electrons(bool walls) {
  Species s;
  s.name = "electrons";
  s.grid.upper[0] = 4;
  s.grid.cells[0] = 6;
  s.grid.periodic[0] = !walls;
  s.grid.vdim = 2;
  for (std::size_t d : {1, 2}) s.grid.lower[d] = -6, s.grid.upper[d] = 6, s.grid.cells[d] = 8;
  if (walls) s.boundary[0] = {Boundary::absorbing, Boundary::open};
  return s;
}

struct Result {
  Sample first, last;
  [[nodiscard]] double drift() const { return last.energy_balance() - first.energy_balance(); }
};

Result run(const SystemOptions& options, double dt, const Comm& comm = Comm::world()) {
  const Exec exec;
  const bool walls = options.poisson.boundary[0][0] != PoissonOptions::Wall::periodic ||
                     options.maxwell.boundary[0][0] != FieldBoundary::periodic;
  VlasovSystem system(comm, PhaseBasis(1, 2, 2, Family::serendipity), {electrons(walls)}, options);
  project_phase(
      system.basis(),
      [](std::span<const double> z) {
        const double u = z[1] - 0.3, v = z[2] + 0.2;
        return (1 + 0.3 * std::sin(pi / 2 * z[0])) * std::exp(-0.5 * (u * u + v * v)) / (2 * pi);
      },
      system.f(0), "f");
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

TEST(EnergyBalance, of_a_bias_begins_with_the_energy_of_its_field) {
  auto options = biased(false);
  EXPECT_NEAR(run(options, 0.2).first.bias_energy, 0.5 * 0.7 * 2.5 * 2.5 / 4, 1e-12);
}

TEST(EnergyBalance, holds_the_work_of_a_given_current) {
  const auto result = run(driven(), 0.01);
  EXPECT_GT(std::abs(result.last.field_budget.current), 0.05);
  EXPECT_EQ(result.last.field_budget.left[0][0], 0);
  expect_third_order(driven(), result.last.field_budget.current);
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
  for (const auto& options : {biased(true), with_ends(FieldBoundary::open, FieldBoundary::fixed)}) {
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
