#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/observables/bonds.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"

using namespace quintet;

namespace {

constexpr double degree = 3.14159265358979323846 / 180;

/// The tables of one sample.
std::vector<Table> bonds_of(const Configuration& configuration, const BondOptions& options) {
  Simulation s(Comm::world(), configuration, std::make_unique<NoForces>());
  BondGeometry bonds(options);
  bonds.observe(s.exec, 0, s.atoms, s.domain);
  return bonds.tables();
}

std::vector<std::string> names(const Table& table) {
  std::vector<std::string> result;
  for (const auto& column : table.columns) result.push_back(column.name);
  return result;
}

/// Fill a crystal with a basis of fractional places.
Configuration crystal(int n, double lattice, const std::vector<Vec3>& basis) {
  Configuration c;
  const double length = n * lattice;
  c.box = Box({length, 0, 0, 0, length, 0, 0, 0, length}, {true, true, true});
  c.type_names = {"Ar", "Ne"};
  c.masses = {39.948, 20.18};
  for (int i = 0; i < n * n * n; ++i)
    for (const auto& b : basis) {
      c.positions.push_back(
          {lattice * (i / (n * n) + b[0]), lattice * (i / n % n + b[1]), lattice * (i % n + b[2])});
      c.types.push_back(0);
    }
  return c;
}

const std::vector<Vec3> fcc{{0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
const std::vector<Vec3> diamond{{0, 0, 0},       {0, .5, .5},     {.5, 0, .5},     {.5, .5, 0},
                                {.25, .25, .25}, {.25, .75, .75}, {.75, .25, .75}, {.75, .75, .25}};

/// Molecules of water, each turned by another angle about z, some across sides of the cell.
Configuration water(double length, double bond, double angle) {
  Configuration c;
  c.box = Box({12, 0, 0, 0, 12, 0, 0, 0, 12}, {true, false, true});
  c.type_names = {"H", "O"};
  c.masses = {1.008, 15.999};
  for (int i = 0; i < 8; ++i) {
    const Vec3 centre{length * (i % 2), length * (i / 2 % 2) - 5, length * (i / 4)};
    c.positions.push_back(centre);
    c.types.push_back(1);
    for (const int side : {-1, 1}) {
      const double phi = i + side * angle / 2;
      c.positions.push_back({centre[0] + bond * std::cos(phi), centre[1] + bond * std::sin(phi), centre[2]});
      c.types.push_back(0);
    }
  }
  return c;
}

}  // namespace

TEST(BondGeometry, of_fcc_has_its_angles) {
  const auto tables = bonds_of(crystal(3, 5.3, fcc), {1, 4.5, {}, 0.02, 180});

  ASSERT_EQ(names(tables.at(0)), (std::vector<std::string>{"r", "Ar_Ar"}));
  const auto& length = tables[0].columns[1].values;
  for (std::size_t bin = 0; bin < length.size(); ++bin)
    EXPECT_NEAR(length[bin], bin == 187 ? 50 : 0, 1e-12) << bin;  // 5.3 / sqrt(2) = 3.7477
  ASSERT_EQ(names(tables.at(1)), (std::vector<std::string>{"angle", "Ar_Ar_Ar"}));
  const auto& angle = tables[1].columns[1].values;
  for (std::size_t bin = 0; bin <= 180; ++bin) {
    // Of the 66 pairs of 12 neighbours; the last bin is half a degree wide.
    const double expected = bin == 60 || bin == 120 ? 24.0 / 66
                            : bin == 90             ? 12.0 / 66
                            : bin == 180            ? 12.0 / 66
                                                    : 0;
    EXPECT_NEAR(angle[bin], expected, 1e-12) << bin;
    EXPECT_EQ(tables[1].columns[0].values[bin], bin);
  }
}

TEST(BondGeometry, of_diamond_is_the_angle_of_a_tetrahedron) {
  const auto tables = bonds_of(crystal(2, 5.43, diamond), {1, 3, {}, 0.01, 18000});

  const auto& angle = tables.at(1).columns.at(1).values;
  for (std::size_t bin = 0; bin < angle.size(); ++bin)
    EXPECT_NEAR(angle[bin], bin == 10947 ? 100 : 0, 1e-9) << bin;  // acos(-1/3) = 109.4712 degrees
}

TEST(BondGeometry, of_water_sees_molecules_alone_and_beyond_open_sides) {
  const BondOptions options{1, 1.2, {{"H_H", 0.0}}, 0.01, 360};
  const auto tables = bonds_of(water(6, 0.975, 104.6 * degree), options);

  ASSERT_EQ(names(tables.at(0)), (std::vector<std::string>{"r", "H_O"}));
  EXPECT_NEAR(tables[0].columns[1].values[97], 100, 1e-9);
  ASSERT_EQ(names(tables.at(1)), (std::vector<std::string>{"angle", "H_O_H"}));
  EXPECT_NEAR(tables[1].columns[1].values[209], 2, 1e-12);  // about 104.5
}

TEST(BondGeometry, of_a_uniform_gas_has_the_sine_of_the_angle) {
  const auto tables = bonds_of(gas(4000, 40), {1, 4, {}, 0.5, 18});

  double sum[2] = {0, 0};  // of one type there are fewer, and more noise
  const auto noise = [](const std::string& name) { return name == "Ar_Ar_Ar" ? 1 : 4; };
  for (const auto& column : tables.at(1).columns) {
    if (column.name == "angle") continue;
    for (std::size_t bin = 0; bin <= 18; ++bin) {
      const double from = std::max(0.0, 10 * (bin - 0.5)), to = std::min(180.0, 10 * (bin + 0.5));
      const double expected = 0.5 * (std::cos(from * degree) - std::cos(to * degree));
      EXPECT_NEAR(column.values[bin] * (to - from), expected, noise(column.name) * (0.03 * expected + 6e-4))
          << column.name << bin;
      sum[0] += column.values[bin] * (to - from);
    }
  }
  EXPECT_NEAR(sum[0], 6, 1e-12);  // Ar and Ne in the middle, three pairs of ends each
  for (const auto& column : tables.at(0).columns) {
    if (column.name == "r") continue;
    for (std::size_t bin = 2; bin < 8; ++bin) {
      const double from = 0.5 * bin, to = from + 0.5;
      const double expected = (to * to * to - from * from * from) / 64;
      EXPECT_NEAR(0.5 * column.values[bin], expected, 0.05 * expected) << column.name << bin;
    }
    for (const double value : column.values) sum[1] += 0.5 * value;
  }
  EXPECT_NEAR(sum[1], 3, 1e-12);
}

TEST(BondGeometry, counts_what_a_plain_loop_counts_in_a_small_triclinic_cell) {
  auto c = gas(5, 4);
  c.box = Box({4, 0, 0, 1.5, 3.5, 0, -1, 0.8, 5}, {true, true, true});
  Simulation s(Comm::self(), c, std::make_unique<NoForces>());
  BondGeometry bonds({1, 6.1, {}, 0.1, 9});
  bonds.observe(s.exec, 0, s.atoms, s.domain);

  // Angles at the argon atoms between two neon atoms, images within 6.1 angstrom.
  std::vector<double> expected(10, 0.0);
  double total = 0;
  const Mat3 rows = c.box.rows();
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    if (c.types[i] != 0) continue;
    std::vector<Vec3> near;
    for (std::size_t j = 0; j < c.n_atoms(); ++j)
      for (int n = 0; n < 9 * 9 * 9; ++n) {
        const int shift[3] = {n % 9 - 4, n / 9 % 9 - 4, n / 81 - 4};
        if (c.types[j] != 1) continue;
        Vec3 d;
        for (int k = 0; k < 3; ++k)
          d[k] = c.positions[j][k] - c.positions[i][k] + shift[0] * rows[k] + shift[1] * rows[3 + k] +
                 shift[2] * rows[6 + k];
        if (std::hypot(d[0], d[1], d[2]) < 6.1) near.push_back(d);
      }
    for (std::size_t p = 0; p < near.size(); ++p)
      for (std::size_t q = 0; q < p; ++q) {
        const auto& [a, b] = std::pair(near[p], near[q]);
        const double cosine = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / std::hypot(a[0], a[1], a[2]) /
                              std::hypot(b[0], b[1], b[2]);
        ++expected[std::lround(std::acos(std::clamp(cosine, -1.0, 1.0)) / degree / 20)];
        ++total;
      }
  }
  ASSERT_GT(total, 100);
  const auto angles = bonds.tables().at(1);
  for (const auto& column : angles.columns) {
    if (column.name != "Ne_Ar_Ne") continue;
    for (std::size_t bin = 0; bin < 10; ++bin)
      EXPECT_NEAR(column.values[bin] * (bin % 9 == 0 ? 10 : 20), expected[bin] / total, 1e-12) << bin;
    return;
  }
  FAIL() << "no column Ne_Ar_Ne";
}

TEST(BondGeometry, without_bonds_has_no_columns) {
  const auto tables = bonds_of(crystal(3, 5.3, fcc), {1, 3.7, {}, 0.1, 180});

  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(names(tables[0]), std::vector<std::string>{"r"});
  EXPECT_EQ(names(tables[1]), std::vector<std::string>{"angle"});
  EXPECT_EQ(names(bonds_of(crystal(3, 5.3, fcc), {1, 0, {}, 0.1, 180}).at(1)),
            std::vector<std::string>{"angle"});
}

TEST(BondGeometry, takes_pairs_in_either_order_and_refuses_what_is_none) {
  const auto either = [](const std::string& pair) {
    return names(bonds_of(gas(60, 10), {1, 0, {{pair, 4.0}}, 0.1, 90}).at(0));
  };
  EXPECT_EQ(either("Ar_Ne"), (std::vector<std::string>{"r", "Ar_Ne"}));
  EXPECT_EQ(either("Ne_Ar"), either("Ar_Ne"));
  EXPECT_THROW(either("Ar_Kr"), InputError);
  EXPECT_THROW(either("ArNe"), InputError);
  EXPECT_THROW(bonds_of(gas(60, 10), {1, 4, {{"Ar_Ne", 4.0}, {"Ne_Ar", 4.0}}, 0.1, 90}), InputError);
}
