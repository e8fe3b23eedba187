#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/observables/thermo.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"
#include "tests/verification/particles/dynamics/every_integrator.hpp"

using namespace quintet;

namespace {

constexpr double femtosecond = 1e-3;

void run(Simulation& s, Integrator& integrator, int steps) {
  s.system.update_forces(s.exec);
  for (int step = 0; step < steps; ++step) integrator.step(s.exec, s.system, step);
}

/// Largest deviation of the total energy over 0.4 ps.
double energy_error(double dt) {
  Simulation s(Comm::world(), argon(3), argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 80, 3);
  auto nve = make_integrator({}, {dt, 0}, 1, s.system);
  s.system.update_forces(s.exec);
  const double start = sample_thermo(s.exec, s.system, *nve, 0, dt).total;
  double most = 0;
  for (int step = 0; step < std::lround(0.4 / dt); ++step) {
    nve->step(s.exec, s.system, step);
    most = std::max(most, std::abs(sample_thermo(s.exec, s.system, *nve, step, dt).total - start));
  }
  return most;
}

}  // namespace

TEST(VelocityVerlet, is_time_reversible) {
  Simulation s(Comm::world(), argon(3, 5.3, 0.1), argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 60, 3);
  const auto start = s.by_id();
  auto nve = make_integrator({}, {4 * femtosecond, 0}, 1, s.system);

  run(s, *nve, 100);
  const auto middle = s.by_id();
  scale_velocities(s.exec, s.atoms, {-1, -1, -1});
  run(s, *nve, 100);

  EXPECT_GT(largest_difference(middle.first, start.first), 0.3);
  EXPECT_LT(largest_difference(s.by_id().first, start.first), 1e-11);
}

TEST(VelocityVerlet, has_an_energy_error_of_second_order) {
  const double coarse = energy_error(8 * femtosecond), fine = energy_error(4 * femtosecond);

  EXPECT_GT(coarse, 1e-6);
  EXPECT_NEAR(coarse / fine, 4, 0.5);
}

TEST(VelocityVerlet, conserves_momentum) {
  Simulation s(Comm::world(), argon(3, 5.3, 0.1), argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 60, 3);
  auto nve = make_integrator({}, {4 * femtosecond, 0}, 1, s.system);

  run(s, *nve, 100);

  auto sums = momentum_and_mass(s.exec, s.atoms);
  s.domain.comm().reduce(std::span<double>(sums), Comm::Reduction::sum);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(sums[k], 0, 1e-9);
}

class AnyEnsemble : public ::testing::TestWithParam<IntegratorOptions> {};

TEST_P(AnyEnsemble, gives_the_same_trajectory_on_any_number_of_ranks) {
  Simulation shared(Comm::world(), argon(3, 5.3, 0.1), argon_forces());
  Simulation alone(Comm::self(), argon(3, 5.3, 0.1), argon_forces());

  for (Simulation* s : {&shared, &alone}) {
    draw_velocities(s->exec, s->domain.comm(), s->atoms, 60, 3);
    auto integrator = make_integrator(GetParam(), {4 * femtosecond, 50}, 5, s->system);
    run(*s, *integrator, 50);
  }

  EXPECT_LT(largest_difference(shared.by_id().first, alone.by_id().first), 1e-10);
  EXPECT_LT(largest_difference(shared.by_id().second, alone.by_id().second), 1e-9);
  EXPECT_NEAR(shared.system.total.energy, alone.system.total.energy, 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Dynamics, AnyEnsemble, ::testing::ValuesIn(every_integrator(60)), name_of);

TEST(Thermo, agrees_with_its_definitions) {
  Simulation s(Comm::world(), gas(100, 20), std::make_unique<NoForces>());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 300, 3);
  auto nve = make_integrator({}, {femtosecond, 0}, 1, s.system);
  s.system.update_forces(s.exec);

  const auto t = sample_thermo(s.exec, s.system, *nve, 7, femtosecond);

  EXPECT_NEAR(t.temperature, 300, 1e-9);
  EXPECT_NEAR(t.time, 0.007, 1e-15);
  EXPECT_NEAR(t.pressure, 99 * 8.617333262e-5 * 300 / 8000 * 1.602176634e6, 1e-6);  // (N - 1) kT / V
  EXPECT_NEAR(t.density, (66 * 39.948 + 34 * 20.18) / 8000 * 1.66053906660, 1e-9);
  const auto of_table = [&](const std::string& name) {
    for (const auto& column : thermo_columns())
      if (column.name == name) return column.value(t);
    return std::nan("");
  };
  EXPECT_EQ(thermo_columns().size(), 25u);
  EXPECT_EQ(of_table("step"), 7);
  EXPECT_EQ(of_table("conserved"), t.conserved);
  EXPECT_EQ(of_table("pressure_xz"), t.stress[4]);
  EXPECT_EQ(of_table("cell_bz"), t.cell[5]);
}

TEST(Thermo, the_virial_is_minus_the_strain_derivative_of_the_energy) {
  // dE/d(strain) of the perfect crystal by central differences against the reported pressure at rest.
  const auto energy = [](double lattice) {
    Simulation s(Comm::world(), argon(2, lattice), argon_forces());
    s.system.update_forces(s.exec);
    return s.system.total.energy;
  };
  Simulation s(Comm::world(), argon(2, 5.2), argon_forces());
  auto nve = make_integrator({}, {femtosecond, 0}, 1, s.system);
  s.system.update_forces(s.exec);
  const double h = 1e-4, volume = std::pow(2 * 5.2, 3);

  const double d_energy = (energy(5.2 * (1 + h)) - energy(5.2 * (1 - h))) / (2 * h);

  EXPECT_NEAR(sample_thermo(s.exec, s.system, *nve, 0, 1).pressure, -d_energy / (3 * volume) * 1.602176634e6,
              0.1);
}

TEST(ParticleSystem, names_the_atom_whose_force_is_not_finite) {
  auto configuration = argon(2);
  configuration.positions[17] = configuration.positions[16];
  Simulation s(Comm::world(), configuration, argon_forces());

  try {
    s.system.update_forces(s.exec);
    FAIL() << "two atoms at one place went unnoticed";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("minimise"), std::string::npos) << error.what();
  }
}
