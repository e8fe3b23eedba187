#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/deep_potential_case.hpp"
#include "tests/unit/bridges/host.hpp"

namespace {

using namespace quintet_c;

TEST(QuintetC, finds_what_deepmd_kit_finds) {
  for (const char* name : {"oneside", "twoside", "oneside_compressed", "pair_exclude", "atom_exclude"}) {
    const Handle handle({data(std::string(name) + ".dp")}, nullptr);
    ASSERT_EQ(handle.error(), "");
    for (const auto& item : read_cases(data(std::string(name) + ".ref.json"), {"O", "H"})) {
      if (item.name.find("sel_overflow") != std::string::npos) continue;  // of another rule
      const std::string what = std::string(name) + " " + item.name;
      std::vector<double> positions;
      for (const auto& x : item.configuration.positions)
        positions.insert(positions.end(), x.begin(), x.end());
      const auto& box = item.configuration.box;
      const Found found =
          compute(handle, item.configuration.types, positions,
                  box.fully_periodic() ? std::vector<double>(box.rows().begin(), box.rows().end())
                                       : std::vector<double>());
      EXPECT_NEAR(found.energy, item.energy, 1e-9 * std::max(1.0, std::abs(item.energy))) << what;
      if (!item.force.empty()) expect_near(found.forces, item.force, 1e-9, what + " forces");
      if (!item.virial.empty()) expect_near(found.virial, item.virial, 1e-8, what + " virial");
      if (!item.atom_energy.empty()) expect_near(found.energies, item.atom_energy, 1e-9, what + " energies");
      std::vector<double> sum(9);
      for (std::size_t i = 0; i < found.virials.size(); ++i) sum[i % 9] += found.virials[i];
      expect_near(sum, found.virial, 1e-10, what + " virials by atom");
    }
  }
}

/// Energy, forces, virials of one model with the host's list beside those with the library's.
void expect_equal_by_list(const Handle& handle, int model, Water& water) {
  const int n = water.n_owned, n_all = n + water.n_ghosts();
  const Found whole = compute(handle, water.owned_types(), water.owned_positions(), water.cell, model);
  Found parts(n_all);
  ASSERT_EQ(water.set(handle.potential), QUINTET_OK) << handle.error();
  ASSERT_EQ(quintet_potential_check_neighbours(handle.potential, water.positions.data()), QUINTET_OK)
      << handle.error();
  ASSERT_EQ(quintet_potential_compute_neighbours(handle.potential, model, water.positions.data(),
                                                 &parts.energy, parts.forces.data(), parts.virial.data(),
                                                 parts.energies.data(), parts.virials.data()),
            QUINTET_OK)
      << handle.error();
  for (int g = 0; g < water.n_ghosts(); ++g) {
    for (int k = 0; k < 3; ++k) parts.forces[3 * water.owner[g] + k] += parts.forces[3 * (n + g) + k];
    for (int k = 0; k < 9; ++k) parts.virials[9 * water.owner[g] + k] += parts.virials[9 * (n + g) + k];
  }
  for (auto* values : {&parts.forces, &parts.energies, &parts.virials})
    values->resize(values->size() / n_all * n);
  EXPECT_NEAR(parts.energy, whole.energy, 1e-12);
  expect_near(parts.forces, whole.forces, 1e-12, "forces");
  expect_near(parts.virial, whole.virial, 1e-12, "virial");
  expect_near(parts.energies, whole.energies, 1e-12, "energies");
  expect_near(parts.virials, whole.virials, 1e-12, "virials by atom");
}

TEST(QuintetC, a_list_of_the_host_gives_what_its_own_gives) {
  const Handle handle({data("oneside.dp"), data("twoside.dp")});
  for (const double skin : {0.0, 0.8}) {
    Water water(4.5 + skin);
    for (const int model : {0, 1}) expect_equal_by_list(handle, model, water);
  }
}

TEST(QuintetC, other_descriptors_take_a_list_of_the_host) {
  for (const char* const file : {"se_e2_r.dp", "dpa1_concat.dp", "dpa1_strip.dp", "hybrid_mixed.dp"}) {
    const Handle handle({data(file)});
    ASSERT_EQ(handle.error(), "") << file;
    Water water(quintet_potential_cutoff(handle.potential) + 0.8);
    SCOPED_TRACE(file);
    expect_equal_by_list(handle, 0, water);
  }
}

/// An atom of type -1 in the middle of the others changes nothing, in a list of the host's or in ours.
TEST(QuintetC, atoms_of_no_type_are_not_there) {
  const Handle handle({data("twoside.dp")});
  const Water water(4.5);
  const int n = water.n_owned;
  const Found without = compute(handle, water.owned_types(), water.owned_positions(), water.cell);
  std::vector<int> types = water.owned_types();
  std::vector<double> positions = water.owned_positions();
  types.insert(types.begin() + 3, -1);
  positions.insert(positions.begin() + 9, {1.0, 0.4, 0.3});

  const Found with = compute(handle, types, positions, water.cell);

  EXPECT_EQ(with.energy, without.energy);
  EXPECT_EQ(with.energies[3], 0);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(with.forces[9 + k], 0);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k)
      EXPECT_EQ(with.forces[3 * (i < 3 ? i : i + 1) + k], without.forces[3 * i + k]);

