#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "surrogates/potential/device/device_force_field.hpp"
#include "surrogates/potential/model/repulsion/repulsion.hpp"
#include "tests/verification/potential/models.hpp"
#include "tests/verification/potential/open_cluster.hpp"

namespace quintet::potential {
namespace {

double tolerance(const ModelCase& item) { return item.name == "float32" ? 2e-4 : 1e-10; }

TEST(AtomVirials, sum_to_the_virial) {
  for (const auto& item : model_cases()) {
    const auto& configuration = item.reference.configuration;
    const auto by_atom = atom_virials(Comm::world(), field_of(item), configuration);
    const auto whole = evaluate(Comm::world(), field_of(item), configuration);
    const double scale = largest(by_atom);
    for (int k = 0; k < 9; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < configuration.n_atoms(); ++i) sum += by_atom[9 * i + k];
      EXPECT_NEAR(sum, whole.virial[k], 1e-12 * scale * configuration.n_atoms()) << item.name;
    }
  }
}

/// W_j = -sum_i (dE_i/dx_j) (x_j - x_i)^T with dE_i/dx_j from central differences of the energies of atoms.
void expect_definition(ForceField& field, const Configuration& c, const std::vector<std::size_t>& atoms,
                       double h, double tolerance, const std::string& name) {
  const auto by_atom = atom_virials(Comm::world(), field, c);
  for (const std::size_t j : atoms) {
    Mat3 expected{};
    for (int k = 0; k < 3; ++k) {
      std::vector<double> energies[2];
      for (const int side : {0, 1}) {
        auto moved = c;
        moved.positions[j][k] += side == 0 ? -h : h;
        energies[side] = evaluate(Comm::world(), field, moved).atom_energy;
      }
      for (std::size_t i = 0; i < c.n_atoms(); ++i)
        for (int l = 0; l < 3; ++l)
          expected[3 * k + l] -=
              (energies[1][i] - energies[0][i]) / (2 * h) * (c.positions[j][l] - c.positions[i][l]);
    }
    for (int k = 0; k < 9; ++k)
      EXPECT_NEAR(by_atom[9 * j + k], expected[k], tolerance * std::max(1.0, largest(by_atom)))
          << name << ", atom " << j << ", component " << k;
  }
}

TEST(AtomVirials, are_as_defined_by_finite_differences_of_energies_of_atoms) {
  for (const auto& item : all_model_cases()) {
    const bool noisy = item.name == "float32";  // energies of 1e-6 eV
    const auto c = in_the_open(item.reference.configuration);
    expect_definition(field_of(item), c, {0, c.n_atoms() / 2, c.n_atoms() - 1}, noisy ? 2e-2 : 3e-5,
                      noisy ? 2e-2 : 1e-6, item.name);
  }
}

TEST(AtomVirials, with_repulsion_are_as_defined) {
  const auto item = model_cases().front();
  auto c = in_the_open(item.reference.configuration);
  c.positions[1] = {c.positions[0][0] + 0.4, c.positions[0][1] + 0.3, c.positions[0][2] + 0.2};
  Repulsion field(std::make_unique<DeepPotential>(read_dp(item.model), DeepPotentialOptions{}), {0.6, 1.0});
  expect_definition(field, c, {0, 1, 2}, 1e-5, 1e-6, "repulsion");
}

TEST(AtomVirials, with_repulsion_are_the_same_of_the_device_engine) {
  const auto item = model_cases().front();
  const auto start = crowded(item.reference.configuration);
  Repulsion cores(std::make_unique<DeepPotential>(read_dp(item.model), DeepPotentialOptions{}), {0.6, 1.2});
  DeviceForceField device(read_dp(item.model), {}, RepulsionOptions{0.6, 1.2});
  const auto expected = atom_virials(Comm::world(), cores, start);
  EXPECT_LE(largest_difference(atom_virials(Comm::world(), device, start), expected),
            1e-11 * std::max(1.0, largest(expected)));
}

TEST(AtomVirials, are_the_same_on_any_number_of_ranks) {
  for (const auto& item : model_cases()) {
    const auto& configuration = item.reference.configuration;
    const auto together = atom_virials(Comm::world(), field_of(item), configuration),
               alone = atom_virials(Comm::self(), field_of(item), configuration);
    EXPECT_LE(largest_difference(together, alone), tolerance(item) * std::max(1.0, largest(alone)))
        << item.name;
  }
}

TEST(AtomVirials, turn_with_the_atoms) {
  // A quarter turn about z: x -> y, y -> -x, exact in floating point.
  const auto turn = [](const Vec3& x) { return Vec3{-x[1], x[0], x[2]}; };
  const auto item = model_cases().front();
  auto start = in_the_open(item.reference.configuration), turned = start;
  for (auto& x : turned.positions) {
    x = turn(x);
    x[0] += 60;
  }
  const auto before = atom_virials(Comm::world(), field_of(item), start),
             after = atom_virials(Comm::world(), field_of(item), turned);
  const int axis[3] = {1, 0, 2}, sign[3] = {-1, 1, 1};
  for (std::size_t i = 0; i < start.n_atoms(); ++i)
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < 3; ++l)
        EXPECT_NEAR(after[9 * i + 3 * k + l], sign[k] * sign[l] * before[9 * i + 3 * axis[k] + axis[l]],
                    1e-10 * std::max(1.0, largest(before)));
}

}  // namespace
}  // namespace quintet::potential
