#include "physics/particles/dynamics/flexible_cell.hpp"

#include <cmath>
#include <limits>

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

IntegratorOptions nph(CellCoupling coupling, double pressure = 300) {
  IntegratorOptions options{.ensemble = Ensemble::nph, .temperature = 40};
  options.barostat = {.pressure = pressure, .relaxation_time = 0.4, .coupling = coupling};
  return options;
}

/// Largest change of the conserved quantity in a time of 2 ps.
double worst_drift(IntegratorOptions options, double dt, const Comm& comm) {
  Simulation s(comm, argon(3, 5.4), argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 80, 3);
  auto integrator = make_integrator(options, {dt, 0}, 11, s.system);
  s.system.update_forces(s.exec);
  const double start = sample_thermo(s.exec, s.system, *integrator, 0, dt).conserved;
  double worst = 0;
  for (int step = 0; step < static_cast<int>(2 / dt + 0.5); ++step) {
    integrator->step(s.exec, s.system, step);
    worst = std::max(worst,
                     std::abs(sample_thermo(s.exec, s.system, *integrator, step + 1, dt).conserved - start));
  }
  return worst;
}

}  // namespace

TEST(FlexibleCell, exponential_of_a_matrix_is_that_of_its_series_and_of_its_halves) {
  const Mat3 m{0.3, -0.2, 0.1, -0.2, 0.05, 0.7, 0.1, 0.7, -0.4};
  const Mat3 whole = exponential(m);
  Mat3 half = m;
  for (double& x : half) x /= 2;
  const Mat3 twice = product(exponential(half), exponential(half));
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(whole[i], twice[i], 1e-14);
  EXPECT_NEAR(exponential({1, 0, 0, 0, 2, 0, 0, 0, -3})[4], std::exp(2.0), 1e-12);
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(std::isfinite(exponential({infinite, 0, 0, 0, 1, 0, 0, 0, 1})[0]));
}

TEST(FlexibleCell, energy_is_conserved_to_second_order_of_the_step) {
  for (const auto coupling : {CellCoupling::isotropic, CellCoupling::anisotropic, CellCoupling::triclinic}) {
    const double coarse = worst_drift(nph(coupling), 0.008, Comm::self()),
                 fine = worst_drift(nph(coupling), 0.004, Comm::self());
    EXPECT_NEAR(coarse / fine, 4, 0.8) << static_cast<int>(coupling);
    EXPECT_LT(fine, 2e-3);
  }
}

TEST(FlexibleCell, energy_is_conserved_under_a_pressure_of_each_component_and_with_chains) {
  auto options = nph(CellCoupling::triclinic);
  options.barostat.pressure_tensor = {500, 100, -200, 150, -100, 50};
  EXPECT_NEAR(worst_drift(options, 0.008, Comm::self()) / worst_drift(options, 0.004, Comm::self()), 4, 1.2);
  options.ensemble = Ensemble::npt;
  options.barostat.thermostat = Thermostat::nose_hoover;
  EXPECT_NEAR(worst_drift(options, 0.008, Comm::self()) / worst_drift(options, 0.004, Comm::self()), 4, 1.2);
}

TEST(FlexibleCell, isotropic_keeps_a_cubic_cell_cubic_and_triclinic_does_not_turn_it) {
  for (const auto coupling : {CellCoupling::isotropic, CellCoupling::anisotropic, CellCoupling::triclinic}) {
    Simulation s(Comm::self(), argon(3, 5.4), argon_forces());
    draw_velocities(s.exec, s.domain.comm(), s.atoms, 80, 3);
    auto integrator = make_integrator(nph(coupling), {0.004, 0}, 11, s.system);
    s.system.update_forces(s.exec);
    const Box before = s.atoms.box;
    integrator->step(s.exec, s.system, 0);
    const Mat3 step = product(before.inverse(), s.atoms.box.rows());
    for (int k = 1; k < 300; ++k) integrator->step(s.exec, s.system, k);
    // One step's deformation is symmetric: a strain without a rotation.
    EXPECT_NEAR(step[1], step[3], 1e-16);
    EXPECT_NEAR(step[2], step[6], 1e-16);
    EXPECT_NEAR(step[5], step[7], 1e-16);
    const auto& r = s.atoms.box.rows();
    EXPECT_EQ(r[0] == r[4] && r[0] == r[8], coupling == CellCoupling::isotropic);
    EXPECT_EQ(r[1] == 0 && r[5] == 0, coupling != CellCoupling::triclinic);
    const auto sums = momentum_and_mass(s.exec, s.atoms);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(sums[k], 0, 1e-9);
  }
}

