#include <algorithm>
#include <numbers>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/integrators.hpp"
#include "physics/particles/observables/bonds.hpp"
#include "physics/particles/observables/heat/thermal_conductivity.hpp"
#include "physics/particles/observables/msd.hpp"
#include "physics/particles/observables/rdf.hpp"
#include "physics/particles/observables/vacf.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"

using namespace quintet;

namespace {

void run(Simulation& s, Integrator& integrator, Observer& observer, int first, int last) {
  if (first == 0) {
    s.system.update_forces(s.exec);
    observer.observe(s.exec, 0, s.atoms, s.domain);
  }
  for (int step = first; step < last; ++step) {
    integrator.step(s.exec, s.system, step);
    observer.observe(s.exec, step + 1, s.atoms, s.domain);
  }
}

/// One folder for all ranks of `comm`, made by its root.
std::string shared_folder(const Comm& comm, std::unique_ptr<Scratch>& scratch) {
  if (comm.is_root()) scratch = std::make_unique<Scratch>("observables");
  return comm.broadcast(comm.is_root() ? scratch->path() : std::string());
}

}  // namespace

TEST(MeanSquareDisplacement, of_free_flight_is_v_squared_t_squared) {
  Simulation s(Comm::world(), gas(50, 10), std::make_unique<NoForces>());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 3000, 3);
  double v2[2] = {0, 0};
  for (int i = 0; i < s.atoms.n_local; ++i)
    for (int k = 0; k < 3; ++k)
      v2[s.atoms.type(i)] +=
          s.atoms.velocity(i, k) * s.atoms.velocity(i, k) / (s.atoms.type(i) == 0 ? 33 : 17);
  s.domain.comm().reduce(std::span<double>(v2), Comm::Reduction::sum);
  auto nve = make_integrator({}, {0.02, 0}, 1, s.system);
  MeanSquareDisplacement msd({{2, 10, 3}, 0.2}, 0.02);

  run(s, *nve, msd, 0, 100);

  const auto table = msd.tables().at(0);
  ASSERT_EQ(table.columns.size(), 3u);
  ASSERT_EQ(table.columns[0].values.size(), 11u);
  EXPECT_GT(table.columns[1].values[10], 4);  // atoms cross the cell, and ranks, many times in the run
  for (std::size_t lag = 0; lag <= 10; ++lag) {
    const double t = 0.04 * lag;
    EXPECT_NEAR(table.columns[0].values[lag], t, 1e-12);
    for (int type = 0; type < 2; ++type)
      EXPECT_NEAR(table.columns[1 + type].values[lag], v2[type] * t * t, 1e-9 * v2[type]);
  }
}

TEST(MeanSquareDisplacement, of_brownian_atoms_gives_einsteins_diffusion_coefficient) {
  // D = kT / (m gamma); free Langevin atoms.
  Simulation s(Comm::world(), gas(300, 60), std::make_unique<NoForces>(), 8);
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 300, 3);
  auto langevin = make_integrator({.ensemble = Thermostat::langevin, .temperature = 300, .friction = 20},
                                  {0.02, 0}, 5, s.system);
  MeanSquareDisplacement msd({{5, 20, 2}, 0.3}, 0.02);

  run(s, *langevin, msd, 0, 2000);

  const auto scalars = msd.scalars();
  ASSERT_EQ(scalars.size(), 2u);
  for (int type = 0; type < 2; ++type) {
    const double expected = units::boltzmann * 300 / (s.atoms.masses[type] * 20) / units::mv2_to_ev;
    EXPECT_NEAR(scalars[type].value, expected, 5 * scalars[type].error) << scalars[type].name;
    EXPECT_LT(scalars[type].error, 0.05 * expected);
    EXPECT_GT(scalars[type].error, 0.001 * expected);
  }
}

TEST(VelocityAutocorrelation, of_oscillators_is_a_cosine_with_a_peak_at_their_frequency) {
  const double thz = 8, omega = 2 * std::numbers::pi * thz, mass = 39.948;
  auto configuration = gas(60, 20, false);
  configuration.masses = {mass, mass};
  for (auto& x : configuration.positions) x = {10, 10, 10};
  Simulation s(Comm::world(), configuration,
               std::make_unique<Trap>(omega * omega * mass * units::mv2_to_ev, 10.0), 10);
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 300, 3);
  auto nve = make_integrator({}, {0.0005, 0}, 5, s.system);
  // All start in the middle with their own velocity: the mean over origins tends to the canonical cosine.
  VelocityAutocorrelation vacf({{8, 250, 1}}, 0.0005);

  run(s, *nve, vacf, 0, 4000);

  const auto tables = vacf.tables();
  ASSERT_EQ(tables.size(), 2u);
  const auto& correlation = tables[0].columns[1].values;
  for (std::size_t lag = 0; lag < correlation.size(); ++lag)
    EXPECT_NEAR(correlation[lag] / correlation[0], std::cos(omega * 0.004 * lag), 0.03) << lag;
  const auto& total = tables[1].columns[2].values;
  const auto peak = std::max_element(total.begin(), total.end()) - total.begin();
  EXPECT_NEAR(tables[1].columns[0].values[peak], thz, 0.2);
}

TEST(VelocityAutocorrelation, states_of_two_masses_integrate_to_three_an_atom) {
  Simulation s(Comm::world(), gas(50, 10), std::make_unique<NoForces>());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 300, 7);
  auto nve = make_integrator({}, {0.004, 0}, 5, s.system);
  VelocityAutocorrelation vacf({{1, 9, 4}}, 0.004);

  run(s, *nve, vacf, 0, 40);

  const auto tables = vacf.tables();
  const auto& frequency = tables[1].columns[0].values;
  ASSERT_EQ(tables[1].columns[3].name, "states");
  const auto& states = tables[1].columns[3].values;
  double integral = 0;
  for (std::size_t j = 1; j < states.size(); ++j)
    integral += 0.5 * (states[j] + states[j - 1]) * (frequency[j] - frequency[j - 1]);
  EXPECT_NEAR(integral, 3.0 * 50, 1e-10);
}

