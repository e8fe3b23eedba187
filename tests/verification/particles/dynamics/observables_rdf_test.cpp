#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/observables/rdf.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"

using namespace quintet;

namespace {

const Column& column(const Table& table, const std::string& name) {
  for (const auto& c : table.columns)
    if (c.name == name) return c;
  throw std::runtime_error("no column " + name);
}

/// Pairs a, b within r of one another, by all images in range of a plain triple loop.
double brute_force_count(const Configuration& c, int a, int b, double inner, double outer) {
  double count = 0;
  const Mat3 rows = c.box.rows();
  for (std::size_t i = 0; i < c.n_atoms(); ++i)
    for (std::size_t j = 0; j < c.n_atoms(); ++j)
      for (int n = 0; n < 9 * 9 * 9; ++n) {
        const int shift[3] = {n % 9 - 4, n / 9 % 9 - 4, n / 81 - 4};
        if (c.types[i] != a || c.types[j] != b || (i == j && n == 364)) continue;
        double square = 0;
        for (int k = 0; k < 3; ++k) {
          double d = c.positions[j][k] - c.positions[i][k];
          for (int m = 0; m < 3; ++m) d += shift[m] * rows[3 * m + k];
          square += d * d;
        }
        const double r = std::sqrt(square);
        if (r >= inner && r < outer) ++count;
      }
  return count;
}

}  // namespace

TEST(RadialDistribution, of_an_ideal_gas_is_one) {
  Simulation s(Comm::world(), gas(4000, 40), std::make_unique<NoForces>());
  RadialDistribution rdf({1, 12, 1.0});

  rdf.observe(s.exec, 0, s.atoms, s.domain);

  const auto table = rdf.tables().at(0);
  for (const auto* name : {"all", "Ar_Ar", "Ar_Ne", "Ne_Ne"})
    for (std::size_t bin = 4; bin < 12; ++bin)
      EXPECT_NEAR(column(table, name).values[bin], 1, 0.05) << name << bin;
}

TEST(RadialDistribution, counts_what_a_plain_loop_counts_in_a_small_triclinic_cell) {
  auto configuration = gas(7, 6);
  configuration.box = Box({6, 0, 0, 1.5, 5, 0, -1, 0.8, 7}, {true, true, true});
  configuration.positions[3][0] += 30;  // given outside the cell
  Simulation s(Comm::self(), configuration, std::make_unique<NoForces>());
  RadialDistribution rdf({1, 8.4, 0.7});  // no image of an atom lies on the edge of a bin

  rdf.observe(s.exec, 0, s.atoms, s.domain);

  const auto table = rdf.tables().at(0);
  configuration.positions[3][0] -= 30;
  const char* const names[2][2] = {{"coordination_Ar_Ar", "coordination_Ar_Ne"},
                                   {"coordination_Ne_Ar", "coordination_Ne_Ne"}};
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      for (std::size_t bin = 0; bin < 12; ++bin) {
        const double expected = brute_force_count(configuration, a, b, 0, 0.7 * (bin + 1)) / (a == 0 ? 4 : 3);
        EXPECT_NEAR(column(table, names[a][b]).values[bin], expected, 1e-9) << a << b << bin;
      }
}

TEST(RadialDistribution, of_fcc_has_its_shells) {
  Simulation s(Comm::world(), argon(3, 5.3), argon_forces());
  RadialDistribution rdf({1, 8, 0.1});  // beyond the force field's cutoff of 6

  rdf.observe(s.exec, 0, s.atoms, s.domain);

  const auto table = rdf.tables().at(0);
  const auto& coordination = column(table, "coordination_Ar_Ar").values;
  const double shells[4][2] = {
      {5.3 / std::sqrt(2.0), 12}, {5.3, 18}, {5.3 * std::sqrt(1.5), 42}, {5.3 * std::sqrt(2.0), 54}};
  for (int shell = 0; shell < 4; ++shell) {
    const std::size_t bin = shells[shell][0] / 0.1 + 1;
    EXPECT_EQ(coordination[bin], shells[shell][1]) << shell;
    EXPECT_EQ(column(table, "all").values[bin + 1], 0) << "between the shells";
  }
  EXPECT_EQ(column(table, "all").values[30], 0);
}

TEST(RadialDistribution, needs_a_periodic_cell) {
  Simulation s(Comm::world(), gas(9, 20, false), std::make_unique<NoForces>());
  RadialDistribution rdf({1, 8, 0.1});

  EXPECT_THROW(rdf.observe(s.exec, 0, s.atoms, s.domain), InputError);
}
