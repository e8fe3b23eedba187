#include <numbers>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/integrators.hpp"
#include "physics/particles/dynamics/thermostats/thermostats.hpp"
#include "physics/particles/observables/thermo.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"
#include "tests/verification/particles/dynamics/statistics.hpp"

using namespace quintet;

namespace {

/// F(K) of the canonical distribution of the kinetic energy, sampled every `every` steps: uniform if K is
/// canonical.
std::vector<double> canonical_fractions(Simulation& s, Integrator& integrator, double kt, int samples,
                                        int every) {
  std::vector<double> fractions;
  s.system.update_forces(s.exec);
  const int half_degrees = static_cast<int>(s.system.degrees_of_freedom) / 2;
  for (int step = 0; step < samples * every; ++step) {
    integrator.step(s.exec, s.system, step);
    if ((step + 1) % every == 0)
      fractions.push_back(erlang_cdf(half_degrees, total_kinetic_energy(s.exec, s.system) / kt));
  }
  return fractions;
}

}  // namespace

TEST(Langevin, gives_an_ideal_gas_the_canonical_kinetic_energy) {
  Simulation s(Comm::self(), gas(20, 30), std::make_unique<NoForces>());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 100, 3);
  auto langevin = make_integrator({.ensemble = Thermostat::langevin, .temperature = 300, .friction = 100},
                                  {0.005, 0}, 11, s.system);

  ASSERT_EQ(s.system.degrees_of_freedom, 60);
  EXPECT_LT(chi_square_uniform(canonical_fractions(s, *langevin, 300 * units::boltzmann, 1000, 10)), 27.9);
}

TEST(VelocityRescaling, gives_an_ideal_gas_the_canonical_kinetic_energy) {
  Simulation s(Comm::self(), gas(21, 30), std::make_unique<NoForces>());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 100, 3);
  auto svr = make_integrator(
      {.ensemble = Thermostat::velocity_rescaling, .temperature = 300, .relaxation_time = 0.02}, {0.005, 0},
      11, s.system);

  ASSERT_EQ(s.system.degrees_of_freedom, 60);
  EXPECT_LT(chi_square_uniform(canonical_fractions(s, *svr, 300 * units::boltzmann, 1000, 20)), 27.9);
}

TEST(NoseHoover, gives_a_liquid_the_canonical_mean_and_spread_of_kinetic_energy) {
  Simulation s(Comm::self(), argon(2, 5.9, 0.2), argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 150, 3);
  auto chain =
      make_integrator({.ensemble = Thermostat::nose_hoover, .temperature = 150}, {0.004, 0}, 11, s.system);
  s.system.update_forces(s.exec);

  std::vector<double> kinetic;
  for (int step = 0; step < 20000; ++step) {
    chain->step(s.exec, s.system, step);
    if (step >= 2000) kinetic.push_back(total_kinetic_energy(s.exec, s.system));
  }

  const double kt = 150 * units::boltzmann, n = s.system.degrees_of_freedom;
  const Moments k(kinetic);
  EXPECT_NEAR(k.mean, 0.5 * n * kt, 4 * k.error);
  EXPECT_LT(k.error, 0.01 * k.mean);
  EXPECT_NEAR(k.variance / (0.5 * n * kt * kt), 1, 0.15);
}

TEST(Baoab, samples_positions_of_an_oscillator_exactly_at_any_step) {
  const double omega = 10, mass = 39.948, stiffness = omega * omega * mass * units::mv2_to_ev;
  auto configuration = gas(150, 30, false);
  configuration.masses = {mass, mass};
  for (auto& x : configuration.positions) x = {15, 15, 15};
  Simulation s(Comm::self(), configuration, std::make_unique<Trap>(stiffness, 15.0), 10);
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 300, 3);
  auto langevin = make_integrator({.ensemble = Thermostat::langevin, .temperature = 300, .friction = 5},
                                  {1.5 / omega, 0}, 11, s.system);
  s.system.update_forces(s.exec);

  std::vector<double> potential;
  for (int step = 0; step < 2200; ++step) {
    langevin->step(s.exec, s.system, step);
    if (step >= 200) potential.push_back(s.system.total.energy);
  }

  // E_pot = 450 kT / 2; the velocity Verlet invariant measure would be off by 1 / (1 - (omega dt)^2 / 4)
  // = 2.3.
  const Moments e(potential);
  EXPECT_NEAR(e.mean, 225 * 300 * units::boltzmann, 4 * e.error);
  EXPECT_LT(e.error, 0.005 * e.mean);
}

class Bath : public ::testing::TestWithParam<ThermostatRow> {};

TEST_P(Bath, heats_the_crystal_and_accounts_for_the_heat) {
  Simulation s(Comm::self(), argon(3), argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 20, 3);
  const double dt = 0.004;
  auto integrator = make_integrator({.ensemble = GetParam().value, .temperature = 60, .friction = 5}, {dt, 0},
                                    11, s.system);
  s.system.update_forces(s.exec);

  const auto start = sample_thermo(s.exec, s.system, *integrator, 0, dt);
  double worst = 0, temperature = 0;
  for (int step = 0; step < 3000; ++step) {
    integrator->step(s.exec, s.system, step);
    const auto now = sample_thermo(s.exec, s.system, *integrator, step + 1, dt);
    worst = std::max(worst, std::abs(now.conserved - start.conserved));
    if (step >= 1500) temperature += now.temperature / 1500;
  }
  const auto end = sample_thermo(s.exec, s.system, *integrator, 3000, dt);

  EXPECT_GT(end.total - start.total, 0.5);
  EXPECT_LT(worst, 0.003);  // eV; the energy error of velocity Verlet at this step is as large
  EXPECT_NEAR(temperature, 60, 3);
}

INSTANTIATE_TEST_SUITE_P(Dynamics, Bath, ::testing::ValuesIn(thermostats()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Thermostats, one_without_a_row_is_an_error_of_ours) {
  Simulation s(Comm::self(), gas(20, 30), std::make_unique<NoForces>());
  const auto unknown = static_cast<Thermostat>(99);
  EXPECT_THROW((void)make_integrator({.ensemble = unknown, .temperature = 300}, {0.004, 0}, 11, s.system),
               InternalError);
  IntegratorOptions npt{.ensemble = Ensemble::npt, .temperature = 300};
  npt.barostat.thermostat = unknown;
  EXPECT_THROW((void)make_integrator(npt, {0.004, 0}, 11, s.system), InternalError);
  EXPECT_THROW((void)make_integrator({.ensemble = static_cast<Ensemble>(99)}, {0.004, 0}, 11, s.system),
               InternalError);
}

TEST(Ramp, takes_the_temperature_from_start_to_end) {
  Simulation s(Comm::self(), gas(1000, 60), std::make_unique<NoForces>(), 4);
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 100, 3);
  auto langevin = make_integrator(
      {.ensemble = Thermostat::langevin, .temperature = 100, .temperature_end = 500, .friction = 200},
      {0.002, 400}, 11, s.system);
  s.system.update_forces(s.exec);

  const auto temperature = [&] {
    return 2 * total_kinetic_energy(s.exec, s.system) / (s.system.degrees_of_freedom * units::boltzmann);
  };
  for (int step = 0; step < 200; ++step) langevin->step(s.exec, s.system, step);
  EXPECT_NEAR(temperature(), 300, 5 * 300 * std::sqrt(2.0 / 3000));
  for (int step = 200; step < 400; ++step) langevin->step(s.exec, s.system, step);
  EXPECT_NEAR(temperature(), 500, 5 * 500 * std::sqrt(2.0 / 3000));
}
