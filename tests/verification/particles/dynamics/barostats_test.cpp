#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/observables/thermo.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"
#include "tests/verification/particles/dynamics/statistics.hpp"

using namespace quintet;

TEST(CellRescaling, gives_an_ideal_gas_the_volumes_of_the_isobaric_ensemble) {
  // p(V) ~ V^N exp(-P V / kT): a gamma distribution of shape N + 1.
  const int n = 20;
  const double kt = 300 * units::boltzmann, pressure = (n + 1) * kt / 8000;
  Simulation s(Comm::self(), gas(n, 20), std::make_unique<NoForces>(), 4);
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 300, 3);
  IntegratorOptions options{.ensemble = Ensemble::npt, .temperature = 300, .friction = 20};
  options.barostat = {.pressure = pressure * units::ev_per_a3_to_bar,
                      .relaxation_time = 0.2,
                      .compressibility = 1 / (pressure * units::ev_per_a3_to_bar),
                      .thermostat = NptThermostat::langevin};
  auto npt = make_integrator(options, {0.004, 0}, 11, s.system);
  s.system.update_forces(s.exec);

  std::vector<double> fractions;
  for (int step = 0; step < 75000; ++step) {
    npt->step(s.exec, s.system, step);
    if ((step + 1) % 150 == 0) fractions.push_back(erlang_cdf(n + 1, pressure * s.atoms.box.volume() / kt));
  }

  EXPECT_LT(chi_square_uniform(fractions), 27.9);
}

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
  std::vector<double> pressure[3];
  double worst = 0;
  for (int step = 0; step < 12000; ++step) {
    npt->step(s.exec, s.system, step);
    const auto now = sample_thermo(s.exec, s.system, *npt, step + 1, dt);
    worst = std::max(worst, std::abs(now.conserved - start.conserved));
    if (step >= 2000)
      for (int k = 0; k < 3; ++k) pressure[k].push_back(now.stress[k]);
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
  const Mat3 cell = end.cell;
  const bool cubic = std::abs(cell[0] - cell[4]) + std::abs(cell[0] - cell[8]) < 1e-9;
  EXPECT_EQ(cubic, GetParam().coupling == CellCoupling::isotropic);
}

INSTANTIATE_TEST_SUITE_P(CellRescaling, Cell,
                         ::testing::Values(BarostatOptions{.pressure = 500, .relaxation_time = 0.5},
                                           BarostatOptions{.pressure = 500,
                                                           .relaxation_time = 0.5,
                                                           .coupling = CellCoupling::anisotropic,
                                                           .thermostat = NptThermostat::langevin}),
                         [](const auto& info) {
                           return info.param.coupling == CellCoupling::isotropic ? "isotropic_rescaling"
                                                                                 : "anisotropic_langevin";
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
