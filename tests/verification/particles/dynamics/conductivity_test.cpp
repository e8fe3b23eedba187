#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/integrators.hpp"
#include "physics/particles/interactions/pair_potential.hpp"
#include "physics/particles/observables/heat/thermal_conductivity.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"

using namespace quintet;

TEST(ThermalConductivity, of_a_lennard_jones_fluid_is_that_of_lammps) {
  // 108 atoms at rho sigma^3 = 0.6, k_B T = 1.35 epsilon, cut at 2.5 sigma: kappa = 3.16 +- 0.04 in units of
  // k_B / sigma^2 sqrt(epsilon / m) by `compute heat/flux` of LAMMPS (22 Jul 2025, update 4): the mean of 8
  // runs of 400 000 steps of 0.0025 in LJ units, integrated up to 0.93. Evans 1986, Phys. Rev. A 34, 1449,
  // figure 1, has about 3.4, read off.
  constexpr double epsilon = 119.8 * units::boltzmann, sigma = 3.405, dt = 0.005, lammps = 3.16;
  const double temperature = 1.35 * 119.8;
  Simulation s(Comm::self(), argon(3, sigma * std::cbrt(4 / 0.6)),
               std::make_unique<PairPotential>(std::vector<PairParameters>{
                   {PairFormula::lennard_jones, {"Ar", "Ar"}, epsilon, sigma, {}, 2.5 * sigma, 0.5}}));
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 2 * temperature, 7);
  s.system.update_forces(s.exec);
  auto nvt = make_integrator({.ensemble = Thermostat::velocity_rescaling, .temperature = temperature},
                             {dt, 0}, 5, s.system);
  for (int step = 0; step < 6000; ++step) nvt->step(s.exec, s.system, step);
  auto nve = make_integrator({}, {dt, 0}, 5, s.system);
  ThermalConductivity kappa({4, 100, 0.6}, dt, *s.field);

  for (int step = 0; step < 40000; ++step) {
    nve->step(s.exec, s.system, step);
    kappa.observe(s.exec, step + 1, s.atoms, s.domain);
  }

  const auto scalars = kappa.scalars();
  const double unit = 1602.176634 * units::boltzmann / (sigma * sigma) *
                      std::sqrt(epsilon / (s.atoms.masses[0] * units::mv2_to_ev));
  ASSERT_EQ(scalars.front().name, "thermal_conductivity");
  const double value = scalars.front().value / unit, error = scalars.front().error / unit;
  EXPECT_NEAR(value, lammps, 4 * error);
  EXPECT_LT(error, 0.1 * lammps);
  EXPECT_GT(error, 0.01 * lammps);
}
