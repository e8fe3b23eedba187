#include "physics/particles/observables/heat/heat_current.hpp"

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/interactions/pair_potential.hpp"
#include "surrogates/potential/model/repulsion/repulsion.hpp"
#include "tests/verification/potential/models.hpp"
#include "tests/verification/potential/open_cluster.hpp"

namespace quintet::potential {
namespace {

/// A cluster whose atoms move, with masses.
Configuration moving(Configuration c) {
  c.masses.clear();
  for (std::size_t t = 0; t < c.type_names.size(); ++t)
    c.masses.push_back(10.0 + 7.0 * static_cast<double>(t));
  c.velocities.clear();
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    const double x = i;
    c.velocities.push_back(
        {3 * std::sin(12.9 * x + 1), 2 * std::sin(78.2 * x + 2), 3 * std::sin(37.7 * x + 3)});
  }
  return c;
}

/// J of all ranks (eV angstrom/ps).
Vec3 current_of(ForceField& field, const Configuration& c, const std::vector<double>& zero) {
  const Comm comm = Comm::world();
  Domain domain(comm, {field.cutoff(), 0.5, {0, 0, 0}}, c.box);
  Atoms atoms = domain.distribute(c);
  const Exec exec;
  domain.rebuild(exec, atoms);
  AtomShares shares;
  shares.compute(exec, atoms, domain, field);
  HeatFlow flow = heat_flow(exec, atoms, shares, zero, {0, 0, 0});
  comm.reduce(std::span<double>(flow.current), Comm::Reduction::sum);
  return flow.current;
}

/// sum_i (e_i - zero) (x_i - x_0), the energies of atoms as heat_flow() has them.
Vec3 energy_moment(ForceField& field, const Configuration& c, const std::vector<double>& zero,
                   const Vec3& x0) {
  const auto energies = evaluate(Comm::world(), field, c).atom_energy;
  Vec3 moment{};
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    const Vec3& v = c.velocities[i];
    const double e =
        energies[i] - zero[c.types[i]] +
        0.5 * c.masses[c.types[i]] * units::mv2_to_ev * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; ++k) moment[k] += e * (c.positions[i][k] - x0[k]);
  }
  return moment;
}

/// J is the derivative of the energies' moment along Newton's trajectory, by central differences whose atoms
/// move by h at most.
void expect_current(ForceField& field, const Configuration& c, double h, double tolerance,
                    const std::string& name) {
  const auto now = evaluate(Comm::world(), field, c);
  std::vector<double> zero(c.type_names.size(), 0.0);
  for (std::size_t i = 0; i < c.n_atoms(); ++i) zero[c.types[i]] = now.atom_energy[i];
  const double dt = h / 3;
  Vec3 moment[2];
  for (const int side : {0, 1}) {
    const double t = side == 0 ? -dt : dt;
    auto moved = c;
    for (std::size_t i = 0; i < c.n_atoms(); ++i)
      for (int k = 0; k < 3; ++k) {
        const double a = now.force[3 * i + k] / c.masses[c.types[i]] * units::force_to_acceleration;
        moved.positions[i][k] += c.velocities[i][k] * t + 0.5 * a * t * t;
        moved.velocities[i][k] += a * t;
      }
    moment[side] = energy_moment(field, moved, zero, c.positions[0]);
  }
  const Vec3 current = current_of(field, c, zero);
  const double scale = std::max(1.0, std::hypot(current[0], current[1], current[2]));
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(current[k], (moment[1][k] - moment[0][k]) / (2 * dt), tolerance * scale) << name << k;
}

TEST(HeatCurrent, is_the_derivative_of_the_moment_of_energies_in_a_cluster) {
  for (const auto& item : all_model_cases()) {
    // Differences of energies in float32 would be noise; networks of relu have kinks between the two sides.
    DeepPotential field(read_dp(item.model), options_of(item, Precision::fp64));
    expect_current(field, moving(in_the_open(item.reference.configuration)), 1e-5,
                   item.name.find("relu") != std::string::npos ? 3e-5 : 3e-6, item.name);
  }
}

TEST(HeatCurrent, of_repulsion_and_of_pairs_is_that_derivative) {
  const auto item = model_cases().front();
  auto c = moving(in_the_open(item.reference.configuration));
  c.positions[1] = {c.positions[0][0] + 0.4, c.positions[0][1] + 0.3, c.positions[0][2] + 0.2};
  Repulsion near(std::make_unique<DeepPotential>(read_dp(item.model), DeepPotentialOptions{}), {0.6, 1.0});
  expect_current(near, c, 1e-5, 1e-6, "repulsion");
  PairPotential pairs({{PairFormula::morse, {"O", "H"}, 0.3, 1.1, 1.7, 5, 1},
                       {PairFormula::morse, {"O", "O"}, 0.1, 2.1, 1.2, 6, 2}});
  expect_current(pairs, c, 1e-5, 1e-6, "pairs");
}

TEST(HeatCurrent, of_a_rigid_translation_carries_energy_and_work) {
  const auto item = model_cases().front();
  auto c = moving(item.reference.configuration);
  const Vec3 v{1.5, -2, 0.7};
  double mass = 0;
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    c.velocities[i] = v;
    mass += c.masses[c.types[i]];
  }
  const auto whole = evaluate(Comm::world(), field_of(item), c);
  const double energy =
      whole.energy + 0.5 * mass * units::mv2_to_ev * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  const Vec3 current = current_of(field_of(item), c, std::vector<double>(c.type_names.size(), 0.0));
  for (int l = 0; l < 3; ++l) {
    const double work = whole.virial[l] * v[0] + whole.virial[3 + l] * v[1] + whole.virial[6 + l] * v[2];
    EXPECT_NEAR(current[l], energy * v[l] + work, 1e-12 * std::abs(energy)) << l;
  }
}

TEST(HeatCurrent, leaves_forces_alone_and_is_the_same_on_any_number_of_ranks) {
  for (const auto& item : model_cases()) {
    const Comm comms[] = {Comm::world(), Comm::self()};
    Vec3 currents[2];
    for (const int c : {0, 1}) {
      const auto configuration = moving(item.reference.configuration);
      Domain domain(comms[c], {field_of(item).cutoff(), 0.5, {0, 0, 0}}, configuration.box);
      Atoms atoms = domain.distribute(configuration);
      domain.rebuild(Exec(), atoms);
      Kokkos::deep_copy(atoms.force, 3.0);
      AtomShares shares;
      shares.compute(Exec(), atoms, domain, field_of(item));
      for (int i = 0; i < atoms.n_all(); ++i) EXPECT_EQ(atoms.force(i, 1), 3.0);
      HeatFlow flow = heat_flow(Exec(), atoms, shares, mean_energies(atoms, shares, domain),
                                barycentre_velocity(Exec(), atoms, domain));
      comms[c].reduce(std::span<double>(flow.current), Comm::Reduction::sum);
      currents[c] = flow.current;
    }
    const double scale = std::max(1.0, std::hypot(currents[1][0], currents[1][1], currents[1][2]));
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(currents[0][k], currents[1][k], (item.name == "float32" ? 2e-4 : 1e-10) * scale)
          << item.name;
  }
}

}  // namespace
}  // namespace quintet::potential