TEST(FlexibleCell, moves_only_the_axes_that_are_named) {
  auto options = nph(CellCoupling::triclinic);
  options.barostat.axes = {"x", "y"};
  auto slab = argon(3, 5.4);
  slab.box = Box(slab.box.rows(), {true, true, false});
  Simulation s(Comm::self(), slab, argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 80, 3);
  auto integrator = make_integrator(options, {0.004, 0}, 11, s.system);
  s.system.update_forces(s.exec);
  const Mat3 before = s.atoms.box.rows();
  for (int k = 0; k < 100; ++k) integrator->step(s.exec, s.system, k);
  const auto& r = s.atoms.box.rows();
  EXPECT_NE(r[0], before[0]);
  EXPECT_NE(r[1], 0);
  for (const int k : {2, 5, 6, 7, 8}) EXPECT_EQ(r[k], before[k]);

  options.barostat.axes = {"x", "y", "z"};
  EXPECT_THROW((void)make_integrator(options, {0.004, 0}, 11, s.system), InputError);
}

class FlexibleCrystal : public ::testing::TestWithParam<ThermostatRow> {};

TEST_P(FlexibleCrystal, finds_its_pressure_and_temperature) {
  Simulation s(Comm::self(), argon(3, 5.4), argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 80, 3);
  IntegratorOptions options{.ensemble = Ensemble::npt, .temperature = 40, .friction = 5};
  options.barostat = {.pressure = 500,
                      .relaxation_time = 0.5,
                      .coupling = CellCoupling::triclinic,
                      .thermostat = GetParam().value,
                      .method = BarostatMethod::mtk};
  const double dt = 0.004;
  auto npt = make_integrator(options, {dt, 0}, 11, s.system);
  s.system.update_forces(s.exec);
  const auto start = sample_thermo(s.exec, s.system, *npt, 0, dt);
  std::vector<double> columns[7];
  double worst = 0;
  for (int step = 0; step < 12000; ++step) {
    npt->step(s.exec, s.system, step);
    const auto now = sample_thermo(s.exec, s.system, *npt, step + 1, dt);
    worst = std::max(worst, std::abs(now.conserved - start.conserved));
    if (step < 2000) continue;
    for (int k = 0; k < 6; ++k) columns[k].push_back(now.stress[k]);
    columns[6].push_back(now.temperature);
  }
  EXPECT_LT(worst, 0.01);  // eV
  for (int k = 0; k < 6; ++k) {
    const Moments p(columns[k]);
    EXPECT_LT(p.error, 60);
    EXPECT_NEAR(p.mean, k < 3 ? 500 : 0, 4 * p.error) << k;
  }
  const Moments t(columns[6]);
  EXPECT_NEAR(t.mean, 40, 4 * t.error + 0.1);
}

INSTANTIATE_TEST_SUITE_P(FlexibleCell, FlexibleCrystal, ::testing::ValuesIn(thermostats()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FlexibleCell, a_tilted_cell_of_the_same_lattice_has_the_same_forces) {
  auto crystal = argon(3, 5.3, 0.1);
  const double l = 3 * 5.3;
  std::vector<double> energies;
  for (const int tilt : {0, 1, 2, 4}) {
    crystal.box = Box({l, 0, 0, tilt * l, l, 0, -tilt * l, tilt * l, l}, {true, true, true});
    Simulation s(Comm::self(), crystal, argon_forces());
    s.system.update_forces(s.exec);
    energies.push_back(s.system.total.energy);
    EXPECT_NEAR(energies.back(), energies.front(), 1e-10) << tilt;
  }
}

TEST(FlexibleCell, neighbours_are_right_while_the_cell_tilts) {
  Simulation s(Comm::self(), argon(3, 5.3, 0.1), argon_forces());
  s.system.update_forces(s.exec);
  const double energy = s.system.total.energy;
  for (int k = 1; k <= 100; ++k) {
    deform_cell(s.exec, s.atoms, {1, 0, 0, 0.02, 1, 0, 0, 0, 1});
    s.system.update_forces(s.exec);
    if (k % 25 > 0) continue;
    Simulation fresh(Comm::self(), s.domain.gather(s.atoms), argon_forces());
    fresh.system.update_forces(fresh.exec);
    EXPECT_NEAR(s.system.total.energy / fresh.system.total.energy, 1, 1e-10);
  }
  EXPECT_GT(s.domain.rebuilds(), 3);
  EXPECT_NEAR(squareness(s.atoms.box), 1 / std::sqrt(5.0), 1e-12);
  // The whole tilt, taken back at once, is the first cell.
  deform_cell(s.exec, s.atoms, {1, 0, 0, -2, 1, 0, 0, 0, 1});
  s.system.update_forces(s.exec);
  EXPECT_NEAR(s.system.total.energy, energy, 1e-9);
}

TEST(FlexibleCell, a_cell_too_skew_is_refused) {
  auto flat = argon(3, 5.3);
  const double l = 15.9;
  flat.box = Box({l, 0, 0, 6 * l, l, 0, 0, 0, l}, {true, true, true});
  Simulation s(Comm::self(), flat, argon_forces());
  EXPECT_THROW((void)make_integrator(nph(CellCoupling::triclinic), {0.004, 0}, 11, s.system), InputError);
}
