#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/deep_potential_case.hpp"
#include "tests/unit/bridges/host.hpp"

/// Numbers of atoms that a model reads (aparam) come from the host, atom by atom or by type.
namespace {

using namespace quintet_c;

constexpr const char* one_of_two = "atom_parameters.dp";  // reads 2 numbers of each atom

/// Other numbers for each atom.
std::vector<double> some(int n_atoms, int n) {
  std::vector<double> values(std::size_t(n_atoms) * n);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::cos(1.3 * i) - 0.2;
  return values;
}

int give(const Handle& handle, int n_atoms, int n, const std::vector<double>& values) {
  return quintet_potential_set_atom_parameters(handle.potential, n_atoms, n, values.data());
}
int give_types(const Handle& handle, int n_types, int n, const std::vector<double>& values) {
  return quintet_potential_set_type_parameters(handle.potential, n_types, n, values.data());
}

TEST(QuintetCParameters, finds_what_deepmd_kit_finds) {
  for (const char* name : {"atom_parameters", "dpa1_atom_parameters", "hybrid_atom_parameters"}) {
    const Handle handle({data(std::string(name) + ".dp")}, nullptr);
    ASSERT_EQ(handle.error(), "");
    const int n_read = quintet_potential_atom_parameters(handle.potential);
    for (const auto& item : read_cases(data(std::string(name) + ".ref.json"), {"O", "H"})) {
      if (item.name.find("sel_overflow") != std::string::npos) continue;  // of another rule
      SCOPED_TRACE(std::string(name) + " " + item.name);
      const auto& c = item.configuration;
      std::vector<double> positions;
      for (const auto& x : c.positions) positions.insert(positions.end(), x.begin(), x.end());
      ASSERT_EQ(give(handle, c.types.size(), n_read, c.parameters), QUINTET_OK) << handle.error();
      const Found found =
          compute(handle, c.types, positions,
                  c.box.fully_periodic() ? std::vector<double>(c.box.rows().begin(), c.box.rows().end())
                                         : std::vector<double>());
      EXPECT_NEAR(found.energy, item.energy, 1e-9 * std::max(1.0, std::abs(item.energy)));
      expect_near(found.forces, item.force, 1e-9, "forces");
      expect_near(found.virial, item.virial, 1e-8, "virial");
      expect_near(found.energies, item.atom_energy, 1e-9, "energies");
    }
  }
}

/// Where those of an atom matter: its own energy changes with them, and no other atom's.
TEST(QuintetCParameters, forces_are_derivatives_with_the_numbers_held) {
  const Handle handle({data(one_of_two)});
  const Water water(4.5);
  const auto types = water.owned_types();
  auto x = water.owned_positions();
  auto values = some(water.n_owned, 2);
  ASSERT_EQ(give(handle, water.n_owned, 2, values), QUINTET_OK) << handle.error();
  const Found found = compute(handle, types, x, water.cell);
  for (const int k : {0, 14, 71}) {
    const double h = 1e-4, at = x[k];
    x[k] = at + h;
    const double above = compute(handle, types, x, water.cell).energy;
    x[k] = at - h;
    const double below = compute(handle, types, x, water.cell).energy;
    x[k] = at;
    EXPECT_NEAR(found.forces[k], -(above - below) / (2 * h), 1e-7) << k;
  }
  values[2 * 5] += 0.5;
  ASSERT_EQ(give(handle, water.n_owned, 2, values), QUINTET_OK);
  const Found other = compute(handle, types, x, water.cell);
  for (int i = 0; i < water.n_owned; ++i) {
    if (i == 5)
      EXPECT_GT(std::abs(other.energies[i] - found.energies[i]), 1e-4);
    else
      EXPECT_EQ(other.energies[i], found.energies[i]) << i;
  }
}

/// Energy, energies and forces by a list of the host's; ghosts have no numbers.
Found by_list(const Handle& handle, const Water& water, int model = 0) {
  Found parts(water.types.size());
  EXPECT_EQ(quintet_potential_compute_neighbours(handle.potential, model, water.positions.data(),
                                                 &parts.energy, parts.forces.data(), parts.virial.data(),
                                                 parts.energies.data(), parts.virials.data()),
            QUINTET_OK)
      << handle.error();
  for (int g = 0; g < water.n_ghosts(); ++g)
    for (int k = 0; k < 3; ++k)
      parts.forces[3 * water.owner[g] + k] += parts.forces[3 * (water.n_owned + g) + k];
  parts.forces.resize(3 * std::size_t(water.n_owned));
  parts.energies.resize(water.n_owned);
  return parts;
}

TEST(QuintetCParameters, a_list_of_the_host_gives_what_its_own_gives) {
  for (const char* file : {one_of_two, "hybrid_atom_parameters.dp"}) {
    SCOPED_TRACE(file);
    const Handle handle({data(file)});
    const int n = quintet_potential_atom_parameters(handle.potential);
    Water water(quintet_potential_cutoff(handle.potential) + 0.6);
    const auto values = some(water.n_owned, n);
    ASSERT_EQ(give(handle, water.n_owned, n, values), QUINTET_OK) << handle.error();
    const Found whole = compute(handle, water.owned_types(), water.owned_positions(), water.cell);
    ASSERT_EQ(water.set(handle.potential), QUINTET_OK);
    ASSERT_EQ(give(handle, water.n_owned, n, values), QUINTET_OK) << handle.error();
    const Found parts = by_list(handle, water);
    EXPECT_NEAR(parts.energy, whole.energy, 1e-12);
    expect_near(parts.forces, whole.forces, 1e-12, "forces");
    expect_near(parts.energies, whole.energies, 1e-12, "energies");
    std::vector<float> x(water.positions.begin(), water.positions.end());
    double energy = 0;
    EXPECT_EQ(quintet_potential_compute_neighbours_float(handle.potential, 0, x.data(), &energy, nullptr,
                                                         nullptr, nullptr, nullptr),
              QUINTET_OK)
        << handle.error();
    EXPECT_NEAR(energy, whole.energy, 1e-4);
  }
}

/// Numbers of types are those of all their atoms, also on a device; those of atoms replace them.
TEST(QuintetCParameters, by_type) {
  const std::vector<double> of_types{0.3, -1, 0.1, 0.5};
  Water water(5.0);
  std::vector<double> of_atoms;
  for (const int t : water.owned_types())
    of_atoms.insert(of_atoms.end(), of_types.begin() + 2 * t, of_types.begin() + 2 * t + 2);
  const Handle handle({data(one_of_two), data("oneside.dp")});
  ASSERT_EQ(give(handle, water.n_owned, 2, of_atoms), QUINTET_OK) << handle.error();
  const Found by_atom = compute(handle, water.owned_types(), water.owned_positions(), water.cell);
  const Found without = compute(handle, water.owned_types(), water.owned_positions(), water.cell, 1);
  ASSERT_EQ(give_types(handle, 2, 2, of_types), QUINTET_OK) << handle.error();
  ASSERT_EQ(water.set(handle.potential), QUINTET_OK) << "which forgets those of atoms alone";
  for (const Found& found :
       {by_list(handle, water), compute(handle, water.owned_types(), water.owned_positions(), water.cell)}) {
    EXPECT_NEAR(found.energy, by_atom.energy, 1e-11);
    expect_near(found.forces, by_atom.forces, 1e-11, "forces");
  }
  EXPECT_EQ(compute(handle, water.owned_types(), water.owned_positions(), water.cell, 1).forces,
            without.forces)
      << "a model that reads none";
  const Handle device({data(one_of_two)}, "double", "portable");
  ASSERT_EQ(give_types(device, 2, 2, of_types), QUINTET_OK) << device.error();
  ASSERT_EQ(water.set(device.potential), QUINTET_OK);
  expect_near(by_list(device, water).forces, by_atom.forces, 1e-11, "on a device");
  ASSERT_EQ(give(handle, water.n_owned, 2, some(water.n_owned, 2)), QUINTET_OK) << handle.error();
  EXPECT_GT(std::abs(compute(handle, water.owned_types(), water.owned_positions(), water.cell).energy -
                     by_atom.energy),
            1e-4)
      << "those of atoms replace those of types";
}

TEST(QuintetCParameters, go_with_their_atoms_past_others) {
  const Handle handle({data(one_of_two), data("oneside.dp")});
  const Water water(4.5);
  const int n = water.n_owned;
  auto types = water.owned_types();
  auto x = water.owned_positions();
  auto values = some(n, 2);
  ASSERT_EQ(give(handle, n, 2, values), QUINTET_OK);
  const Found without = compute(handle, types, x, water.cell);
  std::vector<double> deviation(n + 1), summary(7), of_fewer(7);
  ASSERT_EQ(quintet_potential_deviation(handle.potential, n, types.data(), x.data(), water.cell.data(),
                                        nullptr, of_fewer.data()),
            QUINTET_OK)
      << handle.error();
  types.insert(types.begin() + 3, -1);
  x.insert(x.begin() + 9, {1.0, 0.4, 0.3});
  values.insert(values.begin() + 6, {7, 8});
  ASSERT_EQ(give(handle, n + 1, 2, values), QUINTET_OK);
  EXPECT_EQ(compute(handle, types, x, water.cell).energy, without.energy);
  ASSERT_EQ(quintet_potential_deviation(handle.potential, n + 1, types.data(), x.data(), water.cell.data(),
                                        deviation.data(), summary.data()),
            QUINTET_OK)
      << handle.error();
  EXPECT_GT(summary[0], 1e-3);
  EXPECT_DOUBLE_EQ(summary[0], of_fewer[0]);
}

void expect_complaint(const Handle& handle, int code, const std::string& words) {
  EXPECT_EQ(code, QUINTET_INPUT);
  EXPECT_NE(handle.error().find(words), std::string::npos) << handle.error();
}

TEST(QuintetCParameters, mistakes_are_named) {
  const Handle handle({data(one_of_two)});
  ASSERT_EQ(handle.error(), "");
  EXPECT_EQ(quintet_potential_atom_parameters(handle.potential), 2);
  Water water(5.0);
  const auto types = water.owned_types();
  const auto x = water.owned_positions();
  const int n = water.n_owned;
  double energy = 5;
  const auto code = [&](const Handle& of, int n_atoms) {
    return quintet_potential_compute(of.potential, 0, n_atoms, types.data(), x.data(), nullptr, &energy,
                                     nullptr, nullptr, nullptr, nullptr);
  };
  expect_complaint(handle, code(handle, n), "reads 2 numbers of each atom (aparam), none were given");
  auto values = some(n, 3);
  expect_complaint(handle, give(handle, n, 3, values), "reads 2 numbers of each atom (aparam), 3 given");
  expect_complaint(handle, give(handle, n, 1, values), "reads 2 numbers of each atom (aparam), 1 given");
  expect_complaint(handle, give(handle, -1, 2, values), "negative");
  expect_complaint(handle, quintet_potential_set_atom_parameters(handle.potential, n, 2, nullptr),
                   "values is NULL");
  values[5] = std::numeric_limits<double>::infinity();
  expect_complaint(handle, give(handle, n, 2, values), "aparam of atom 2 is inf");
  ASSERT_EQ(give(handle, 2, 2, values), QUINTET_OK) << "it is not among these";
  expect_complaint(handle, code(handle, 3), "numbers of 2 atoms were given (aparam), 3 atoms are");
  EXPECT_EQ(energy, 5) << "not written to";
  EXPECT_EQ(code(handle, 2), QUINTET_OK) << handle.error();
  ASSERT_EQ(water.set(handle.potential), QUINTET_OK);
  const auto listed = [&] {
    return quintet_potential_compute_neighbours(handle.potential, 0, water.positions.data(), &energy, nullptr,
                                                nullptr, nullptr, nullptr);
  };
  expect_complaint(handle, listed(), "none were given");
  const auto right = some(n, 2);
  ASSERT_EQ(give(handle, n, 2, right), QUINTET_OK);
  EXPECT_EQ(listed(), QUINTET_OK) << handle.error();
  expect_complaint(handle, give_types(handle, 1, 2, right),
                   "numbers of 1 type were given (aparam), the model has 2");
  expect_complaint(handle, give_types(handle, 2, 1, right), "reads 2 numbers of each atom (aparam), 1 given");
  EXPECT_EQ(listed(), QUINTET_OK) << "what is refused changes nothing: " << handle.error();
  ASSERT_EQ(give_types(handle, 2, 2, right), QUINTET_OK);
  EXPECT_EQ(listed(), QUINTET_OK) << handle.error();
  ASSERT_EQ(quintet_potential_set_type_parameters(handle.potential, 0, 0, nullptr), QUINTET_OK);
  expect_complaint(handle, listed(), "none were given");
  const Handle none({data("oneside.dp")});
  EXPECT_EQ(quintet_potential_atom_parameters(none.potential), 0);
  EXPECT_EQ(quintet_potential_atom_parameters(nullptr), 0);
  expect_complaint(none, give(none, n, 2, right), "reads no numbers of atoms");
  EXPECT_EQ(code(none, n), QUINTET_OK);
  const Handle device({data(one_of_two)}, "double", "portable");
  expect_complaint(device, give(device, n, 2, right), "give them by type, or take device cpu");
  expect_complaint(device, code(device, n), "none were given");
}

}  // namespace
