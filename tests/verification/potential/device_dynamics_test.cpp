#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/integrators.hpp"
#include "physics/particles/dynamics/velocities.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "surrogates/potential/device/device_force_field.hpp"
#include "surrogates/potential/device/dynamics_device.hpp"
#include "tests/verification/potential/models.hpp"

// Steps with the device engine on the host's space against the host's steps.
namespace quintet::potential {
namespace {

constexpr double skin = 1.0, kelvin = 330;

Model water() { return read_dp(source("inputs/dpmd/water/water.dp")); }

/// 32 molecules of liquid water, with types of the model's order.
Configuration liquid() {
  auto c = read_configuration(source("inputs/dpmd/water/water32.xyz"));
  const auto names = water().type_names;
  for (int& t : c.types)
    t = static_cast<int>(std::find(names.begin(), names.end(), c.type_names[t]) - names.begin());
  c.type_names = names;
  c.masses.clear();
  c.ids.clear();
  for (std::size_t i = 0; i < c.n_atoms(); ++i) c.ids.push_back(static_cast<std::int64_t>(i) + 1);
  return c;
}

/// The cell and its atoms sheared: b leans along a.
Configuration sheared(Configuration c) {
  const auto box = c.box.deformed({1, 0, 0, 0.15, 1, 0, 0.05, 0.1, 1});
  for (auto& x : c.positions) x = box.to_cartesian(c.box.to_fractional(x));
  c.box = box;
  return c;
}

/// A system that the host steps.
struct HostRun {
  HostRun(const Comm& comm, const Configuration& start, std::unique_ptr<ForceField> field_,
          const IntegratorOptions& options = {})
      : field(std::move(field_)),
        domain(comm, {field->cutoff(), skin, {0, 0, 0}, field->needs_list()}, start.box),
        atoms(domain.distribute(start)) {
    domain.rebuild(exec, atoms);
    system = std::make_unique<ParticleSystem>(atoms, domain, *field);
    if (start.velocities.empty()) draw_velocities(exec, comm, atoms, kelvin, 5);
    integrator = make_integrator(options, {0.0005, 1000}, 7, *system);
    system->update_forces(exec);
  }
  void steps(std::int64_t first, int n) {
    for (std::int64_t s = first; s < first + n; ++s) integrator->step(exec, *system, s);
  }
  [[nodiscard]] double kinetic() const { return total_kinetic_energy(exec, *system); }

  Exec exec;
  std::unique_ptr<ForceField> field;
  Domain domain;
  Atoms atoms;
  std::unique_ptr<ParticleSystem> system;
  std::unique_ptr<Integrator> integrator;
};

DeviceSystem on_device(const Configuration& c) {
  DeviceSystem s;
  s.rows = c.box.rows();
  s.inverse = c.box.inverse();
  s.origin = c.box.origin();
  s.periodic = c.box.periodic();
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    s.position.insert(s.position.end(), c.positions[i].begin(), c.positions[i].end());
    s.velocity.insert(s.velocity.end(), c.velocities[i].begin(), c.velocities[i].end());
    s.type.push_back(c.types[i]);
    s.id.push_back(c.ids[i]);
  }
  for (const auto& name : c.type_names) s.mass.push_back(atomic_mass(name));
  return s;
}

/// Unwrapped positions and velocities by id.
std::vector<double> state_of(const HostRun& run) {
  std::vector<double> values;
  const auto c = run.domain.gather(run.atoms, true);
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    values.insert(values.end(), c.positions[i].begin(), c.positions[i].end());
    values.insert(values.end(), c.velocities[i].begin(), c.velocities[i].end());
  }
  return values;
}
std::vector<double> state_of(const DeviceDynamics& dynamics) {
  const DeviceSystem s = dynamics.fetch();
  std::vector<double> values(6 * s.type.size());
  for (std::size_t i = 0; i < s.type.size(); ++i)
    for (int l = 0; l < 3; ++l) {
      double x = s.position[3 * i + l];
      for (int k = 0; k < 3; ++k) x += s.image[3 * i + k] * s.rows[3 * k + l];
      const std::size_t at = 6 * (static_cast<std::size_t>(s.id[i]) - 1) + l;
      values[at] = x;
      values[at + 3] = s.velocity[3 * i + l];
    }
  return values;
}

std::unique_ptr<ForceField> cpu_field() {
  return std::make_unique<DeepPotential>(water(), DeepPotentialOptions{});
}
std::unique_ptr<ForceField> device_field() {
  return std::make_unique<DeviceForceField>(water(), DeepPotentialOptions{});
}

TEST(DeviceForceFieldInSteps, equals_the_engine_for_cpus_over_a_rebuild) {
  const auto comm = Comm::world();
  HostRun cpu(comm, liquid(), cpu_field()), device(comm, liquid(), device_field());
  cpu.steps(0, 60);
  device.steps(0, 60);
  EXPECT_GT(device.domain.rebuilds(), 1);
  EXPECT_EQ(device.domain.rebuilds(), cpu.domain.rebuilds());
  EXPECT_NEAR(device.system->total.energy, cpu.system->total.energy, 1e-9);
  const auto a = state_of(device), b = state_of(cpu);
  if (comm.is_root()) {
    EXPECT_LE(largest_difference(a, b), 1e-9);
  }
}

