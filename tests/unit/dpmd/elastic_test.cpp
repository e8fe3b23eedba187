#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "apps/dpmd/evaluate/elastic_strains.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "tests/support/lennard_jones.hpp"

namespace quintet::dpmd {
namespace {

constexpr double strain = 1e-3;

double largest(const Matrix6& m) {
  double result = 0;
  for (const auto& row : m)
    for (const double value : row) result = std::max(result, std::abs(value));
  return result;
}

double difference(const Matrix6& a, const Matrix6& b) {
  double result = 0;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) result = std::max(result, std::abs(a[i][j] - b[i][j]));
  return result;
}

/// Copies of a cell of argon on the first rank; the box everywhere.
Configuration crystal_of(const Mat3& cell, const std::vector<Vec3>& fractional, std::array<int, 3> copies) {
  Mat3 rows = cell;
  for (int k = 0; k < 9; ++k) rows[k] *= copies[k / 3];
  Configuration c;
  c.box = Box(rows, {true, true, true});
  c.type_names = {"Ar"};
  if (!Comm::world().is_root()) return c;
  const Box one(cell, {true, true, true});
  for (int a = 0; a < copies[0]; ++a)
    for (int b = 0; b < copies[1]; ++b)
      for (int d = 0; d < copies[2]; ++d)
        for (const auto& s : fractional) {
          c.positions.push_back(one.to_cartesian({s[0] + a, s[1] + b, s[2] + d}));
          c.types.push_back(0);
        }
  c.masses = {39.95};
  return c;
}

Configuration cubic_close_packed(double a = 5.28) {
  return crystal_of({a, 0, 0, 0, a, 0, 0, 0, a}, {{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}},
                    {2, 2, 2});
}

Configuration hexagonal_close_packed(double a = 3.73) {
  const double c = a * std::sqrt(8.0 / 3);
  return crystal_of({a, 0, 0, -a / 2, a * std::sqrt(3.0) / 2, 0, 0, 0, c},
                    {{1.0 / 3, 2.0 / 3, 0.25}, {2.0 / 3, 1.0 / 3, 0.75}}, {3, 3, 2});
}

RestOptions tight() { return {.relax = true, .force_tolerance = 1e-8, .most_steps = 20000}; }

ElasticConstants constants_of(StrainedCrystal& crystal) {
  int strains = 0;
  const auto found = elastic_constants(crystal, strain, [&] { return ++strains <= elastic_strains; });
  EXPECT_EQ(strains, elastic_strains);
  return found.value();
}

/// Constants of a crystal whose cell has come to rest.
ElasticConstants constants_at_rest(StrainedCrystal& crystal) {
  relax_cell(crystal, constants_of(crystal).stiffness, 1e-9);
  return constants_of(crystal);
}

/// Of pairs at places with inversion, C_12 = C_44 where there is no stress (Cauchy), and the bulk modulus is
/// the second derivative of the energy by the volume.
TEST(ElasticConstants, of_pairs_in_a_cubic_crystal_obey_cauchy_and_the_energy) {
  LennardJones field;
  StrainedCrystal crystal(Comm::world(), tight(), field, cubic_close_packed());
  const auto found = constants_at_rest(crystal);
  const auto& c = found.stiffness;
  EXPECT_EQ(symmetry_along_axes(c, 1e-6), "cubic");
  EXPECT_NEAR(c[0][1], c[3][3], 1e-6 * c[0][0]);
  EXPECT_LT(found.asymmetry, 1e-7 * c[0][0]);
  for (int j = 0; j < 6; ++j) EXPECT_NEAR(found.by_energy[j], c[j][j], 1e-5 * c[0][0]) << j;
  const auto energy = [&](double e) { return crystal.at_rest(scaling(1 + e)).energy; };
  constexpr double h = 1e-3;  // of lengths: dV/V = 3 e, E'' = 9 B V
  const double second =
      (16 * (energy(h) + energy(-h)) - energy(2 * h) - energy(-2 * h) - 30 * energy(0)) / (12 * h * h);
  EXPECT_NEAR((c[0][0] + 2 * c[0][1]) / 3, second / (9 * found.volume), 1e-5 * c[0][0]);
}

TEST(ElasticConstants, of_a_hexagonal_crystal_are_hexagonal_and_softer_where_positions_may_move) {
  LennardJones field;
  StrainedCrystal relaxed(Comm::world(), tight(), field, hexagonal_close_packed());
  const auto c = constants_at_rest(relaxed).stiffness;
  EXPECT_EQ(symmetry_along_axes(c, 1e-5), "hexagonal");
  EXPECT_GT(std::abs(c[0][0] - c[2][2]), 1e-3 * c[0][0]);
  StrainedCrystal held(Comm::world(), {}, field, hexagonal_close_packed());
  relax_cell(held, constants_of(held).stiffness, 1e-9);
  const auto stiff = constants_of(held).stiffness;
  EXPECT_EQ(symmetry_along_axes(stiff, 1e-5), "hexagonal");
  EXPECT_LT(c[5][5], 0.99 * stiff[5][5]);  // layers shift under shear in the plane
  EXPECT_NEAR(c[2][2], stiff[2][2], 1e-5 * c[2][2]);
}

/// C_ijkl R_ai R_bj R_ck R_dl.
Matrix6 rotated(const Matrix6& c, const Mat3& r) {
  constexpr int voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
  Matrix6 result{};
  constexpr int first[6] = {0, 1, 2, 1, 0, 0}, second[6] = {0, 1, 2, 2, 2, 1};
  for (int p = 0; p < 6; ++p)
    for (int q = 0; q < 6; ++q)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          for (int k = 0; k < 3; ++k)
            for (int l = 0; l < 3; ++l)
              result[p][q] += r[3 * first[p] + i] * r[3 * second[p] + j] * r[3 * first[q] + k] *
                              r[3 * second[q] + l] * c[voigt[i][j]][voigt[k][l]];
  return result;
}

TEST(ElasticConstants, turn_with_the_crystal) {
  LennardJones field;
  StrainedCrystal upright(Comm::world(), tight(), field, cubic_close_packed());
  const auto c = constants_at_rest(upright).stiffness;
  const double t = 0.3, u = -0.7;
  const Mat3 about_z{std::cos(t), -std::sin(t), 0, std::sin(t), std::cos(t), 0, 0, 0, 1};
  const Mat3 about_x{1, 0, 0, 0, std::cos(u), -std::sin(u), 0, std::sin(u), std::cos(u)};
  const Mat3 turn = product(about_x, about_z);  // x -> turn x; rows of the cell by its transpose
  const Mat3 transposed{turn[0], turn[3], turn[6], turn[1], turn[4], turn[7], turn[2], turn[5], turn[8]};
  auto start = cubic_close_packed();
  start.box = start.box.deformed(transposed);
  for (auto& x : start.positions) {
    const Vec3 old = x;
    for (int k = 0; k < 3; ++k)
      x[k] = turn[3 * k] * old[0] + turn[3 * k + 1] * old[1] + turn[3 * k + 2] * old[2];
  }
  StrainedCrystal skew(Comm::world(), tight(), field, start);
  const auto found = constants_at_rest(skew).stiffness;
  EXPECT_LT(difference(found, rotated(c, turn)), 1e-6 * largest(c));
  EXPECT_GT(difference(found, c), 0.01 * largest(c));
  const auto one = moduli_of(c, spectrum_of(c).inverse), other = moduli_of(found, spectrum_of(found).inverse);
  EXPECT_NEAR(one.shear_reuss, other.shear_reuss, 1e-6 * one.shear);
  EXPECT_NEAR(one.anisotropy, other.anisotropy, 1e-5);
}

TEST(RelaxCell, brings_a_bent_cell_to_rest_and_refuses_a_crystal_that_is_not_stable) {
  LennardJones field;
  auto bent = cubic_close_packed();
  const Mat3 bend{1.01, 0.02, 0, 0.01, 0.99, -0.01, 0, 0, 1.02};
  bent.box = bent.box.deformed(bend);
  for (auto& x : bent.positions) {
    const Vec3 old = x;
    for (int l = 0; l < 3; ++l) x[l] = old[0] * bend[l] + old[1] * bend[3 + l] + old[2] * bend[6 + l];
  }
  StrainedCrystal crystal(Comm::world(), tight(), field, bent);
  EXPECT_GT(largest_stress(crystal.at_rest(scaling(1))), 1e-4);
  relax_cell(crystal, constants_of(crystal).stiffness, 1e-8);
  EXPECT_LT(largest_stress(crystal.at_rest(scaling(1))), 1e-8);
  StrainedCrystal upright(Comm::world(), tight(), field, cubic_close_packed());
  relax_cell(upright, constants_of(upright).stiffness, 1e-8);
  EXPECT_NEAR(crystal.box().volume(), upright.box().volume(), 1e-5 * upright.box().volume());

  const double a = 3.7;
  StrainedCrystal simple(Comm::world(), {}, field,
                         crystal_of({a, 0, 0, 0, a, 0, 0, 0, a}, {{0, 0, 0}}, {3, 3, 3}));
  const auto unstable = constants_of(simple).stiffness;
  EXPECT_LT(spectrum_of(unstable).values.front(), 0);
  EXPECT_THROW(relax_cell(simple, unstable, 1e-8), NumericalError);
}

TEST(ElasticModuli, an_inverse_is_there_while_the_least_eigenvalue_is_above_rounding) {
  const auto with_least = [](double least) {
    Matrix6 c{};
    for (int i = 0; i < 6; ++i) c[i][i] = i == 3 ? least : 100;
    return has_inverse(spectrum_of(c));
  };
  EXPECT_TRUE(with_least(1.01e-4));
  EXPECT_FALSE(with_least(0.99e-4));
  EXPECT_TRUE(with_least(-1.01e-4));
  EXPECT_FALSE(with_least(-0.99e-4));
  EXPECT_FALSE(has_inverse(spectrum_of(Matrix6{})));
}

TEST(ElasticModuli, of_an_isotropic_body_are_its_own_and_of_a_cubic_one_known) {
  constexpr double k = 140, g = 45;
  Matrix6 c{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) c[i][j] = k - 2 * g / 3;
    c[i][i] = k + 4 * g / 3;
    c[i + 3][i + 3] = g;
  }
  auto m = moduli_of(c, spectrum_of(c).inverse);
  for (const double bulk : {m.bulk_voigt, m.bulk_reuss, m.bulk}) EXPECT_NEAR(bulk, k, 1e-10);
  for (const double shear : {m.shear_voigt, m.shear_reuss, m.shear}) EXPECT_NEAR(shear, g, 1e-10);
  EXPECT_NEAR(m.young, 9 * k * g / (3 * k + g), 1e-10);
  EXPECT_NEAR(m.poisson, (3 * k - 2 * g) / (6 * k + 2 * g), 1e-12);
  EXPECT_NEAR(m.anisotropy, 0, 1e-12);
  EXPECT_EQ(symmetry_along_axes(c, 1e-9), "isotropic");

