#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/matrix/diagonalise.hpp"
#include "physics/electronic/submatrix/local_basis.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

/// Overlap matrices with condition numbers of 1e5 to 1e9, against answers known from how they are made.
namespace quintet::electronic {
namespace {

using namespace reference;

/// A ring of molecules in a good basis, S0 and K0 = S0^1/2 A S0^1/2, and in a bad one.
class IllConditionedTest : public ::testing::Test {
 protected:
  const Comm comm = Comm::world();
  const Ring molecules = ring(24, {6, 3, 4}, 0.05, 0.9);
  const std::shared_ptr<const Blocking> blocking = blocks_of(molecules);
  const Eigen levels = diagonalise(molecules.a);
  const Dense p = function_of(levels, [](double x) { return x < 0 ? 1.0 : 0.0; });
  const double energy = trace(p * molecules.a);
  const Dense s0 = overlap();

  [[nodiscard]] Dense overlap() const {
    Dense m = ring(24, {6, 3, 4}, 0.2, 1.1).a;
    for (int i = 0; i < m.n; ++i) m(i, i) = 1;
    return m;
  }
  /// K = R A R for S = R R, whose levels are those of A.
  [[nodiscard]] Dense kohn_sham(const Dense& s) const {
    const Dense root = function_of(diagonalise(s), [](double x) { return std::sqrt(x); });
    return symmetric(root * molecules.a * root);
  }
  [[nodiscard]] static Dense symmetric(Dense m) {
    for (int j = 0; j < m.n; ++j)
      for (int i = 0; i < j; ++i) m(i, j) = m(j, i) = 0.5 * (m(i, j) + m(j, i));
    return m;
  }
  /// M^T m M: the second function of each block becomes the first with a `part` of the second.
  [[nodiscard]] Dense near_dependent(const Dense& m, double part) const {
    Dense change(m.n);
    for (int i = 0; i < m.n; ++i) change(i, i) = 1;
    for (const int first : blocking->begin)
      if (first < m.n) change(first, first + 1) = 1, change(first + 1, first + 1) = part;
    Dense transposed(m.n);
    for (int j = 0; j < m.n; ++j)
      for (int i = 0; i < m.n; ++i) transposed(i, j) = change(j, i);
    return symmetric(transposed * m * change);
  }
  /// S0 with its lowest eigenvalue, of an orbital that is everywhere, made smaller.
  [[nodiscard]] Dense spread_out(double condition) const {
    const Eigen e = diagonalise(s0);
    const double lowest = e.value.front(), highest = e.value.back();
    return symmetric(function_of(e, [=](double x) { return x == lowest ? highest / condition : x; }));
  }
  [[nodiscard]] BlockMatrix shared(const Dense& m) const { return distribute(comm, m, blocking); }
};

TEST_F(IllConditionedTest, functions_dependent_within_blocks_do_no_harm) {
  for (const double part : {3e-3, 1e-3, 3e-4}) {
    const Dense dense_s = near_dependent(s0, part), dense_k = near_dependent(kohn_sham(s0), part);
    const auto s = shared(dense_s), k = shared(dense_k);
    EXPECT_THROW(static_cast<void>(orthogonalise(k, s, 1e-6)), IllConditioned);

    const auto basis = local_basis(s);
    const auto local_k = in_local_basis(k, basis), local_s = in_local_basis(s, basis);
    const auto orthogonal = orthogonalise(local_k, local_s, 1e-6);
    SubmatrixOptions options;
    options.mu = 0;
    options.threshold = 1e-6;
    const auto sign = evaluate_submatrices(orthogonal.a, options);
    const auto density = density_matrix(sign, orthogonal, local_k, local_s, options.threshold);
    const auto d = in_local_basis(density.d, basis);

    EXPECT_LT(orthogonal.residual, 1e-5);
    EXPECT_NEAR(density.tr_dk, energy, 3e-5) << part;
    // the user's basis has the same traces, but for the rounding of large elements
    EXPECT_NEAR(dot(d, k), density.tr_dk, 1e-13 / (part * part));
    EXPECT_NEAR(dot(d, s), density.n_pairs, 1e-13 / (part * part));
  }
}

TEST_F(IllConditionedTest, a_block_that_is_all_but_singular_is_named) {
  std::string message;
  try {
    static_cast<void>(local_basis(shared(near_dependent(s0, 1e-4))));
  } catch (const InputError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("the condition number of block 1 alone is 4"), std::string::npos) << message;
}

TEST_F(IllConditionedTest, dense_diagonalisation_is_right_to_rounding_up_to_the_limit) {
  for (const double condition : {1e5, 1e6, 1e7, 9e7}) {
    const Dense dense_s = spread_out(condition);
    const auto s = shared(dense_s), k = shared(kohn_sham(dense_s));

    const Orbitals orbitals = orbitals_of(k, s);
    const Filling filling = fill(orbitals.level, 0.0, {}, 0);
    const BlockMatrix d = sum_over_orbitals(orbitals, filling.occupation, add(0, k, 0, s));
    const std::vector<double> ones(orbitals.level.size(), 1.0);

    EXPECT_NEAR(orbitals.condition / condition, 1, 0.1);
    EXPECT_NEAR(filling.tr_dk, energy, 1e-15 * condition);
    EXPECT_NEAR(dot(d, k), energy, 1e-15 * condition);
    EXPECT_NEAR(dot(d, s), trace(p), 1e-15 * condition);
    EXPECT_LT(rounding_defect(orbitals, filling.occupation, s, ones), 1e-15 * condition);
    EXPECT_LT(rounding_defect(orbitals, filling.occupation, k, orbitals.level), 1e-15 * condition);
  }
}

TEST_F(IllConditionedTest, defect_of_rounding_sees_orbitals_of_another_matrix) {
  const auto s = shared(s0), k = shared(kohn_sham(s0));
  const Orbitals orbitals = orbitals_of(k, s);
  const std::vector<double> ones(orbitals.level.size(), 1.0);
  Dense other = s0;
  for (int i = 0; i < other.n; ++i) other(i, i) += 0.01;

  EXPECT_LT(rounding_defect(orbitals, ones, s, ones), 1e-11);
  EXPECT_GT(rounding_defect(orbitals, ones, shared(other), ones), 0.05);
}

TEST_F(IllConditionedTest, beyond_the_limit_it_is_refused) {
  const Dense dense_s = spread_out(3e8);
  std::string message;
  try {
    static_cast<void>(orbitals_of(shared(kohn_sham(dense_s)), shared(dense_s)));
  } catch (const InputError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("condition number about 3e+08"), std::string::npos) << message;
  EXPECT_NE(message.find("remove near-dependent"), std::string::npos) << message;
}

TEST_F(IllConditionedTest, electrons_that_cut_into_equal_levels_are_refused) {
  EXPECT_THROW(static_cast<void>(fill({-1, -0.5, -0.5, 1}, {}, 2.0, 0)), InputError);
  EXPECT_EQ(fill({-1, -0.5, -0.5, 1}, {}, 3.0, 0).n_pairs, 3);
  EXPECT_NEAR(fill({-1, -0.5, -0.5, 1}, {}, 2.0, 0.01).n_pairs, 2, 1e-12);
}

}  // namespace
}  // namespace quintet::electronic