class AnyObserver : public ::testing::TestWithParam<int> {
 protected:
  static std::unique_ptr<Observer> make(ForceField& field, std::int64_t more = 0) {
    if (GetParam() == 0) return std::make_unique<RadialDistribution>(RdfOptions{5, 9 + double(more), 0.1});
    if (GetParam() == 1)
      return std::make_unique<MeanSquareDisplacement>(MsdOptions{{2, 8 + more, 3}, 0.2}, 0.004);
    if (GetParam() == 2)
      return std::make_unique<VelocityAutocorrelation>(VacfOptions{{2, 8 + more, 3}}, 0.004);
    if (GetParam() == 4)
      return std::make_unique<ThermalConductivity>(HeatCurrentOptions{2, 4 + more, 0.5}, 0.004, field);
    return std::make_unique<BondGeometry>(BondOptions{5, 4.4 + double(more), {}, 0.1, 36});
  }
  static std::vector<double> results(const Observer& observer) {
    std::vector<double> values;
    for (const auto& table : observer.tables())
      for (const auto& column : table.columns)
        values.insert(values.end(), column.values.begin(), column.values.end());
    for (const auto& scalar : observer.scalars())
      values.insert(values.end(), {scalar.value, std::isnan(scalar.error) ? -1 : scalar.error});
    return values;
  }
};

TEST_P(AnyObserver, saved_and_restored_goes_on_bitwise_and_on_other_ranks) {
  std::unique_ptr<Scratch> scratch;
  const Comm world = Comm::world();
  const std::string path = shared_folder(world, scratch) + "/state.h5";
  Simulation s(world, argon(3, 5.3, 0.1), argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 60, 3);
  auto nve = make_integrator({}, {0.004, 0}, 1, s.system);
  auto whole = make(*s.field), second = make(*s.field);

  run(s, *nve, *whole, 0, 25);
  {
    auto file = hdf5::File::create(world, path);
    whole->save(file.root());
  }
  {
    auto file = hdf5::File::open(world, path);
    second->restore(world, file.root());
    EXPECT_THROW(make(*s.field, 1)->restore(world, file.root()), InputError);
  }
  EXPECT_EQ(results(*second), results(*whole));
  Simulation copy(Comm::self(), argon(3, 5.3, 0.1), argon_forces());
  auto alone = make(*copy.field);
  {
    auto file = hdf5::File::open(Comm::self(), path);
    alone->restore(Comm::self(), file.root());
  }
  EXPECT_EQ(results(*alone), results(*whole));

  draw_velocities(copy.exec, copy.domain.comm(), copy.atoms, 60, 3);
  auto nve_copy = make_integrator({}, {0.004, 0}, 1, copy.system);
  copy.system.update_forces(copy.exec);
  for (int step = 0; step < 25; ++step) nve_copy->step(copy.exec, copy.system, step);
  run(copy, *nve_copy, *alone, 25, 60);
  for (int step = 25; step < 60; ++step) {
    nve->step(s.exec, s.system, step);
    whole->observe(s.exec, step + 1, s.atoms, s.domain);
    second->observe(s.exec, step + 1, s.atoms, s.domain);
  }

  const auto expected = results(*whole);
  ASSERT_GT(expected.size(), 10u);
  EXPECT_EQ(results(*second), expected);
  const auto other = results(*alone);
  ASSERT_EQ(other.size(), expected.size());
  for (std::size_t i = 0; i < other.size(); ++i)
    EXPECT_NEAR(other[i], expected[i], 1e-8 * (1 + std::abs(expected[i])));
}

TEST_P(AnyObserver, writes_tables_that_say_what_they_are) {
  std::unique_ptr<Scratch> scratch;
  const Comm world = Comm::world();
  const std::string path = shared_folder(world, scratch) + "/run.h5";
  Simulation s(world, argon(2, 5.3, 0.1), argon_forces());
  draw_velocities(s.exec, s.domain.comm(), s.atoms, 60, 3);
  auto nve = make_integrator({}, {0.004, 0}, 1, s.system);
  auto observer = make(*s.field);
  run(s, *nve, *observer, 0, 30);

  {
    auto file = hdf5::File::create(world, path);
    auto group = file.root().group(observer->name());
    observer->write(group);
  }

  auto file = hdf5::File::open(world, path);
  for (const auto& table : observer->tables()) {
    auto group = file.root().open_group(observer->name() + "/" + table.name);
    for (const auto& column : table.columns) {
      EXPECT_EQ(group.read<double>(column.name), column.values);
      EXPECT_EQ(group.member_text_attribute(column.name, "units"), column.unit);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dynamics, AnyObserver, ::testing::Values(0, 1, 2, 3, 4), [](const auto& info) {
  return std::vector<std::string>({"rdf", "msd", "vacf", "bonds", "heat_current"})[info.param];
});

TEST(TimeCorrelation, refuses_ids_that_would_fill_the_memory) {
  auto configuration = gas(20, 20);
  for (int i = 0; i < 20; ++i) configuration.ids.push_back(1 + 1000000000L * i);
  Simulation s(Comm::world(), configuration, std::make_unique<NoForces>());
  MeanSquareDisplacement msd({}, 0.001);

  EXPECT_THROW(msd.observe(s.exec, 0, s.atoms, s.domain), InputError);
}
