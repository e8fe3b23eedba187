#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "tests/verification/potential/models.hpp"

namespace quintet::potential {
namespace {

double energy_tolerance(const ModelCase& item, double energy) {
  return (item.name == "float32" ? 1e-6 : 1e-12) * std::max(1.0, std::abs(energy));
}
double force_tolerance(const ModelCase& item) { return item.name == "float32" ? 2e-4 : 1e-10; }

Vec3 rotated(const Mat3& r, const Vec3& x) {
  return {r[0] * x[0] + r[1] * x[1] + r[2] * x[2], r[3] * x[0] + r[4] * x[1] + r[5] * x[2],
          r[6] * x[0] + r[7] * x[1] + r[8] * x[2]};
}

/// A proper rotation about no axis in particular.
Mat3 rotation() {
  const double w = 0.5, x = -0.1, y = 0.7, z = std::sqrt(1 - w * w - x * x - y * y);
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

TEST(Energy, does_not_change_and_forces_turn_under_rotation) {
  const Mat3 r = rotation();
  for (const auto& item : all_model_cases()) {
    auto& field = field_of(item);
    const auto& start = item.reference.configuration;
    auto turned = start;
    Mat3 rows = start.box.rows();
    for (int k = 0; k < 3; ++k) {
      const Vec3 row = rotated(r, {rows[3 * k], rows[3 * k + 1], rows[3 * k + 2]});
      std::copy(row.begin(), row.end(), rows.begin() + 3 * k);
    }
    turned.box = Box(rows, start.box.periodic());
    for (auto& x : turned.positions) x = rotated(r, x);
    const auto before = evaluate(Comm::world(), field, start), after = evaluate(Comm::world(), field, turned);

    EXPECT_NEAR(after.energy, before.energy, energy_tolerance(item, before.energy)) << item.name;
    for (std::size_t i = 0; i < start.n_atoms(); ++i) {
      const Vec3 f = rotated(r, {before.force[3 * i], before.force[3 * i + 1], before.force[3 * i + 2]});
      for (int l = 0; l < 3; ++l)
        EXPECT_NEAR(after.force[3 * i + l], f[l], force_tolerance(item)) << item.name << " atom " << i;
    }
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < k; ++l)
        EXPECT_NEAR(before.virial[3 * k + l], before.virial[3 * l + k], 10 * force_tolerance(item))
            << item.name;
  }
}

TEST(Energy, does_not_change_under_translation_and_forces_sum_to_zero) {
  for (const auto& item : all_model_cases()) {
    auto& field = field_of(item);
    auto shifted = item.reference.configuration;
    for (auto& x : shifted.positions) x = {x[0] + 3.217, x[1] - 11.3, x[2] + 0.55};
    const auto before = evaluate(Comm::world(), field, item.reference.configuration),
               after = evaluate(Comm::world(), field, shifted);

    EXPECT_NEAR(after.energy, before.energy, energy_tolerance(item, before.energy)) << item.name;
    EXPECT_LE(largest_difference(after.force, before.force), force_tolerance(item)) << item.name;
    double sum[3] = {};
    for (std::size_t i = 0; i < before.force.size(); ++i) sum[i % 3] += before.force[i];
    for (const double total : sum) EXPECT_NEAR(total, 0, force_tolerance(item)) << item.name;
  }
}

TEST(Energy, does_not_depend_on_the_order_of_atoms) {
  std::mt19937 random(9);
  for (const auto& item : all_model_cases()) {
    auto& field = field_of(item);
    const auto& start = item.reference.configuration;
    std::vector<int> order(start.n_atoms());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    auto shuffled = start;
    for (std::size_t i = 0; i < order.size(); ++i) {
      shuffled.positions[i] = start.positions[order[i]];
      shuffled.types[i] = start.types[order[i]];
    }
    for (std::size_t k = 0; k < start.parameters.size(); ++k) {
      const int n = start.n_parameters(), i = static_cast<int>(k) / n;
      shuffled.parameters[k] = start.parameters[order[i] * n + static_cast<int>(k) % n];
    }
    const auto before = evaluate(Comm::world(), field, start),
               after = evaluate(Comm::world(), field, shuffled);

    EXPECT_NEAR(after.energy, before.energy, energy_tolerance(item, before.energy)) << item.name;
    for (std::size_t i = 0; i < order.size(); ++i) {
      EXPECT_NEAR(after.atom_energy[i], before.atom_energy[order[i]],
                  10 * energy_tolerance(item, before.energy))
          << item.name;
      for (int l = 0; l < 3; ++l)
        EXPECT_NEAR(after.force[3 * i + l], before.force[3 * order[i] + l], force_tolerance(item))
            << item.name;
    }
  }
}

TEST(Energy, is_the_same_on_any_number_of_ranks) {
  for (const auto& item : all_model_cases("orthorhombic")) {
    auto& field = field_of(item);
    const auto one = evaluate(Comm::self(), field, item.reference.configuration);
    const auto all = evaluate(Comm::world(), field, item.reference.configuration);

    EXPECT_NEAR(all.energy, one.energy, energy_tolerance(item, one.energy)) << item.name;
    EXPECT_LE(largest_difference(all.force, one.force), force_tolerance(item)) << item.name;
    EXPECT_LE(largest_difference(all.atom_energy, one.atom_energy), energy_tolerance(item, one.energy))
        << item.name;
    EXPECT_LE(
        largest_difference({all.virial.begin(), all.virial.end()}, {one.virial.begin(), one.virial.end()}),
        10 * force_tolerance(item))
        << item.name;
  }
}

TEST(Energy, of_a_cell_repeated_is_so_many_times_the_cells) {
  for (const auto& item : all_model_cases("orthorhombic")) {
    auto& field = field_of(item);
    const auto& cell = item.reference.configuration;
    auto with_masses = cell;
    with_masses.masses.assign(cell.type_names.size(), 1.0);
    const auto one = evaluate(Comm::world(), field, cell),
               eight = evaluate(Comm::world(), field, replicated(with_masses, {2, 2, 2}));

    EXPECT_NEAR(eight.energy, 8 * one.energy, 8 * energy_tolerance(item, one.energy)) << item.name;
    for (std::size_t i = 0; i < eight.force.size(); ++i)
      ASSERT_NEAR(eight.force[i], one.force[i % one.force.size()], force_tolerance(item)) << item.name;
  }
}

/// Copies of a cluster 25 angstrom apart: 9, 27, 36 and 63 atoms fill batches of one type to odd numbers.
TEST(Energy, of_separate_clusters_adds_up_for_any_number_of_atoms) {
  for (const auto& item : all_model_cases("cluster")) {
    if (item.name == "copper") continue;
    auto& field = field_of(item);
    const auto& cluster = item.reference.configuration;
    const auto one = evaluate(Comm::world(), field, cluster);
    for (const int copies : {3, 4, 7, 12}) {
      auto many = cluster;
      many.box = Box({25.0 * copies + 20, 0, 0, 0, 50, 0, 0, 0, 50}, {false, false, false});
      for (int c = 1; c < copies; ++c)
        for (std::size_t i = 0; i < cluster.n_atoms(); ++i) {
          many.positions.push_back(
              {cluster.positions[i][0] + 25.0 * c, cluster.positions[i][1], cluster.positions[i][2]});
          many.types.push_back(cluster.types[i]);
        }
      for (int c = 1; c < copies; ++c)
        many.parameters.insert(many.parameters.end(), cluster.parameters.begin(), cluster.parameters.end());
      const auto all = evaluate(Comm::world(), field, many);

      EXPECT_NEAR(all.energy, copies * one.energy, copies * energy_tolerance(item, one.energy))
          << item.name << " x " << copies;
      for (std::size_t i = 0; i < all.force.size(); ++i)
        ASSERT_NEAR(all.force[i], one.force[i % one.force.size()], force_tolerance(item))
            << item.name << " x " << copies;
    }
  }
}

}  // namespace
}  // namespace quintet::potential
