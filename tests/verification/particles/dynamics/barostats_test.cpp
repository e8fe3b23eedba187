#include <gtest/gtest.h>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/observables/thermo.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"
#include "tests/verification/particles/dynamics/every_integrator.hpp"
#include "tests/verification/particles/dynamics/statistics.hpp"

using namespace quintet;

class IdealGas : public ::testing::TestWithParam<IntegratorOptions> {};

TEST_P(IdealGas, has_the_volumes_and_kinetic_energies_of_the_isobaric_ensemble) {
  // With N_f degrees of freedom p(V) ~ V^(N_f / 3) exp(-P V / kT): a gamma distribution of shape N_f / 3 + 1.
  IntegratorOptions options = GetParam();
  const int degrees = 60, shape = degrees / 3 + 1;
  const double kt = 300 * units::boltzmann, pressure = shape * kt / 8000;
  options.friction = 20;
  options.relaxation_time = 0.05;
  options.barostat.pressure = pressure * units::ev_per_a3_to_bar;
  options.barostat.compressibility = 1 / options.barostat.pressure;
  options.barostat.relaxation_time = uses_mtk(options) ? 0.1 : 0.2;
  const bool moves_centre = options.barostat.thermostat == Thermostat::langevin;
  Simulation s(Comm::self(), gas(moves_centre ? 20 : 21, 20), std::make_unique<NoForces>(), 4);
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 300, 3);
  auto npt = make_integrator(options, {0.004, 0}, 11, s.system);
  ASSERT_EQ(s.system.degrees_of_freedom, degrees);
  s.system.update_forces(s.exec);

  std::vector<double> volumes, energies;
  for (int step = 0; step < 75000; ++step) {
    npt->step(s.exec, s.system, step);
    if ((step + 1) % 250 > 0) continue;
    volumes.push_back(erlang_cdf(shape, pressure * s.atoms.box.volume() / kt));
    energies.push_back(erlang_cdf(degrees / 2, total_kinetic_energy(s.exec, s.system) / kt));
  }

  EXPECT_LT(chi_square_uniform(volumes), 27.9);
  EXPECT_LT(chi_square_uniform(energies), 27.9);
}

std::vector<IntegratorOptions> every_npt() {
  auto all = every_integrator(300);
  std::erase_if(all, [](const auto& options) { return options.ensemble != Ensemble::npt; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Dynamics, IdealGas, ::testing::ValuesIn(every_npt()), name_of);

class Cell : public ::testing::TestWithParam<BarostatOptions> {};

TEST_P(Cell, of_a_crystal_finds_its_pressure_and_accounts_for_the_work) {
  Simulation s(Comm::self(), argon(3, 5.7), argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 80, 3);
  IntegratorOptions options{
      .ensemble = Ensemble::npt, .temperature = 40, .friction = 5, .barostat = GetParam()};
  const double dt = 0.004;
  auto npt = make_integrator(options, {dt, 0}, 11, s.system);
  s.system.update_forces(s.exec);

  const auto start = sample_thermo(s.exec, s.system, *npt, 0, dt);
  std::vector<double> pressure[3], temperature;
  double worst = 0;
  for (int step = 0; step < 12000; ++step) {
    npt->step(s.exec, s.system, step);
    const auto now = sample_thermo(s.exec, s.system, *npt, step + 1, dt);
    worst = std::max(worst, std::abs(now.conserved - start.conserved));
    if (step < 2000) continue;
    for (int k = 0; k < 3; ++k) pressure[k].push_back(now.stress[k]);
    temperature.push_back(now.temperature);
  }
  const auto end = sample_thermo(s.exec, s.system, *npt, 12000, dt);

  EXPECT_LT(end.volume, 0.97 * start.volume);
  EXPECT_GT(std::abs(end.total - start.total), 0.1);
  EXPECT_LT(worst, 0.01);  // eV
  for (int k = 0; k < 3; ++k) {
    const Moments p(pressure[k]);
    EXPECT_LT(p.error, 60);
    EXPECT_NEAR(p.mean, 500, 4 * p.error);
  }
  const Moments t(temperature);
  EXPECT_LT(t.error, 0.4);
  EXPECT_NEAR(t.mean, 40, 4 * t.error);
  const Mat3 cell = end.cell;
  const bool cubic = std::abs(cell[0] - cell[4]) + std::abs(cell[0] - cell[8]) < 1e-9;
  EXPECT_EQ(cubic, GetParam().coupling == CellCoupling::isotropic);
}

INSTANTIATE_TEST_SUITE_P(CellRescaling, Cell,
                         ::testing::Values(BarostatOptions{.pressure = 500, .relaxation_time = 0.5},
                                           BarostatOptions{.pressure = 500,
                                                           .relaxation_time = 0.5,
                                                           .coupling = CellCoupling::anisotropic,
                                                           .thermostat = Thermostat::langevin},
                                           BarostatOptions{.pressure = 500,
                                                           .relaxation_time = 0.5,
                                                           .thermostat = Thermostat::nose_hoover,
                                                           .method = BarostatMethod::cell_rescaling}),
                         [](const auto& info) {
                           return fmt::format("{}_{}", row_of(cell_couplings, info.param.coupling).name,
                                              ensemble_name(info.param.thermostat));
                         });

TEST(CellRescaling, stops_before_the_cell_explodes) {
  Simulation s(Comm::self(), argon(3, 4.6), argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 40, 3);
  IntegratorOptions options{.ensemble = Ensemble::npt, .temperature = 40};
  options.barostat.relaxation_time = 1e-4;
  auto npt = make_integrator(options, {0.004, 0}, 11, s.system);
  s.system.update_forces(s.exec);

  try {
    npt->step(s.exec, s.system, 42);
    FAIL() << "the cell may change by any amount";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("step 42"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("relaxation_time"), std::string::npos) << error.what();
  }
}
