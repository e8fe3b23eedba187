#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "io/parallel/comm.hpp"
#include "physics/particles/device/at_home.hpp"
#include "physics/particles/device/resident_atoms.hpp"
#include "physics/particles/dynamics/integrators.hpp"
#include "physics/particles/dynamics/minimise.hpp"
#include "physics/particles/dynamics/velocities.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "physics/particles/observables/heat/heat_current.hpp"
#include "surrogates/potential/device/device_force_field.hpp"
#include "surrogates/potential/model/repulsion/repulsion.hpp"
#include "tests/support/copy_count.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/verification/potential/models.hpp"

// Steps with the device engine against the host's steps.
namespace quintet::potential {
namespace {

constexpr double skin = 1.0, kelvin = 330;

Model water() { return read_dp(source("inputs/dpmd/water/water.dp")); }
/// Of dpa1 with smooth gates.
Model gated_water() { return read_dp(source("tests/data/deep_potential/training/water_strip_end.dp")); }

/// Of se_e2_a and of angles between near neighbours; nothing of water, so with forces that leave it whole.
Model hybrid_water() {
  Model model = read_dp(source("tests/data/deep_potential/hybrid_triplets.dp"));
  for (auto& network : model.fitting)
    for (double& weight : network.layers.back().weight) weight *= 0.02;
  return model;
}

/// 32 molecules of liquid water, with types of the model's order.
Configuration liquid() {
  auto c = read_configuration(source("inputs/dpmd/water/water32.xyz"));
  const auto names = water().type_names;
  for (int& t : c.types) t = std::find(names.begin(), names.end(), c.type_names[t]) - names.begin();
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

/// Whose memory the atoms of a run are in, and how messages leave it.
enum class Home { host, device, device_staged };

/// A system that steps as `dpmd run` does.
struct HostRun {
  HostRun(const Comm& comm, const Configuration& start, std::unique_ptr<ForceField> field_,
          const IntegratorOptions& options = {}, Home home = Home::host,
          const std::vector<std::int64_t>& frozen = {}, double dt = 0.0005, bool rows = false)
      : field(std::move(field_)),
        domain(comm, {field->cutoff(), skin, {0, 0, 0}, rows || field->needs_list()}, start.box),
        atoms(domain.distribute(start)) {
    domain.rebuild(exec, atoms);
    system = std::make_unique<ParticleSystem>(atoms, domain, *field);
    system->frozen = FrozenAtoms(frozen);
    if (start.velocities.empty()) draw_velocities(exec, comm, atoms, kelvin, 5, true, system->frozen);
    integrator = make_integrator(options, {dt, 1000}, 7, *system);
    settle(home);
  }
  /// Go on from where `other` is, with its neighbour list, as a restart does.
  HostRun(const Comm& comm, const HostRun& other, std::unique_ptr<ForceField> field_,
          const IntegratorOptions& options, Home home)
      : field(std::move(field_)),
        domain(comm, {field->cutoff(), skin, {0, 0, 0}, field->needs_list()}, other.atoms.box),
        atoms(at_home(other.atoms)) {
    const auto own = [](auto& view) {
      std::remove_reference_t<decltype(view)> copy("copy", view.extent(0));
      Kokkos::deep_copy(copy, view);
      view = copy;
    };
    own(atoms.position);
    own(atoms.velocity);
    own(atoms.force);
    own(atoms.type);
    own(atoms.id);
    own(atoms.image);
    const Vectors built("built", other.domain.built_positions().extent(0));
    Kokkos::deep_copy(built, other.domain.built_positions());
    domain.restore(exec, atoms, built, other.domain.built_box());
    system = std::make_unique<ParticleSystem>(atoms, domain, *field);
    system->frozen = other.system->frozen;
    integrator = make_integrator(options, {0.0005, 1000}, 7, *system);
    integrator->restore(other.integrator->state());
    settle(home);
  }
  void settle(Home home) {
    if (home != Home::host)
      system->stay_on(exec, std::shared_ptr<ResidentAtoms>(QUINTET_DEVICE_FUNCTION(
                                quintet_make_resident_atoms)(test::may_send(home == Home::device))));
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
std::vector<double> forces_of(const HostRun& run) {
  std::vector<double> values;
  for (const auto& f : run.domain.gather(run.atoms).forces) values.insert(values.end(), f.begin(), f.end());
  return values;
}
std::unique_ptr<ForceField> cpu_field(Model model = water()) {
  return std::make_unique<DeepPotential>(std::move(model), DeepPotentialOptions{});
}
std::unique_ptr<ForceField> device_field(Model model = water(), const DeepPotentialOptions& options = {},
                                         const std::optional<RepulsionOptions>& repulsion = {}) {
  return std::make_unique<DeviceForceField>(std::move(model), options, repulsion,
                                            QUINTET_DEVICE_FUNCTION(quintet_make_device_potential));
}

TEST(DeviceForceFieldInSteps, equals_the_engine_for_cpus_over_a_rebuild) {
  const auto comm = Comm::world();
  for (const auto& model : {water(), gated_water(), hybrid_water()})
    for (const Home home : {Home::host, Home::device}) {
      HostRun cpu(comm, liquid(), cpu_field(model));
      HostRun device(comm, liquid(), device_field(model), {}, home);
      cpu.steps(0, 36);
      device.steps(0, 36);
      EXPECT_GT(device.domain.rebuilds(), 1);
      EXPECT_EQ(device.domain.rebuilds(), cpu.domain.rebuilds());
      EXPECT_NEAR(device.system->total.energy, cpu.system->total.energy, 1e-9);
      const auto a = state_of(device), b = state_of(cpu);
      if (comm.is_root()) {
        EXPECT_LE(largest_difference(a, b), 1e-9) << name_of(model.kind);
      }
    }
}

/// Its heat current, as an observer of `dpmd run` samples it.
HeatFlow flow_of(HostRun& run) {
  bring_home(run.atoms);
  AtomShares shares;
  shares.compute(run.exec, run.atoms, run.domain, *run.field);
  const std::vector<double> zero(run.atoms.type_names.size(), -3.0);
  HeatFlow flow = heat_flow(run.exec, run.atoms, shares, zero, {0.3, 0.2, -0.1});
  run.domain.comm().reduce(std::span<double>(flow.current), Comm::Reduction::sum);
  return flow;
}

// Whoever looks at the current changes nothing: steps after it have the bits of steps without it.
TEST(DeviceForceFieldInSteps, have_the_heat_current_of_the_cores) {
  const auto comm = Comm::world();
  for (const auto& [model, home] : {std::pair(water(), Home::device), std::pair(hybrid_water(), Home::host),
                                    std::pair(hybrid_water(), Home::device)}) {
    const auto run = [&](std::unique_ptr<ForceField> field, Home where) {
      return std::make_unique<HostRun>(comm, liquid(), std::move(field), IntegratorOptions{}, where,
                                       std::vector<std::int64_t>{}, 0.0005, true);
    };
    const auto cpu = run(cpu_field(model), Home::host), device = run(device_field(model), home),
               alone = run(device_field(model), home);
    for (int sample = 0; sample < 4; ++sample) {
      for (auto* each : {cpu.get(), device.get(), alone.get()}) each->steps(9 * sample, 9);
      const auto expected = flow_of(*cpu).current, found = flow_of(*device).current;
      ASSERT_GT(largest({expected.begin(), expected.end()}), 1) << name_of(model.kind);
      EXPECT_LE(largest_difference({found.begin(), found.end()}, {expected.begin(), expected.end()}),
                1e-9 * largest({expected.begin(), expected.end()}))
          << name_of(model.kind);
    }
    EXPECT_GT(device->domain.rebuilds(), 1);
    EXPECT_EQ(state_of(*device), state_of(*alone)) << name_of(model.kind);
  }
}

// A restart lists the neighbours of the places of the last rebuild, not of those where the atoms are now.
TEST(DeviceForceFieldInSteps, goes_on_bitwise_after_a_restart) {
  const auto comm = Comm::world();
  for (const auto& model : {water(), gated_water(), hybrid_water()})
    for (const Home home : {Home::host, Home::device}) {
      HostRun whole(comm, liquid(), device_field(model), {}, home);
      whole.steps(0, 6);
      HostRun rest(comm, whole, device_field(model), {}, home);
      const auto rebuilds = whole.domain.rebuilds();
      whole.steps(6, 6);
      ASSERT_EQ(whole.domain.rebuilds(), rebuilds) << "the test means to go on without a rebuild";
      rest.steps(6, 6);
      bring_home(whole.atoms);
      bring_home(rest.atoms);
      ASSERT_EQ(rest.atoms.n_local, whole.atoms.n_local);
      for (int i = 0; i < rest.atoms.n_local; ++i)
        for (int l = 0; l < 3; ++l) {
          ASSERT_EQ(rest.atoms.position(i, l), whole.atoms.position(i, l)) << i;
          ASSERT_EQ(rest.atoms.velocity(i, l), whole.atoms.velocity(i, l)) << i;
        }
    }
}

struct Cell {
  const char* name;
  Configuration start;
};

/// Cells that range + skin reaches beyond, upright, and open along z. The sheared one meets every bath below.
std::vector<Cell> cells() {
  auto open = liquid();
  open.box = Box(open.box.rows(), {true, true, false}, open.box.origin());
  return {{"periodic", liquid()}, {"open along z", open}};
}

struct Bath {
  const char* name;
  IntegratorOptions options;
};

/// Each way in which a step acts on atoms or cell.
std::vector<Bath> baths() {
  const auto with = [](NamedEnsemble ensemble) {
    IntegratorOptions o;
    o.ensemble = ensemble;
    o.temperature = kelvin;
    return o;
  };
  std::vector<Bath> all{{"nve", {}},
                        {"langevin", with(Thermostat::langevin)},
                        {"velocity_rescaling", with(Thermostat::velocity_rescaling)},
                        {"nose_hoover", with(Thermostat::nose_hoover)},
                        {"npt, rescaled", with(Ensemble::npt)},
                        {"npt, inertia", with(Ensemble::npt)}};
  all[1].options.friction = 10;
  all[4].options.barostat.coupling = CellCoupling::anisotropic;
  all[5].options.barostat.coupling = CellCoupling::triclinic;
  all[5].options.barostat.thermostat = Thermostat::nose_hoover;
  return all;
}

TEST(ResidentAtoms, equal_the_steps_of_the_host_in_every_cell) {
  const auto comm = Comm::world();
  for (const auto& [name, start] : cells()) {
    HostRun host(comm, start, cpu_field()), device(comm, start, device_field(), {}, Home::device);
    host.steps(0, 36);
    device.steps(0, 36);
    EXPECT_GT(device.domain.rebuilds(), 1) << name;
    EXPECT_NEAR(device.system->total.energy, host.system->total.energy, 1e-8) << name;
    EXPECT_LE(largest_difference(state_of(device), state_of(host)), 1e-8) << name;
  }
}

// The sheared cell is smaller than the range: most ghosts are images of own atoms, also of images.
TEST(ResidentAtoms, equal_the_steps_of_the_host_with_every_bath) {
  const auto comm = Comm::world();
  auto all = baths();
  if (comm.size() > 1) all = {all[1], all[5]};  // how baths sum over ranks is the host's in all of them
  for (const auto& [name, options] : all) {
    HostRun host(comm, sheared(liquid()), cpu_field(), options);
    HostRun device(comm, sheared(liquid()), device_field(), options, Home::device);
    EXPECT_LE(largest_difference(forces_of(device), forces_of(host)), 1e-10) << name << ", at the start";
    host.steps(0, 36);
    device.steps(0, 36);
    EXPECT_GT(device.domain.rebuilds(), 1) << name;
    EXPECT_NEAR(device.system->total.energy, host.system->total.energy, 1e-8) << name;
    EXPECT_NEAR(device.kinetic(), host.kinetic(), 1e-8) << name;
    EXPECT_NEAR(device.integrator->bath_energy(), host.integrator->bath_energy(), 1e-8) << name;
    for (int k = 0; k < 9; ++k) {
      EXPECT_NEAR(device.system->total.virial[k], host.system->total.virial[k], 1e-7) << name;
      EXPECT_NEAR(device.atoms.box.rows()[k], host.atoms.box.rows()[k], 1e-9) << name;
    }
    EXPECT_LE(largest_difference(state_of(device), state_of(host)), 1e-8) << name;
    EXPECT_LE(largest_difference(forces_of(device), forces_of(host)), 1e-7) << name;
  }
}

// O and H of a molecule are within reach of the repulsion.
TEST(ResidentAtoms, repel_each_other_as_on_the_host) {
  const auto comm = Comm::world();
  const RepulsionOptions range{0.6, 1.2};
  HostRun plain(comm, sheared(liquid()), cpu_field());
  HostRun host(comm, sheared(liquid()), std::make_unique<Repulsion>(cpu_field(), range));
  HostRun device(comm, sheared(liquid()), device_field(water(), {}, range), {}, Home::device);
  ASSERT_GT(host.system->total.energy - plain.system->total.energy, 10);
  host.steps(0, 24);
  device.steps(0, 24);
  EXPECT_GT(device.domain.rebuilds(), 1);
  EXPECT_NEAR(device.system->total.energy, host.system->total.energy, 1e-8);
  for (int k = 0; k < 9; ++k)
    EXPECT_NEAR(device.system->total.virial[k], host.system->total.virial[k], 1e-7) << k;
  EXPECT_LE(largest_difference(state_of(device), state_of(host)), 1e-8);
  const auto forces = forces_of(device);
  EXPECT_LE(largest_difference(forces, forces_of(host)), 1e-7);
  for (int l = 0; l < 3; ++l) {
    double sum = 0;
    for (std::size_t at = l; at < forces.size(); at += 3) sum += forces[at];
    EXPECT_EQ(sum, 0.0) << "each pair's force is added and subtracted as one whole number";
  }
}

/// Copper's crystal with its atoms up to 0.2 angstrom off.
Configuration shaken_crystal() {
  auto c = read_configuration(source("inputs/dpmd/copper/fcc.xyz"));
  c = replicated(c, {3, 3, 3});
  c.masses.clear();
  c.ids.clear();
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    c.ids.push_back(static_cast<std::int64_t>(i) + 1);
    for (int l = 0; l < 3; ++l) c.positions[i][l] += 0.2 * std::sin(7.0 * (3 * i + l));
  }
  return c;
}

TEST(ResidentAtoms, are_minimised_as_on_the_host) {
  const auto comm = Comm::world();
  const auto copper = [] { return read_dp(source("inputs/dpmd/copper/copper.dp")); };
  IntegratorOptions options;
  options.ensemble = Ensemble::minimise;
  options.minimiser.force_tolerance = 1e-4;
  const std::vector<std::int64_t> frozen{3, 50};
  HostRun host(comm, shaken_crystal(), std::make_unique<DeepPotential>(copper(), DeepPotentialOptions{}),
               options, Home::host, frozen, 0.002);
  HostRun device(comm, shaken_crystal(), device_field(copper()), options, Home::device, frozen, 0.002);
  const double start = host.system->total.energy;
  host.steps(0, 30);
  device.steps(0, 30);
  EXPECT_LE(largest_difference(state_of(device), state_of(host)), 1e-9);
  EXPECT_NEAR(largest_force(device.exec, *device.system), largest_force(host.exec, *host.system), 1e-8);
  EXPECT_FALSE(device.integrator->finished());

  for (std::int64_t step = 30; step < 400; ++step)
    for (HostRun* run : {&host, &device})
      if (!run->integrator->finished()) run->steps(step, 1);

  EXPECT_TRUE(host.integrator->finished());
  EXPECT_TRUE(device.integrator->finished());
  EXPECT_GT(start - host.system->total.energy, 1);
  EXPECT_LE(largest_force(device.exec, *device.system), 1e-4);
  EXPECT_EQ(device.kinetic(), 0);
  EXPECT_NEAR(device.system->total.energy, host.system->total.energy, 1e-6);
  EXPECT_LE(largest_difference(state_of(device), state_of(host)), 1e-4);
}

TEST(ResidentAtoms, leave_frozen_atoms_where_they_are) {
  const auto comm = Comm::world();
  IntegratorOptions langevin;
  langevin.ensemble = Thermostat::langevin;
  langevin.temperature = kelvin;
  const std::vector<std::int64_t> frozen{2, 3, 40, 41, 95};
  const auto start = sheared(liquid());
  HostRun host(comm, start, cpu_field(), langevin, Home::host, frozen);
  HostRun device(comm, start, device_field(), langevin, Home::device, frozen);
  host.steps(0, 40);
  device.steps(0, 40);
  EXPECT_GT(device.domain.rebuilds(), 1);
  const auto a = state_of(device), b = state_of(host);
  if (!comm.is_root()) return;
  EXPECT_LE(largest_difference(a, b), 1e-8);
  for (const auto id : frozen)
    for (int l = 0; l < 3; ++l) EXPECT_EQ(a[6 * std::int64_t{id - 1} + 3 + l], 0.0) << id;
}

TEST(ResidentAtoms, go_on_from_the_host_and_back) {
  const auto comm = Comm::world();
  const auto bath = baths()[5].options;
  HostRun host(comm, sheared(liquid()), cpu_field(), bath);
  host.steps(0, 15);
  HostRun device(comm, host, device_field(), bath, Home::device);
  device.steps(15, 15);
  HostRun back(comm, device, cpu_field(), bath, Home::host);
  back.steps(30, 15);
  host.steps(15, 30);
  EXPECT_GT(host.domain.rebuilds(), 1);
  const auto a = state_of(back), b = state_of(host);
  if (comm.is_root()) {
    EXPECT_LE(largest_difference(a, b), 1e-8);
  }
}

TEST(ResidentAtoms, send_the_same_from_their_memory_and_through_the_host) {
  const auto comm = Comm::world();
  HostRun direct(comm, sheared(liquid()), device_field(), {}, Home::device);
  HostRun staged(comm, sheared(liquid()), device_field(), {}, Home::device_staged);
  const auto before = comm.counter(Comm::Call::point_to_point).messages;
  direct.steps(0, 30);
  const auto messages = comm.counter(Comm::Call::point_to_point).messages - before;
  staged.steps(0, 30);
  EXPECT_GT(direct.domain.rebuilds(), 1);
  EXPECT_EQ(messages > 0, comm.size() > 1);
  EXPECT_EQ(state_of(direct), state_of(staged));
}

TEST(ResidentAtoms, do_not_travel_in_steps) {
  if (Comm::world().size() > 1) GTEST_SKIP() << "ghosts of others travel";
  if (test::on_gpu()) GTEST_SKIP() << test::hooks_see_the_host;
  for (const Home home : {Home::host, Home::device}) {
    IntegratorOptions bath;
    bath.ensemble = Thermostat::nose_hoover;
    bath.temperature = kelvin;
    HostRun run(Comm::self(), liquid(), device_field(water(), {}, RepulsionOptions{}), bath, home);
    const auto rebuilds = run.domain.rebuilds();
    const CopyCount count;
    constexpr int n_steps = 60;
    run.steps(0, n_steps);
    ASSERT_GT(run.domain.rebuilds(), rebuilds);
    const auto in_steps = count.bytes();
    const bool on_host = home == Home::host;
    RecordProperty(on_host ? "bytes_a_step_host" : "bytes_a_step_device", std::to_string(in_steps / n_steps));
    RecordProperty(on_host ? "copies_a_step_host" : "copies_a_step_device",
                   std::to_string(static_cast<double>(count.copies()) / n_steps));
    if (on_host)
      EXPECT_GT(in_steps, n_steps * 48 * run.atoms.n_all()) << "positions there and forces back";
    else
      EXPECT_LE(in_steps, n_steps * 100) << "energy, virial and what went wrong";
    const auto once = on_host ? 0 : (24 + 12) * run.atoms.n_all() + (2 * 24 + 12) * run.atoms.n_local;
    for (int look = 0; look < 2; ++look) {
      bring_home(run.atoms);
      EXPECT_EQ(count.bytes() - in_steps, once) << "at look " << look;
    }
  }
}

TEST(ResidentAtoms, conserve_energy_and_momentum_in_mixed_precision) {
  DeepPotentialOptions mixed;
  mixed.precision = Precision::mixed;
  HostRun run(Comm::world(), liquid(), device_field(water(), mixed), {}, Home::device, {}, 0.0002);
  const double potential = run.system->total.energy, total = potential + run.kinetic();
  run.steps(0, 100);
  EXPECT_GT(std::abs(run.system->total.energy - potential), 1e-2) << "nothing happened";
  EXPECT_NEAR(run.system->total.energy + run.kinetic(), total, 96 * 2e-5);
  // Each pair's force is added and subtracted as one whole number: nothing is left of their sum.
  const auto forces = forces_of(run);
  for (int l = 0; l < 3; ++l) {
    double sum = 0;
    for (std::size_t at = l; at < forces.size(); at += 3) sum += forces[at];
    EXPECT_EQ(sum, 0.0);
  }
}

}  // namespace
}  // namespace quintet::potential