  Water listed(4.5);
  for (std::size_t i = 0; i < listed.types.size(); ++i)
    if (const int owner = i < std::size_t(n) ? int(i) : listed.owner[i - n]; owner >= n - 3)
      listed.types[i] = -1;
  const Found fewer = compute(handle, {types.begin(), types.begin() + n - 2},
                              {positions.begin(), positions.begin() + 3 * (n - 2)}, water.cell);
  double energy = 0;
  ASSERT_EQ(listed.set(handle.potential), QUINTET_OK) << handle.error();
  ASSERT_EQ(quintet_potential_check_neighbours(handle.potential, listed.positions.data()), QUINTET_OK)
      << handle.error();
  ASSERT_EQ(quintet_potential_compute_neighbours(handle.potential, 0, listed.positions.data(), &energy,
                                                 nullptr, nullptr, nullptr, nullptr),
            QUINTET_OK);
  EXPECT_NEAR(energy, fewer.energy, 1e-12);
}

TEST(QuintetC, forces_and_virial_are_derivatives_of_the_energy) {
  const Handle handle({data("oneside.dp")});
  const Water water(4.5);
  const std::vector<int> types = water.owned_types();
  const Found found = compute(handle, types, water.owned_positions(), water.cell);
  const double h = 1e-5;
  const auto energy_at = [&](const std::vector<double>& positions, const std::vector<double>& cell) {
    return compute(handle, types, positions, cell).energy;
  };
  for (const int at : {0, 4, 17, 3 * water.n_owned - 1}) {
    std::vector<double> up = water.owned_positions(), down = up;
    up[at] += h;
    down[at] -= h;
    EXPECT_NEAR(found.forces[at], -(energy_at(up, water.cell) - energy_at(down, water.cell)) / (2 * h), 1e-7);
  }
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) {  // x_l += strain_kl x_k
      const auto strained = [&](std::vector<double> rows, double strain) {
        for (std::size_t i = 0; i < rows.size(); i += 3) rows[i + l] += strain * rows[i + k];
        return rows;
      };
      const double slope = (energy_at(strained(water.owned_positions(), h), strained(water.cell, h)) -
                            energy_at(strained(water.owned_positions(), -h), strained(water.cell, -h))) /
                           (2 * h);
      EXPECT_NEAR(found.virial[3 * k + l], -slope, 1e-6);
    }
}

TEST(QuintetC, mixed_precision_is_close_to_double) {
  const Handle fine({data("twoside.dp")}), coarse({data("twoside.dp")}, "mixed");
  const Water water(4.5);
  const Found a = compute(fine, water.owned_types(), water.owned_positions(), water.cell);
  const Found b = compute(coarse, water.owned_types(), water.owned_positions(), water.cell);
  EXPECT_NE(a.energy, b.energy);
  EXPECT_NEAR(a.energy, b.energy, 1e-4);
  expect_near(a.forces, b.forces, 1e-4, "forces");
}

TEST(QuintetC, deviation_is_that_of_the_models_forces) {
  const Handle handle({data("oneside.dp"), data("twoside.dp")});
  const Water water(4.5);
  const std::size_t n = water.n_owned;
  std::vector<double> by_atom(n), summary(7);
  ASSERT_EQ(
      quintet_potential_deviation(handle.potential, water.n_owned, water.types.data(), water.positions.data(),
                                  water.cell.data(), by_atom.data(), summary.data()),
      QUINTET_OK)
      << handle.error();
  const Found a = compute(handle, water.owned_types(), water.owned_positions(), water.cell, 0);
  const Found b = compute(handle, water.owned_types(), water.owned_positions(), water.cell, 1);
  double most = 0;
  for (std::size_t i = 0; i < n; ++i) {  // of two models half the difference
    const double e = std::hypot(a.forces[3 * i] - b.forces[3 * i], a.forces[3 * i + 1] - b.forces[3 * i + 1],
                                a.forces[3 * i + 2] - b.forces[3 * i + 2]) /
                     2;
    EXPECT_NEAR(by_atom[i], e, 1e-13);
    most = std::max(most, e);
  }
  EXPECT_NEAR(summary[0], most, 1e-13);
  EXPECT_NEAR(summary[6], std::abs(a.energy - b.energy) / 2 / double(n), 1e-13);
}

TEST(QuintetC, handles_of_two_threads_do_not_disturb_each_other) {
  const Water water(4.5);
  const auto energy = [&](const std::string& model, int times) {
    const Handle handle({data(model)});
    double last = 0;
    for (int i = 0; i < times; ++i)
      last = compute(handle, water.owned_types(), water.owned_positions(), water.cell).energy;
    return last;
  };
  const double one = energy("oneside.dp", 1), two = energy("twoside.dp", 1);
  double one_there = 0, two_there = 0;
  std::thread first([&] { one_there = energy("oneside.dp", 20); }),
      second([&] { two_there = energy("twoside.dp", 20); });
  first.join();
  second.join();
  EXPECT_EQ(one_there, one);
  EXPECT_EQ(two_there, two);
}

TEST(QuintetC, no_atoms_are_no_mistake) {
  const Handle handle({data("oneside.dp")});
  double energy = 1, virial[9] = {1};
  EXPECT_EQ(quintet_potential_compute(handle.potential, 0, 0, nullptr, nullptr, nullptr, &energy, nullptr,
                                      virial, nullptr, nullptr),
            QUINTET_OK)
      << handle.error();
  EXPECT_EQ(energy, 0);
  EXPECT_EQ(virial[0], 0);
  EXPECT_EQ(
      quintet_potential_set_neighbours(handle.potential, 0, 0, nullptr, 0, nullptr, nullptr, nullptr, ~0),
      QUINTET_OK)
      << handle.error();
  EXPECT_EQ(quintet_potential_check_neighbours(handle.potential, nullptr), QUINTET_OK) << handle.error();
  energy = 1;
  EXPECT_EQ(quintet_potential_compute_neighbours(handle.potential, 0, nullptr, &energy, nullptr, virial,
                                                 nullptr, nullptr),
            QUINTET_OK)
      << handle.error();
  EXPECT_EQ(energy, 0);
}

}  // namespace