  const double c11 = 170, c12 = 123, c44 = 76;  // G_V = (C11 - C12 + 3 C44)/5, G_R = 5 (C11 - C12) C44/(...)
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) c[i][j] = i == j ? c11 : c12;
    c[i + 3][i + 3] = c44;
  }
  m = moduli_of(c, spectrum_of(c).inverse);
  EXPECT_NEAR(m.bulk, (c11 + 2 * c12) / 3, 1e-10);
  EXPECT_NEAR(m.shear_voigt, (c11 - c12 + 3 * c44) / 5, 1e-10);
  EXPECT_NEAR(m.shear_reuss, 5 * (c11 - c12) * c44 / (4 * c44 + 3 * (c11 - c12)), 1e-10);
  EXPECT_EQ(symmetry_along_axes(c, 1e-9), "cubic");
  c[0][3] = c[3][0] = 1;
  EXPECT_EQ(symmetry_along_axes(c, 1e-9), "");
}

TEST(Spectrum6, inverts_and_finds_the_eigenvalues) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Matrix6 m{};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) m[i][j] = m[j][i] = uniform(random) + (i == j ? i - 2 : 0);
  const auto spectrum = spectrum_of(m);
  double trace = 0, squares = 0, sum = 0, sum2 = 0;
  for (int i = 0; i < 6; ++i) {
    trace += m[i][i];
    sum += spectrum.values[i];
    sum2 += spectrum.values[i] * spectrum.values[i];
    for (int j = 0; j < 6; ++j) {
      squares += m[i][j] * m[i][j];
      double product = 0;
      for (int k = 0; k < 6; ++k) product += m[i][k] * spectrum.inverse[k][j];
      EXPECT_NEAR(product, i == j, 1e-10);
    }
  }
  EXPECT_NEAR(sum, trace, 1e-12);
  EXPECT_NEAR(sum2, squares, 1e-11);
  EXPECT_TRUE(std::is_sorted(spectrum.values.begin(), spectrum.values.end()));
}

}  // namespace
}  // namespace quintet::dpmd