// A restart lists the neighbours of the places of the last rebuild, not of those where the atoms are now.
TEST(DeviceForceFieldInSteps, goes_on_bitwise_after_a_restart) {
  const auto comm = Comm::world();
  HostRun whole(comm, liquid(), device_field());
  whole.steps(0, 6);
  Atoms atoms = whole.atoms;
  for (auto* view : {&atoms.position, &atoms.velocity, &atoms.force}) {
    Vectors copy("copy", view->extent(0));
    Kokkos::deep_copy(copy, *view);
    *view = copy;
  }
  const Vectors built("built", whole.domain.built_positions().extent(0));
  Kokkos::deep_copy(built, whole.domain.built_positions());
  const auto rebuilds = whole.domain.rebuilds();
  whole.steps(6, 6);
  ASSERT_EQ(whole.domain.rebuilds(), rebuilds) << "the test means to go on without a rebuild";

  const Exec exec;
  const auto field = device_field();
  Domain domain(comm, {field->cutoff(), skin, {0, 0, 0}, false}, atoms.box);
  domain.restore(exec, atoms, built, atoms.box);
  ParticleSystem system(atoms, domain, *field);
  const auto integrator = make_integrator({}, {0.0005, 1000}, 7, system);
  system.update_forces(exec);
  for (int s = 6; s < 12; ++s) integrator->step(exec, system, s);
  ASSERT_EQ(atoms.n_local, whole.atoms.n_local);
  for (int i = 0; i < atoms.n_local; ++i)
    for (int l = 0; l < 3; ++l) {
      ASSERT_EQ(atoms.position(i, l), whole.atoms.position(i, l)) << i;
      ASSERT_EQ(atoms.velocity(i, l), whole.atoms.velocity(i, l)) << i;
    }
}

struct Cell {
  const char* name;
  Configuration start;
};

/// Cells that range + skin reaches beyond, upright and sheared, and one that is open along z.
std::vector<Cell> cells() {
  auto open = liquid();
  open.box = Box(open.box.rows(), {true, true, false}, open.box.origin());
  return {{"periodic", liquid()}, {"sheared", sheared(liquid())}, {"open along z", open}};
}

TEST(DeviceDynamics, equals_the_steps_of_the_host) {
  if (Comm::world().size() > 1) GTEST_SKIP() << "one rank moves its atoms";
  for (auto& [name, start] : cells()) {
    HostRun host(Comm::self(), start, cpu_field());
    const Configuration now = host.domain.gather(host.atoms, true);  // not wrapped: the device does that
    const std::unique_ptr<DeviceDynamics> device(
        quintet_make_device_dynamics(device_model(water(), {}), false, {0.0005, skin, 0, 0, 7}));
    device->set(on_device(now));
    EXPECT_NEAR(device->sample().potential, host.system->total.energy, 1e-9) << name;
    host.steps(0, 100);
    device->advance(0, 100);
    const auto sample = device->sample();
    EXPECT_GT(sample.rebuilds, 1) << name;
    EXPECT_NEAR(sample.potential, host.system->total.energy, 1e-7) << name;
    EXPECT_NEAR(sample.kinetic, host.kinetic(), 1e-7) << name;
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(sample.virial[k], host.system->total.virial[k], 1e-6) << name;
    EXPECT_LE(largest_difference(state_of(*device), state_of(host)), 1e-7) << name;
    EXPECT_EQ(sample.too_close, -1);
    EXPECT_EQ(sample.too_strong, -1);
  }
}

TEST(DeviceDynamics, draws_the_noise_that_the_host_draws) {
  if (Comm::world().size() > 1) GTEST_SKIP() << "one rank moves its atoms";
  IntegratorOptions langevin;
  langevin.ensemble = Thermostat::langevin;
  langevin.temperature = kelvin;
  langevin.friction = 10;
  HostRun host(Comm::self(), liquid(), cpu_field(), langevin);
  const Configuration now = host.domain.gather(host.atoms, true);
  const std::unique_ptr<DeviceDynamics> device(quintet_make_device_dynamics(
      device_model(water(), {}), false, {0.0005, skin, langevin.friction, units::boltzmann * kelvin, 7}));
  device->set(on_device(now));
  host.steps(0, 50);
  device->advance(0, 50);
  const auto sample = device->sample();
  EXPECT_LE(largest_difference(state_of(*device), state_of(host)), 1e-8);
  EXPECT_NEAR(sample.bath, host.integrator->bath_energy(), 1e-8);
}

TEST(DeviceDynamics, conserves_energy_and_momentum_in_mixed_precision) {
  if (Comm::world().size() > 1) GTEST_SKIP() << "one rank moves its atoms";
  HostRun host(Comm::self(), liquid(), cpu_field());
  DeepPotentialOptions mixed;
  mixed.precision = Precision::mixed;
  const std::unique_ptr<DeviceDynamics> device(
      quintet_make_device_dynamics(device_model(water(), mixed), true, {0.0002, skin, 0, 0, 7}));
  device->set(on_device(host.domain.gather(host.atoms)));
  const auto before = device->sample();
  device->advance(0, 200);
  const auto after = device->sample();
  EXPECT_GT(std::abs(after.potential - before.potential), 1e-2) << "nothing happened";
  EXPECT_NEAR(after.potential + after.kinetic, before.potential + before.kinetic, 96 * 2e-5);
  // Each pair's force is added and subtracted as one whole number: nothing is left of their sum.
  const auto forces = device->forces();
  for (int l = 0; l < 3; ++l) {
    double sum = 0;
    for (std::size_t at = l; at < forces.size(); at += 3) sum += forces[at];
    EXPECT_EQ(sum, 0.0);
  }
}

}  // namespace
}  // namespace quintet::potential
